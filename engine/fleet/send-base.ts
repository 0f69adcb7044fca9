import type { Duplex } from 'node:stream';
import { SvcError } from '../core/base/errors.ts';
import { toPrintable } from '../core/base/text.ts';
import type { Transfers } from '../workers/runner/worktrees/transfer/index.ts';
import type { MachineConnection } from './machine-connection.ts';
import { RECEIVED } from './messages.ts';

/** How often a transfer is tried again whose connection was lost. */
const MOST_TRIES = 5;
const MOST_ANSWER = 2000;

/** A commit of this machine that a worker starts from on another one. */
interface Base {
  /** The repository's top folder. */
  folder: string;
  /** Its id; see `Transfers.identifyRepository`. */
  repository: string;
  commit: string;
}

/** Reads the last word of the other machine; null if the connection was lost before it. */
async function readVerdict(stream: Duplex): Promise<string | null> {
  let text = '';
  try {
    for await (const chunk of stream) if (text.length < MOST_ANSWER) text += String(chunk);
  } catch {
    return null;
  }
  return text === '' ? null : text;
}

/**
 * Sends a commit and its history to the mirror of its repository on another machine, without what that has already.
 * Throws `runner_unsupported`, `bundle_refused`, `git_failed`.
 */
export async function sendBase(
  connection: Pick<MachineConnection, 'call' | 'openStream'>,
  transfers: Transfers,
  { folder, repository, commit }: Base,
): Promise<void> {
  await transfers.checkSendable(folder, commit);
  for (let tries = 1; ; tries += 1) {
    const tips = await connection.call('tips', { repository });
    if (tips.includes(commit)) return;
    const known = await transfers.selectKnown(folder, tips);
    const shallow = transfers.listShallow(folder);
    const stream = await connection.openStream('base', { repository, commit, known, shallow }, 'files');
    const [sent, verdict] = await Promise.all([
      transfers.sendCommits(folder, { wanted: [commit], known }, stream).then(
        () => null,
        (error: unknown) => error,
      ),
      readVerdict(stream),
    ]);
    if (verdict === RECEIVED) return;
    if (verdict !== null)
      throw new SvcError('bundle_refused', `the machine did not take the commits: ${toPrintable(verdict)}`);
    if (sent instanceof SvcError && sent.code === 'git_failed') throw sent;
    if (tries >= MOST_TRIES)
      throw new SvcError(
        'runner_unreachable',
        'the connection was lost again and again while commits were sent',
      );
  }
}
