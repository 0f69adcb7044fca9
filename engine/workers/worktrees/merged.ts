import { type Git, records } from './git.ts';
import { branchOrCommit, isAncestor } from './repository.ts';

/** Both sides of a comparison of patches must be made alike, whatever the user has configured. */
const PATCH = [
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--no-renames',
  '--full-index',
  '--unified=3',
  '--inter-hunk-context=0',
  '--diff-algorithm=myers',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--submodule=short',
];
/** How far back a squashed commit is looked for. */
const MAX_COMMITS = 1000;
/** A change of more files is compared whole. */
const MAX_PATHS = 200;

/**
 * R3: whether a branch's work is in the base, also when it arrived there rebased or squashed: by ancestry, by the
 * tree that a merge would give, by patch ids commit by commit, by the patch id of the whole. False when in doubt.
 */
export async function isMerged(git: Git, cwd: string, branch: string, base: string): Promise<boolean> {
  const [tip, target] = await Promise.all([branchOrCommit(git, cwd, branch), branchOrCommit(git, cwd, base)]);
  if (tip === null || target === null) return false;
  if (await isAncestor(git, cwd, tip, target)) return true;
  return (
    (await mergesToNothing(git, cwd, tip, target)) ||
    (await everyPatchIsThere(git, cwd, tip, target)) ||
    (await isSquashed(git, cwd, tip, target))
  );
}

async function mergesToNothing(git: Git, cwd: string, tip: string, target: string): Promise<boolean> {
  const merge = await git.run(cwd, ['merge-tree', '--write-tree', '--no-messages', target, tip], {
    allowFail: true,
  });
  if (merge.code !== 0) return false;
  return merge.stdout.trim() === (await git.text(cwd, ['rev-parse', `${target}^{tree}`]));
}

async function everyPatchIsThere(git: Git, cwd: string, tip: string, target: string): Promise<boolean> {
  // `git cherry` passes over merges, and a merge may hold changes of its own.
  const merges = await git.text(cwd, ['rev-list', '--merges', '--max-count=1', tip, `^${target}`]);
  if (merges !== '') return false;
  const lines = (await git.text(cwd, ['cherry', target, tip])).split('\n').filter(Boolean);
  return lines.length > 0 && lines.every((line) => line.startsWith('- '));
}

async function isSquashed(git: Git, cwd: string, tip: string, target: string): Promise<boolean> {
  const base = await git.run(cwd, ['merge-base', target, tip], { allowFail: true });
  if (base.code !== 0) return false;
  const fork = base.stdout.trim().split('\n')[0]!;
  const stat = records(
    (await git.run(cwd, ['diff-tree', '-r', '-z', '--numstat', '--no-renames', fork, tip])).stdout,
  );
  // The patch id of a binary file does not tell its content.
  if (stat.length === 0 || stat.some((record) => record.startsWith('-\t'))) return false;
  const paths = stat.map((record) => `:(literal)${record.split('\t').slice(2).join('\t')}`);
  // Only the files that the branch touches: the squashed commit may have changed others too.
  const limit = paths.length <= MAX_PATHS ? ['--', ...paths] : [];
  const idOf = (line: string): string => line.split(' ')[0] ?? '';
  const whole = idOf(
    await git.pipe(cwd, ['diff-tree', '-r', '-p', ...PATCH, fork, tip], ['patch-id', '--stable']),
  );
  if (whole === '') return false;
  const log = ['log', '-p', '--no-merges', `--max-count=${MAX_COMMITS}`, '--format=commit %H', ...PATCH];
  const ids = await git.pipe(cwd, [...log, target, `^${fork}`, ...limit], ['patch-id', '--stable']);
  return ids.split('\n').some((line) => idOf(line) === whole);
}
