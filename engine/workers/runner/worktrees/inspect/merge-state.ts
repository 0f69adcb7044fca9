import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SvcError } from '../../../../core/base/errors.ts';
import type { Git } from '../git/git.ts';
import { type BranchDivergence, type BranchDivergences, findDivergences } from '../git/history.ts';
import { containsPatch, diffTrees, type GitPatch, readPatches } from '../git/patches.ts';
import { isObjectId, resolveBranchOrCommit } from '../git/refs.ts';
import { findRepository, type GitRepository } from '../git/repository.ts';

/** The relation of a branch's commit to a base. */
export interface MergeState {
  /** Commits that only the branch has, and that only the base has. */
  ahead: number;
  behind: number;
  /** R3: the base holds the work, even if it arrived rebased or squashed. */
  merged: boolean;
}

type Where = Pick<GitRepository, 'root' | 'commonDir'>;

/** Reports whether a branch's work is in a base, by their names. Throws if the repository cannot be read. */
export async function isMerged(git: Git, path: string, branch: string, base: string): Promise<boolean> {
  const repository = await findRepository(git, path);
  const [tip, target] = await Promise.all(
    [branch, base].map((name) => resolveBranchOrCommit(git, repository.root, name)),
  );
  if (tip == null || target == null) return false;
  return (await findMergeStates(git, repository, target, [tip])).get(tip)?.merged ?? false;
}

/**
 * Finds how commits relate to a base, with a few git calls for any number of commits. R3: a branch's work is in the
 * base by ancestry, by the tree that a merge would give, by the patches of its commits or by the patch of the whole;
 * when in doubt it is not. Null for a commit that git cannot read.
 * @param target the base's commit, as a full id
 * @param tips full ids
 */
export async function findMergeStates(
  git: Git,
  where: Where,
  target: string,
  tips: readonly string[],
): Promise<Map<string, MergeState | null>> {
  const wanted = [...new Set(tips)];
  if (wanted.length === 0) return new Map();
  try {
    return await compareTogether(git, where, target, wanted);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    if (wanted.length === 1) return new Map([[wanted[0]!, null]]);
    // git fails on all of them for one that it cannot read, so the others are found by bisection.
    const half = wanted.length / 2;
    return new Map([
      ...(await findMergeStates(git, where, target, wanted.slice(0, half))),
      ...(await findMergeStates(git, where, target, wanted.slice(half))),
    ]);
  }
}

/** A tip with its own commits, with its tree and that of its fork. */
interface Candidate extends BranchDivergence {
  tip: string;
  fork: string;
  tree: string;
  forkTree: string;
}

async function compareTogether(
  git: Git,
  where: Where,
  target: string,
  tips: readonly string[],
): Promise<Map<string, MergeState>> {
  const { root } = where;
  const places = await findDivergences(git, root, target, tips);
  const ahead = [...places.byTip].filter(([, { own }]) => own.length > 0);
  const trees = await readTrees(git, root, [
    ...(ahead.length === 0 ? [] : [target]),
    ...ahead.flatMap(([tip, { fork }]) => (fork === null ? [tip] : [tip, fork])),
  ]);
  const treeOf = (commit: string): string => trees.get(commit) ?? '';
  const merged = new Set(
    [...places.byTip].flatMap(([tip, { own }]) =>
      own.length === 0 || treeOf(tip) === treeOf(target) ? [tip] : [],
    ),
  );
  // A base that has not moved since the fork has no commit that could hold the work.
  const candidates = ahead.flatMap(([tip, place]): Candidate[] =>
    place.fork === null || place.behind === 0 || merged.has(tip)
      ? []
      : [{ ...place, tip, fork: place.fork, tree: treeOf(tip), forkTree: treeOf(place.fork) }],
  );
  for (const tip of await findMergedByTree(git, where, { target, tree: treeOf(target) }, candidates))
    merged.add(tip);
  const left = candidates.filter(({ tip }) => !merged.has(tip));
  for (const tip of await findMergedByPatches(git, root, target, places, left)) merged.add(tip);
  return new Map(
    [...places.byTip].map(([tip, { own, behind }]) => [
      tip,
      { ahead: own.length, behind, merged: merged.has(tip) },
    ]),
  );
}

/** Returns the trees of commits. Throws if one of them cannot be read. */
export async function readTrees(
  git: Git,
  cwd: string,
  commits: readonly string[],
): Promise<Map<string, string>> {
  const wanted = [...new Set(commits)];
  if (wanted.length === 0) return new Map();
  const { stdout } = await git.run(cwd, ['cat-file', '--batch-check=%(objectname)'], {
    input: wanted.map((id) => `${id}^{tree}\n`).join(''),
  });
  const lines = stdout.split('\n');
  return new Map(
    wanted.map((commit, at) => {
      const tree = lines[at];
      if (isObjectId(tree)) return [commit, tree] as const;
      throw new SvcError('git_failed', `the commit ${commit} cannot be read`, { data: { commit } });
    }),
  );
}

