import { type Git, records } from './git.ts';
import { branchOrCommit, idsOf } from './repository.ts';

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

/** `isCommitMerged` of a branch's commit and a base's, by their names. */
export async function isMerged(git: Git, cwd: string, branch: string, base: string): Promise<boolean> {
  const [tip, target] = await Promise.all([branchOrCommit(git, cwd, branch), branchOrCommit(git, cwd, base)]);
  return tip !== null && target !== null && isCommitMerged(git, cwd, tip, target);
}

/**
 * R3: whether a branch's work is in the base, also when it arrived there rebased or squashed: by ancestry, by the
 * tree that a merge would give, by patch ids commit by commit, by the patch id of the whole. False when in doubt.
 * @param tip the branch's commit, as a full id
 * @param target the base's
 */
export async function isCommitMerged(git: Git, cwd: string, tip: string, target: string): Promise<boolean> {
  if (tip === target) return true;
  // Of a range git tells both ends and, with a mark, where they have parted.
  const asked = ['rev-parse', `${target}^{tree}`, `${tip}^{tree}`, `${target}...${tip}`];
  const { code, stdout } = await git.run(cwd, asked, { allowFail: true });
  if (code !== 0) return false;
  const [tree = '', own = '', ...ends] = stdout.trimEnd().split('\n');
  const fork = ends.find((line) => line.startsWith('^'))?.slice(1) ?? null;
  if (fork === tip) return true;
  // No commit of the base could hold the work.
  if (fork === target) return own === tree;
  if (await mergesTo(git, cwd, { tip, target, tree })) return true;
  const change = fork === null ? null : await changeOf(git, cwd, fork, tip);
  if (change !== null && !(await mayHold(git, cwd, change, target))) return false;
  return (
    (await everyPatchIsThere(git, cwd, tip, target)) ||
    (change !== null && (await isSquashed(git, cwd, change, target)))
  );
}

/** What a branch has changed in all since it began at `fork`. */
interface Change {
  fork: string;
  tip: string;
  /** As pathspecs. */
  paths: string[];
  isBinary: boolean;
}

async function changeOf(git: Git, cwd: string, fork: string, tip: string): Promise<Change> {
  const stat = records(
    (await git.run(cwd, ['diff-tree', '-r', '-z', '--numstat', '--no-renames', fork, tip])).stdout,
  );
  return {
    fork,
    tip,
    paths: stat.map((record) => `:(literal)${record.split('\t').slice(2).join('\t')}`),
    isBinary: stat.some((record) => record.startsWith('-\t')),
  };
}

/** Only the files that the branch touches: a commit of the base may have changed others too. */
const limitOf = ({ paths }: Change): string[] => (paths.length <= MAX_PATHS ? ['--', ...paths] : ['--']);

/**
 * Whether any commit of the base since the branch began changes a file that the branch does; else none is one of the
 * branch's, or all of them. A merge may still find the work: under another name, where the base has renamed a folder.
 */
async function mayHold(git: Git, cwd: string, change: Change, target: string): Promise<boolean> {
  const { fork, paths } = change;
  if (paths.length === 0 || paths.length > MAX_PATHS) return true;
  const since = ['rev-list', '--full-history', '--max-count=1', target, `^${fork}`];
  return (await git.text(cwd, [...since, ...limitOf(change)])) !== '';
}

/** The same where it is known how many commits only the one side has. */
export async function isMergedAfter(
  git: Git,
  cwd: string,
  { tip, target, ahead, behind }: { tip: string; target: string; ahead: number; behind: number },
): Promise<boolean> {
  if (ahead === 0) return true;
  return behind === 0 ? isSameTree(git, cwd, tip, target) : isCommitMerged(git, cwd, tip, target);
}

/** What is left to ask of a base that has not moved since the branch began: no commit of it could hold the work. */
async function isSameTree(git: Git, cwd: string, one: string, other: string): Promise<boolean> {
  const trees = await idsOf(git, cwd, [`${one}^{tree}`, `${other}^{tree}`]);
  return trees !== null && trees[0] === trees[1];
}

/** Whether a merge would give the base's own tree. */
async function mergesTo(
  git: Git,
  cwd: string,
  { tip, target, tree }: { tip: string; target: string; tree: string },
): Promise<boolean> {
  const merge = await git.run(cwd, ['merge-tree', '--write-tree', '--no-messages', target, tip], {
    allowFail: true,
  });
  return merge.code === 0 && merge.stdout.trim() === tree;
}

async function everyPatchIsThere(git: Git, cwd: string, tip: string, target: string): Promise<boolean> {
  // Commits of either side, and those that both have under other ids. A merge may hold changes of its own: it counts
  // as one that is missing.
  const sides = ['rev-list', '--left-right', '--cherry-mark', '--count', `${target}...${tip}`, '--'];
  const { code, stdout } = await git.run(cwd, sides, { allowFail: true });
  return code === 0 && stdout.split('\t')[1] === '0';
}

async function isSquashed(git: Git, cwd: string, change: Change, target: string): Promise<boolean> {
  const { fork, tip, isBinary } = change;
  // The patch id of a binary file does not tell its content.
  if (isBinary || change.paths.length === 0) return false;
  const log = ['log', '-p', '--no-merges', `--max-count=${MAX_COMMITS}`, '--format=commit %H', ...PATCH];
  const ids = await git.pipe(cwd, [...log, target, `^${fork}`, ...limitOf(change)], ['patch-id', '--stable']);
  if (ids === '') return false;
  const idOf = (line: string): string => line.split(' ')[0] ?? '';
  const whole = idOf(
    await git.pipe(cwd, ['diff-tree', '-r', '-p', ...PATCH, fork, tip], ['patch-id', '--stable']),
  );
  return whole !== '' && ids.split('\n').some((line) => idOf(line) === whole);
}
