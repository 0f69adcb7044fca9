import { asSvcError } from '../core/base/errors.ts';
import { nameSavedWork } from '../core/base/saved-work.ts';
import type { SavedSnapshot, Transfers } from '../workers/runner/worktrees/transfer/index.ts';
import type { MachineConnection } from './machine-connection.ts';
import { nameSnapshot } from './messages.ts';

/** How often a transfer is tried again that was cut off. */
const MOST_TRIES = 5;

/** A session's branch, on its machine and here. */
export interface RemoteBranch {
  /** The repository's top folder on this machine. */
  folder: string;
  /** Its id; see `Transfers.identifyRepository`. */
  repository: string;
  branch: string;
  baseCommit: string;
}

/** The run whose uncommitted files are saved. */
export interface SnapshotOrder {
  sessionId: string;
  /** The number of the session's run, which names the snapshot. */
  number: number;
}

type Machine = Pick<MachineConnection, 'call' | 'openStream'>;

/** Finds the end of a branch on its machine, and saves its uncommitted files there if that is wanted. */
async function lookThere(
  connection: Machine,
  { repository, branch }: RemoteBranch,
  wanted: SnapshotOrder | undefined,
): Promise<{ tip: string | null; snapshot: SavedSnapshot | null }> {
  if (wanted === undefined)
    return { tip: await connection.call('findTip', { repository, branch }), snapshot: null };
  const { sessionId, number } = wanted;
  const message = nameSavedWork(`${sessionId}, saved during its run ${number}`);
  const { tip, commit } = await connection.call('snapshot', {
    repository,
    branch,
    sessionId,
    number,
    message,
  });
  return { tip, snapshot: commit === null ? null : { commit, ref: nameSnapshot(branch, sessionId, number) } };
}

/**
 * Takes over what a session has committed on its machine, and moves its branch here. Returns a sentence about what is not
 * on the branch; null if everything is. Never throws but for a connection that is closed or given up.
 */
export async function fetchWork(
  connection: Machine,
  transfers: Transfers,
  remote: RemoteBranch,
  { mostTries = MOST_TRIES, snapshot: wanted }: { mostTries?: number; snapshot?: SnapshotOrder } = {},
): Promise<string | null> {
  const { folder, repository, branch, baseCommit } = remote;
  for (let tries = 1; ; tries += 1) {
    const { tip, snapshot } = await lookThere(connection, remote, wanted);
    if (tip === null) return `its branch ${branch} no longer exists on its machine`;
    const here = await transfers.findTip(folder, branch);
    const saved = snapshot === null ? null : await transfers.findCommit(folder, snapshot.ref);
    const isSaved = snapshot === null || saved === snapshot.commit;
    if (tip === here && isSaved) return null;
    // Its base is here, and so is everything that a session without a commit has.
    const known = [baseCommit, here, saved].filter((each) => each !== null);
    const tips = isSaved ? [tip] : [tip, snapshot.commit];
    const stream = await connection.openStream('work', { repository, tips, known }, 'files');
    stream.end();
    try {
      const work = { repository: folder, branch, baseCommit, tip, snapshot: isSaved ? null : snapshot };
      const aside = await transfers.receiveWork(work, stream);
      return aside === null ? null : `commits made outside the branch are kept under ${aside}`;
    } catch (error) {
      const { message } = asSvcError(error);
      if (tries >= mostTries) return `its work is still on its machine, and was not taken over: ${message}`;
    }
  }
}

/**
 * Takes over what a run has committed that was given up, and keeps it under a ref: its branch does not move. Returns the
 * ref; null if the branch has all of it. Throws `bundle_refused`.
 */
export async function fetchAside(
  connection: Machine,
  transfers: Transfers,
  { folder, repository, branch, baseCommit }: RemoteBranch,
  ref: string,
): Promise<string | null> {
  const tip = await connection.call('findTip', { repository, branch });
  if (tip === null || (await transfers.hasCommit(folder, branch, tip))) return null;
  const stream = await connection.openStream(
    'work',
    { repository, tips: [tip], known: [baseCommit] },
    'files',
  );
  stream.end();
  await transfers.receiveAside({ repository: folder, baseCommit, commit: tip, ref }, stream);
  return ref;
}
