import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { SvcError } from '../core/base/errors.ts';
import { listChangedSetups, listConsentKeys, recordAgreement } from './consent.ts';
import { type LoadedConfig, loadConfig } from './load.ts';

/** A person's consent to svc.yaml as it was shown to them. */
export interface Trust {
  file: string;
  env: NodeJS.ProcessEnv;
  /** `consent.digest` of the shown values. */
  digest: string;
  /** Only these keys; default: all. */
  keys?: readonly string[] | undefined;
  actor: string;
}

/**
 * Records consent to svc.yaml: exactly to the content with this `digest`, read once, and with the key `projects` to
 * the setup of projects. Returns the values now in use. Throws `conflict` if the file has changed in the meantime.
 */
export function trustConfig({ file, env, digest, keys, actor }: Trust): LoadedConfig {
  const unknown = keys?.find((key) => !listConsentKeys().includes(key));
  if (unknown !== undefined)
    throw new SvcError('usage', `${unknown} does not need consent`, {
      hint: 'svc trust without --key lists the keys that wait',
    });
  const { tree, home, consent } = loadConfig({ file, env });
  if (consent.digest !== digest)
    throw new SvcError('conflict', `${file} has changed since it was shown; no consent was recorded`, {
      hint: 'svc trust shows it again',
    });
  const setups =
    keys === undefined || keys.includes('projects')
      ? listChangedSetups({}, tree, realpathSync(dirname(file)))
      : [];
  const at = new Date().toISOString();
  recordAgreement({ home: home.path, file, tree }, { how: 'trusted', actor, at, keys, setups });
  return loadConfig({ file, env });
}
