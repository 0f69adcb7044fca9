import { basename } from 'node:path';
import type { ConsentStore } from '../core/access/index.ts';
import { accountName } from '../core/base/account.ts';
import { SvcError } from '../core/base/errors.ts';
import { buildAgreement, recordAgreement, recordWaiting } from './consent.ts';
import type { LoadedConfig } from './load.ts';

/** Returns the person that this process acts for: `SVC_ACTOR`, otherwise the OS user. */
export const findActor = (env: NodeJS.ProcessEnv): string => env.SVC_ACTOR || accountName();

/**
 * Records the findings at the first use of a workspace on this machine, so that there is only one first use. Returns
 * null if recorded; if the machine home is not writable, the record that this process must remember instead.
 */
export function recordFirstUse(
  { consent, home, file, tree }: Pick<LoadedConfig, 'consent' | 'home' | 'file' | 'tree'>,
  env: NodeJS.ProcessEnv,
): ConsentStore | null {
  const { firstUse } = consent;
  if (firstUse === null) return null;
  const at = new Date().toISOString();
  const given = { how: 'first_use', actor: findActor(env), at } as const;
  try {
    if (firstUse === 'agreed') recordAgreement({ home: home.path, file, tree }, given);
    else recordWaiting({ home: home.path, file }, at);
    return null;
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== 'storage_failed') throw error;
    const name = basename(file);
    return {
      projects: {},
      files: firstUse === 'agreed' ? { [name]: buildAgreement(tree, null, given) } : {},
      waiting: firstUse === 'waits' ? { [name]: { since: at } } : {},
      shares: {},
      problem: null,
    };
  }
}