/** Finds tips whose merge would give the base's own tree. Objects written for this go into a temporary folder. */
async function findMergedByTree(
  git: Git,
  { root, commonDir }: Where,
  { target, tree }: { target: string; tree: string },
  candidates: readonly Candidate[],
): Promise<string[]> {
  if (candidates.length === 0) return [];
  return withTemporaryObjects(commonDir, async (env) => {
    const merge = ['merge-tree', '--write-tree', '--name-only', '--no-messages'];
    const { code, stdout } = await git.run(root, [...merge, '--stdin'], {
      env,
      allowFail: true,
      input: candidates.map(({ tip }) => `${target} ${tip}\n`).join(''),
    });
    const results = code === 0 ? parseMergeResults(stdout) : [];
    if (results.length === candidates.length)
      return candidates.flatMap(({ tip }, at) => (results[at] === tree ? [tip] : []));
    // One after the other: for git before 2.39, and if one merge stops the others.
    const found: string[] = [];
    for (const { tip } of candidates) {
      const one = await git.run(root, [...merge, target, tip], { env, allowFail: true });
      if (one.code === 0 && one.stdout.trim() === tree) found.push(tip);
    }
    return found;
  });
}

/** Returns the resulting tree of each merge, in order; null for one with conflicts. */
function parseMergeResults(stdout: string): (string | null)[] {
  const fields = stdout.split('\0');
  const results: (string | null)[] = [];
  for (let at = 0; at + 1 < fields.length; at += 1) {
    results.push(fields[at] === '1' ? (fields[at + 1] ?? null) : null);
    // The names of conflicting files follow, up to an empty one.
    while (at < fields.length && fields[at] !== '') at += 1;
  }
  return results;
}

/** Runs git with a temporary object folder, which is removed afterwards. */
export async function withTemporaryObjects<T>(
  commonDir: string,
  work: (env: Record<string, string>) => Promise<T>,
): Promise<T> {
  const objects = mkdtempSync(join(tmpdir(), 'svc-trial-'));
  try {
    return await work({
      GIT_OBJECT_DIRECTORY: objects,
      // Quoted, because a colon separates one folder from the next.
      GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(commonDir, 'objects')),
    });
  } finally {
    await rm(objects, { recursive: true, force: true });
  }
}

/** Above this number git does not get the names and checks all files. */
const MAX_PATHS = 200;

const buildPathspecs = (patches: readonly GitPatch[]): string[] => {
  // A name that git has quoted, or that contains " b/" itself, is not parsed.
  const names = patches
    .flatMap((patch) => [...patch.keys()])
    .map((line) => /^diff --git a\/(.+) b\/\1$/.exec(line)?.[1]);
  const known = new Set(names);
  if (known.size > MAX_PATHS || known.has(undefined)) return [];
  return [...known].map((name) => `:(literal)${name}`);
};

/** Finds tips whose commits all have their patch in the base, or whose whole patch is one commit of it. */
async function findMergedByPatches(
  git: Git,
  cwd: string,
  target: string,
  { boundary }: BranchDivergences,
  candidates: readonly Candidate[],
): Promise<string[]> {
  if (candidates.length === 0) return [];
  const wholes = await diffTrees(
    git,
    cwd,
    candidates.map(({ forkTree, tree }) => ({ from: forkTree, to: tree })),
  );
  const paths = buildPathspecs(wholes);
  const ofBase = await readPatches(git, cwd, { wanted: [target], known: boundary, paths });
  // No commit of the base touches any of these files, so nothing can match.
  if (ofBase.size === 0) return [];
  const tips = candidates.map(({ tip }) => tip);
  const ofTips = await readPatches(git, cwd, { wanted: tips, known: [target] });
  return candidates.flatMap(({ tip, own, baseOnly }, at) => {
    const since = baseOnly();
    const there = [...ofBase].flatMap(([id, patch]) => (since.has(id) ? [patch] : []));
    const isPatchThere = (part: GitPatch | undefined): boolean =>
      part !== undefined && there.some((whole) => containsPatch(whole, part));
    const whole = wholes[at]!;
    // A merge commit may contain its own changes, so it counts as missing.
    const everyOne = own.every(
      ({ id, parents }) => parents < 2 && (isEmptyPatch(ofTips.get(id)) || isPatchThere(ofTips.get(id))),
    );
    return everyOne || (whole.size > 0 && isPatchThere(whole)) ? [tip] : [];
  });
}

const isEmptyPatch = (patch: GitPatch | undefined): boolean => patch?.size === 0;
