import { z } from 'zod';
import { cursorError } from '../../core/api/cursor.ts';
import { by, operation, toWire } from '../../core/api/operation.ts';
import { sayMore, tool, UNLISTED } from '../../core/api/tool.ts';
import { SvcError } from '../../core/base/errors.ts';
import { toPrintable } from '../../core/base/text.ts';
import {
  type HolderPeers,
  holder,
  holdsForCaller,
  resolveHolder,
  resolveNewHolder,
  ttlInput,
} from '../holder.ts';
import type { Lock, Locks } from './index.ts';

/** Another holder's lock over a path. */
export interface HeldPath {
  /** As requested. */
  path: string;
  lock: Lock;
}

const path = z.string().describe('File or folder; a folder covers all below.');

interface LockToolDeps {
  locks: Locks;
  peers: HolderPeers;
}

/** Operations on locks. */
export const lockOperations = (deps: LockToolDeps) => [
  ...ownLockOperations(deps),
  ...lockListOperations(deps),
];

/** Operations on the caller's locks. */
const ownLockOperations = ({ locks, peers }: LockToolDeps) => [
  tool({
    name: 'lock.acquire',
    about: 'Lock a shared file or folder before you edit it; repeat to extend. lock_held names the holder.',
    seat: 'any',
    changes: true,
    input: z.strictObject({ holder, path, ttl_min: ttlInput(30) }),
    output: z.looseObject({ path: z.string(), expires_at: z.string(), fence: z.int() }),
    say: (lock) => `${lock.holder} holds ${lock.path} until ${lock.expires_at} (fence ${lock.fence})`,
    run: (input, caller, call) =>
      call.finish(() => {
        const holder = resolveNewHolder(input.holder, caller, peers);
        const wanted = { holder, path: input.path, ttlMin: input.ttl_min };
        const lock = locks.acquire(wanted, by(caller));
        return { path: lock.path, holder: lock.holder, expires_at: lock.expiresAt, fence: lock.fence };
      }),
  }),
  tool({
    name: 'lock.check',
    about:
      'Check that you hold a lock on a path or a folder above it. Fails with lock_denied, naming the holder.',
    seat: 'any',
    changes: false,
    input: z.strictObject({ holder, path }),
    output: z.looseObject({ expires_at: z.string(), fence: z.int(), covered_by: z.string() }),
    say: (found) => `${found.holder} holds ${found.covered_by} until ${found.expires_at}`,
    run(input, caller) {
      const { path, lock } = locks.check(resolveNewHolder(input.holder, caller, peers), input.path);
      const { holder, expiresAt, fence } = lock;
      return { path, holder, expires_at: expiresAt, fence, covered_by: lock.path };
    },
  }),
  tool({
    name: 'lock.release',
    about: 'Release your lock as soon as you are done with the path.',
    seat: 'any',
    changes: true,
    input: z.strictObject({ holder, path }),
    output: z.object({ path: z.string(), released: z.boolean() }),
    say: (done) => `${done.path} is free`,
    run: (input, caller, call) =>
      call.finish(() => {
        const holder = resolveHolder(input.holder, caller, peers);
        return { path: locks.release(holder, input.path, by(caller)), released: true };
      }),
  }),
];

/** Operations on the locks of all holders. */
const lockListOperations = ({ locks, peers }: LockToolDeps) => [
  tool({
    name: 'lock.status',
    about: 'Locks on a path, a folder above it or anything below it; without a path, all locks.',
    seat: 'any',
    changes: false,
    input: z.strictObject({
      path: path.optional(),
      limit: z.int().min(1).max(100_000).optional().meta(UNLISTED),
      /** `holder:path`: locks are in the order of their paths. */
      cursor: z.string().min(1).optional().meta(UNLISTED),
    }),
    output: z.object({
      locks: z.array(z.looseObject({ path: z.string(), holder: z.string(), expires_at: z.string() })),
      more: z.int().optional().meta(UNLISTED),
    }),
    say: ({ locks: held, more = 0 }) =>
      held.length === 0
        ? 'nothing is locked'
        : [
            ...held.map(
              ({ path, holder, expires_at }) => `${holder} holds ${toPrintable(path)} until ${expires_at}`,
            ),
            ...sayMore(more),
          ].join('\n'),
    run({ path: around, ...part }, { ownWork }) {
      const held = locks.around(around || undefined);
      const seen = ownWork == null ? held : held.filter(({ holder }) => holder === ownWork.sessionId);
      const { page, more } = takePageByPath(seen, part);
      return { locks: toWire(page), ...(more === 0 ? {} : { more }) };
    },
  }),
  operation({
    name: 'lock.over',
    about:
      'The given paths that someone other than `except` holds. Paths outside the workspace are never held.',
    seat: 'any',
    changes: false,
    input: z.strictObject({
      paths: z.array(z.string().min(1)).max(10_000),
      except: holder.optional(),
      /** Also leaves out the caller's own locks. */
      except_own: z.boolean().optional(),
    }),
    run(input, caller): HeldPath[] {
      const named = input.except === undefined ? null : resolveHolder(input.except, caller, peers);
      const except = named ?? (caller.seat === 'worker' ? caller.sessionId : null);
      const isOwnLock = ({ holder }: Lock) =>
        input.except_own === true && holdsForCaller(holder, caller, peers);
      return input.paths.flatMap((path) => {
        const lock = overInside(locks, path, except);
        return lock === null || isOwnLock(lock) ? [] : [{ path, lock }];
      });
    },
  }),
];

/** A cursor refers to a lock that may have been released. Throws `usage`. */
function takePageByPath(
  locks: readonly Lock[],
  { limit, cursor }: { limit?: number | undefined; cursor?: string | undefined },
): { page: Lock[]; more: number } {
  const [, holder = '', path] = /^([^:]+):(.+)$/s.exec(cursor ?? '') ?? [];
  if (cursor !== undefined && path === undefined) throw cursorError(cursor);
  const left =
    path === undefined
      ? locks
      : locks.filter((each) => (compareBytes(each.path, path) || compareBytes(each.holder, holder)) > 0);
  const page = left.slice(0, limit);
  return { page, more: left.length - page.length };
}

/** Compares as SQLite sorts text. */
const compareBytes = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));

function overInside(locks: Locks, path: string, except: string | null): Lock | null {
  try {
    return locks.holderOver(path, except);
  } catch (error) {
    if (error instanceof SvcError && error.code === 'path_outside') return null;
    throw error;
  }
}
