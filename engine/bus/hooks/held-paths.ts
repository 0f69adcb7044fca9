import type { Lock } from '../../board/locks/index.ts';
import type { Caller } from '../../core/api/operation.ts';
import { renderWords } from '../../core/api/words.ts';
import { sentence } from '../../core/base/sentence.ts';
import { formatCount, toPrintable } from '../../core/base/text.ts';
import type { SessionPeer } from '../../workers/sessions/index.ts';
import type { HookContributor } from './hooks.ts';

/** Maximum number of named files; the others are locked as well. */
const NAMED = 5;

/** Refuses writes to paths that another session has locked. */
export function listHeldPaths({
  isOn,
  over,
  isOwn,
  find,
}: {
  /** Reports whether hooks guard anything here. */
  isOn(): boolean;
  /** Returns the lock over a path by anyone but `except`. Throws for a path that cannot be locked. */
  over(path: string, except: string | null): Lock | null;
  /** Reports whether `holder` is the caller. */
  isOwn(holder: string, caller: Caller): boolean;
  find(sessionId: string): SessionPeer | null;
}): HookContributor {
  function findLockOver(path: string, caller: Caller): { path: string; lock: Lock } | null {
    try {
      const lock = over(path, caller.sessionId);
      if (lock === null || isOwn(lock.holder, caller)) return null;
      return find(lock.holder)?.state === 'ended' ? null : { path, lock };
    } catch {
      return null;
    }
  }

  return {
    name: 'locks',
    look({ event, paths, caller }) {
      if (event !== 'pre-write' || !isOn()) return null;
      const held = paths.flatMap((path) => findLockOver(path, caller) ?? []);
      const [first] = held;
      if (first === undefined) return null;
      const lines = held.slice(0, NAMED).map(({ path, lock }) => {
        const agent = find(lock.holder)?.agent;
        const who = `${lock.holder}${agent ? ` (${agent})` : ''}`;
        return `${toPrintable(path)} is locked: ${who} holds ${toPrintable(lock.path)} until ${lock.expiresAt}.`;
      });
      if (held.length > NAMED)
        lines.push(
          `${formatCount(held.length - NAMED, 'more of these files is', 'more of these files are')} locked.`,
        );
      const { holder } = first.lock;
      lines.push(
        renderWords(
          sentence`Nothing was written. Work on something else, or ask for it with {msg.send "…" to_session=${holder}}; {lock.status} shows when it is free.`,
          'anyone',
        ),
      );
      return { deny: lines.join('\n') };
    },
  };
}
