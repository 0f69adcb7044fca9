import type { Lock } from '../../board/locks/index.ts';
import type { Caller } from '../../core/api/operation.ts';
import { renderWords } from '../../core/api/words.ts';
import { sentence } from '../../core/base/sentence.ts';
import { toPrintable } from '../../core/base/text.ts';
import type { HookContributor } from './hooks.ts';

/** Refuses writes to shared code without a lock: another session may be about to change it as well. */
export function requireSharedLocks({
  isOn,
  findShared,
  listOver,
  isOwn,
}: {
  /** Reports whether shared paths need a lock. */
  isOn(): boolean;
  /** Returns the shared path of svc.yaml that contains a path; null if it is not shared. */
  findShared(path: string): string | null;
  /** Returns the locks over a path. Throws for a path that cannot be locked. */
  listOver(path: string): readonly Lock[];
  /** Reports whether `holder` is the caller. */
  isOwn(holder: string, caller: Caller): boolean;
}): HookContributor {
  const isLocked = (path: string, caller: Caller): boolean =>
    listOver(path).some(({ holder }) => holder === caller.sessionId || isOwn(holder, caller));

  return {
    name: 'shared paths',
    look({ event, paths, caller }) {
      if (event !== 'pre-write' || !isOn()) return null;
      for (const path of paths) {
        const shared = findShared(path);
        if (shared === null || isLocked(path, caller)) continue;
        const holder = caller.sessionId ?? 'me';
        const next = renderWords(
          sentence`Nothing was written. Search for existing code with {search.shared_symbols <name>}, take a lock with {lock.acquire ${shared} holder=${holder}}, and release it when you are done.`,
          'anyone',
        );
        return {
          deny: `${toPrintable(path)} is shared code (${toPrintable(shared)}), and you hold no lock on it.\n${next}`,
        };
      }
      return null;
    },
  };
}
