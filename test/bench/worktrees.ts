import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { engineHere } from '../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';
import { type Figure, figure, percentile } from './figure.ts';

const WORKTREES = 200;
const FILES = 50;
const ROUNDS = 10;
const run = promisify(execFile);

/** Compares the list of many session worktrees with `git status` in each of them. */
export async function worktreeStatus(): Promise<Figure[]> {
  const ws = await makeWorkspace();
  const here = await engineHere(ws);
  try {
    const paths = prepare(ws);
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const begin = performance.now();
      const { total } = await here.call('worktree.status', { limit: WORKTREES });
      if (total !== WORKTREES) throw new Error(`${total} worktrees were listed`);
      ours.push(performance.now() - begin);
      theirs.push(await asked(paths, ws.env));
    }
    return [
      figure(
        `worktree_status of ${WORKTREES} worktrees, p95 (reference: git status in each, 4 at once)`,
        percentile(ours, 0.95),
        'ms',
        percentile(theirs, 0.95),
      ),
    ];
  } finally {
    await here.close();
    await ws.close();
  }
}

/**
 * Worktrees with a commit each, as sessions leave them; some with uncommitted files, some merged, and a base that has
 * moved.
 */
function prepare({ repository, root }: TestWorkspace): string[] {
  repository.commit(
    Object.fromEntries(
      Array.from({ length: FILES }, (_, at) => [`lib/${at % 10}/file-${at}.txt`, `${at}\n`]),
    ),
  );
  const paths = Array.from({ length: WORKTREES }, (_, at) => {
    const path = join(root, '.svc', 'agents', 'worktrees', `s-${at + 1}`);
    repository.git('worktree', 'add', '--quiet', '-b', `svc/s-${at + 1}`, path);
    repository.commit({ [`lib/work-${at}.txt`]: 'work\n' }, `work ${at}`, path);
    if (at % 20 === 0) repository.write(join(path, 'README.md'), 'changed\n');
    return path;
  });
  for (const at of [5, 50, 150]) repository.git('merge', '--quiet', '--no-ff', '-m', 'merge', `svc/s-${at}`);
  return paths;
}

async function asked(paths: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const begin = performance.now();
  const left = [...paths];
  const lane = async (): Promise<void> => {
    for (let cwd = left.pop(); cwd !== undefined; cwd = left.pop())
      await run('git', ['--no-optional-locks', 'status', '--porcelain'], { cwd, env });
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  return performance.now() - begin;
}
