import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createLedgers, type Ledgers } from '../../../engine/board/ledger/index.ts';
import { createLocks, type Locks } from '../../../engine/board/locks/index.ts';
import type { SvcError } from '../../../engine/core/base/errors.ts';
import { createWorkspacePaths } from '../../../engine/core/workspace/workspace-path.ts';
import type { LoggedEvent } from '../../../engine/storage/index.ts';
import type { SessionPeer } from '../../../engine/workers/sessions/peers.ts';
import { type FakeClock, fakeClock } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';
import { openSpine, type Spine } from '../../support/workspaces/spine.ts';

export const BY = { actor: 'ada', via: 'tool' };
export const MINUTE = 60_000;

export interface HoldingRig extends Spine {
  clock: FakeClock;
  locks: Locks;
  ledgers: Ledgers;
  /** The workspace's folder; `outside` is a project next to it. */
  root: string;
  outside: string;
  /** Ended sessions by id; all others are unknown, or live if they are in `live`. */
  ended: Set<string>;
  live: Set<string>;
  /** Sessions of one race. */
  rivals: Set<string>;
  /** Returns the data of the events of a kind. */
  events_(kind: LoggedEvent['kind']): Record<string, unknown>[];
  acquire(holder: string, path: string, ttlMin?: number): Promise<number>;
  /** Moves the clock and commits a change. */
  pass(minutes: number): Promise<void>;
  close(): void;
}

/** Opens locks and claims alone, with a frozen clock and sessions that the test ends, in an existing folder or a new one. */
export function holdingRig(existing?: string): HoldingRig {
  const folder = temporaryFolder('svc-holding-');
  const root = existing ?? join(folder, 'workspace');
  const outside = join(folder, 'outside');
  for (const each of [root, outside]) mkdirSync(each, { recursive: true });
  const clock = fakeClock();
  const spine = openSpine(join(folder, 'svc.db'), clock);
  const ended = new Set<string>();
  const live = new Set<string>();
  const peers = {
    find(sessionId: string): SessionPeer | null {
      const state = ended.has(sessionId) ? 'ended' : live.has(sessionId) ? 'live' : null;
      return state === null ? null : ({ sessionId, seat: 'plain', state } as SessionPeer);
    },
  };
  const paths = createWorkspacePaths({
    root,
    worktrees: join(root, '.svc/agents/worktrees'),
    projects: () => [outside],
    repositoryOf: (name) => (name === 's-1' ? root : null),
  });
  const rivals = new Set<string>();
  const rivalsOf = (id: string): string[] =>
    rivals.has(id) ? [...rivals].filter((each) => each !== id) : [];
  const deps = { ...spine, clock, peers, paths, rivalsOf };
  const locks = createLocks(deps);
  const ledgers = createLedgers(deps);
  return {
    ...spine,
    clock,
    locks,
    ledgers,
    root,
    outside,
    ended,
    live,
    rivals,
    events_: (kind) =>
      spine.events
        .listAfter(0)
        .filter((event) => event.kind === kind)
        .map((event) => event.data),
    acquire: async (holder, path, ttlMin = 30) =>
      (await spine.storage.write(() => locks.acquire({ holder, path, ttlMin }, BY))).fence,
    async pass(minutes) {
      clock.advance(minutes * MINUTE);
      await spine.storage.write(() => undefined);
    },
    close() {
      locks.close();
      spine.storage.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the expected error for `assert.rejects` and `assert.throws`: its code and a pattern of its message. */
export const refusal =
  (code: string, message?: RegExp) =>
  (error: SvcError): boolean => {
    if (error.code !== code) throw error;
    if (message !== undefined && !message.test(error.message)) throw error;
    return true;
  };
