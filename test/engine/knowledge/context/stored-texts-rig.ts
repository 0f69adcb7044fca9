import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createOperations } from '../../../../engine/core/api/dispatcher.ts';
import type { ApiOf, OperationsOf } from '../../../../engine/core/api/operation.ts';
import { createForwardedReader } from '../../../../engine/gateway/index.ts';
import { createStoredTexts, type StoredTextsSettings } from '../../../../engine/knowledge/context/index.ts';
import { contextOperations } from '../../../../engine/knowledge/context/operations.ts';
import { openStorage } from '../../../../engine/storage/index.ts';
import { fakeClock } from '../../../support/clock.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

type ContextApi = ApiOf<OperationsOf<typeof contextOperations>>;

export const MINUTE = 60_000;

/** The stored texts alone, with a frozen clock: s-1 and s-2 are workers of t-1, s-3 is a worker of t-3. */
export function storedTextsRig() {
  const data = temporaryFolder('svc-texts-');
  const folder = join(data, 'context');
  const clock = fakeClock();
  const storage = openStorage({ path: join(data, 'svc.db') });
  const settings: StoredTextsSettings = {
    data,
    folder,
    idleMs: 30 * MINUTE,
    crushes: true,
    stores: true,
    longBytes: 4096,
    protectedTools: [],
  };
  const warnings: string[] = [];
  /** Reopens the same data folder, as a new engine does. */
  const build = () => {
    const texts = createStoredTexts({
      storage,
      clock,
      settings: () => settings,
      forwarded: createForwardedReader(data),
      taskOf: (id) => ({ 's-1': 't-1', 's-2': 't-1', 's-3': 't-3' })[id] ?? null,
      log: { warn: (_facts, text) => void warnings.push(text) },
    });
    const operations = createOperations(contextOperations({ texts }), {
      calls: storage.calls,
      policy: () => ({ mode: 'solo', actors: [] }),
    });
    const as =
      (sessionId: string | null) =>
      <K extends keyof ContextApi>(
        name: K,
        input: ContextApi[K]['input'],
        key: string | null = null,
      ): Promise<ContextApi[K]['output']> =>
        operations.call(
          name,
          input,
          {
            seat: sessionId === null ? 'chair' : 'worker',
            actor: 'ada',
            via: 'tool',
            sessionId,
            project: null,
            env: {},
          },
          { key },
        ) as Promise<never>;
    return { texts, person: as(null), worker: as('s-1'), colleague: as('s-2'), stranger: as('s-3') };
  };
  return {
    ...build(),
    build,
    data,
    folder,
    clock,
    storage,
    settings,
    warnings,
    close() {
      storage.close();
      rmSync(data, { recursive: true, force: true });
    },
  };
}
