import { asSvcError } from '../core/base/errors.ts';
import type { Transfers } from '../workers/runner/worktrees/transfer/index.ts';
import type { MachineConnection } from './machine-connection.ts';

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

/**
 * Takes over what a session has committed on its machine, and moves its branch here. Returns a sentence about what is not
 * on the branch; null if everything is. Never throws but for a closed connection.
 */
export async function fetchWork(
  connection: Pick<MachineConnection, 'call' | 'openStream'>,
  transfers: Transfers,
  { folder, repository, branch, baseCommit }: RemoteBranch,
  mostTries = MOST_TRIES,
): Promise<string | null> {
  for (let tries = 1; ; tries += 1) {
    const tip = await connection.call('findTip', { repository, branch });
    if (tip === null) return `its branch ${branch} no longer exists on its machine`;
    const here = await transfers.findTip(folder, branch);
    if (tip === here) return null;
    // Its base is here, and so is everything that a session without a commit has.
    const known = [baseCommit, ...(here === null ? [] : [here])];
    const stream = await connection.openStream('work', { repository, tip, known }, 'files');
    stream.end();
    try {
      const aside = await transfers.receiveWork({ repository: folder, branch, baseCommit, tip }, stream);
      return aside === null ? null : `commits made outside the branch are kept under ${aside}`;
    } catch (error) {
      const { message } = asSvcError(error);
      if (tries >= mostTries) return `its work is still on its machine, and was not taken over: ${message}`;
    }
  }
}
