import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Readable, Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SvcError } from '../../../../core/base/errors.ts';
import { describeFailure } from '../git/describe-failure.ts';
import { type Git, withEnvironment } from '../git/git.ts';
import {
  buildObjectsEnvironment,
  formatRevisions,
  hasAllObjects,
  INDEX_PACK,
  MOST_PACK_BYTES,
  movePacks,
  type ObjectRange,
  PLAIN,
  PLAIN_SETTINGS,
} from '../git/received-objects.ts';

/** How long git may check the objects of a received pack. */
const CHECK_MS = 600_000;
/** How much of git's messages is kept. */
const MOST_MESSAGE = 8192;

/** git bound to one git folder, without fetches and replacements. */
export const bindGit = (git: Git, common: string): Git => withEnvironment(git, { ...PLAIN, GIT_DIR: common });

/** Collects what a git prints about its failure, and resolves when it has ended. */
function followGit(child: ChildProcess): { code: Promise<number>; readMessage(): string } {
  let message = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    if (message.length < MOST_MESSAGE) message += chunk.toString('utf8');
  });
  const code = once(child, 'close').then(([exitCode]) => (exitCode as number | null) ?? 128);
  code.catch(() => undefined);
  return { code, readMessage: () => describeFailure(message) };
}

/**
 * Writes a pack of everything that is reachable from the wanted objects and not from the known ones. An object of the
 * known ones may be the base of a difference, so the reader must have them. Throws `git_failed`.
 * @param common the git folder of the repository
 */
export async function writePack(
  git: Git,
  common: string,
  range: ObjectRange,
  output: Writable,
): Promise<void> {
  const args = ['pack-objects', '--revs', '--stdout', '--quiet', '--thin', '--delta-base-offset'];
  const child = await git.open(common, [...PLAIN_SETTINGS, ...args], PLAIN);
  const { code, readMessage } = followGit(child);
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(formatRevisions(range));
  try {
    await pipeline(child.stdout as Readable, output, { end: false });
    if ((await code) !== 0) throw new SvcError('git_failed', `git pack-objects: ${readMessage()}`);
    output.end();
  } catch (error) {
    child.kill('SIGKILL');
    await code.catch(() => undefined);
    output.destroy();
    throw error;
  }
}

/** Passes on at most so many bytes. Fails with `bundle_refused` after that. */
function limitBytes(most: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > most) done(new SvcError('bundle_refused', `more than ${most} bytes of commits arrived`));
      else done(null, chunk);
    },
  });
}

/**
 * Reads a pack into a repository once all of its objects are whole and everything that the wanted ones reach is there.
 * Throws `bundle_refused`, and has then added nothing.
 * @param scratch a folder of ours on the repository's file system, created for this
 */
export async function readPack(
  git: Git,
  common: string,
  { scratch, mostBytes = MOST_PACK_BYTES, ...range }: ObjectRange & { scratch: string; mostBytes?: number },
  input: Readable,
): Promise<void> {
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(join(scratch, 'pack'), { recursive: true, mode: 0o700 });
  try {
    const child = await git.open(common, INDEX_PACK, {
      ...PLAIN,
      ...buildObjectsEnvironment(scratch, common),
    });
    const { code, readMessage } = followGit(child);
    child.stdout?.resume();
    const sent = await pipeline(input, limitBytes(mostBytes), child.stdin as Writable).then(
      () => null,
      (error: unknown) => error,
    );
    const isOurs = sent instanceof SvcError;
    // Without its input it ends by itself, and it may still work on a pack that it has read.
    if (isOurs) child.kill('SIGKILL');
    const exitCode = await code;
    if (isOurs) throw sent;
    // It ends at the end of the pack, often before its input does, and then writing fails though all is there.
    if (exitCode !== 0)
      throw new SvcError(
        'bundle_refused',
        `the commits that arrived cannot be used: ${readMessage() || 'they are cut off'}`,
      );
    const check = { ...range, objects: scratch, timeoutMs: CHECK_MS };
    if (!(await hasAllObjects(bindGit(git, common), common, check)))
      throw new SvcError('bundle_refused', 'objects are missing in the commits that arrived');
    movePacks(join(scratch, 'pack'), join(common, 'objects', 'pack'));
  } finally {
    input.destroy();
    rmSync(scratch, { recursive: true, force: true });
  }
}
