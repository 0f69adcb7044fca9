import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../workspaces/git.ts';

/** Options of a test that needs strace: skips it, with a reason, where it is missing or may not attach. */
export const withStrace = { skip: findObstacle() };

function findObstacle(): string | false {
  const { error, status, stderr } = spawnSync('strace', ['-V'], { encoding: 'utf8' });
  if (error !== undefined || status !== 0) return 'strace is not installed';
  // A container may forbid it; then tracing a child fails too.
  const tried = spawnSync('strace', ['-o', '/dev/null', 'true'], { encoding: 'utf8' });
  return tried.status === 0 ? false : `strace is not permitted: ${tried.stderr || stderr}`.trim();
}

/** Lists the paths of all system calls with a path, starts of programs too, that these processes make during `work`. */
export async function listFileCalls(
  pids: readonly number[],
  work: () => Promise<unknown>,
): Promise<string[]> {
  const file = join(temporaryFolder(), 'calls');
  const strace = spawn(
    'strace',
    ['-f', '-e', 'trace=%file', '-o', file, ...pids.flatMap((pid) => ['-p', `${pid}`])],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = once(strace, 'exit');
  let said = '';
  await new Promise<void>((resolve, reject) => {
    strace.stderr.on('data', (part: Buffer) => {
      said += part.toString();
      if (pids.every((pid) => said.includes(`Process ${pid} attached`))) resolve();
    });
    ended.then(() => reject(new Error(`strace has ended: ${said}`)), reject);
  });
  try {
    await work();
  } finally {
    strace.kill('SIGINT');
    await ended;
  }
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => /^\d+ +\w+\([^"]*"((?:[^"\\]|\\.)*)"/.exec(line)?.[1] ?? []);
}
