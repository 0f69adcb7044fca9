import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { SvcError } from '../../../../core/base/errors.ts';
import { createKeyedQueue } from '../../../../core/base/serial-queue.ts';
import { createWorkLimit } from '../../../../core/base/work-limit.ts';
import { createGit, type GitAccess } from '../git/create-git.ts';
import type { Git } from '../git/git.ts';
import { readCommonDir } from '../git/git-folders.ts';
import { usesLfs } from '../git/lfs.ts';
import { publishTip } from '../git/publish-tip.ts';
import { PLAIN } from '../git/received-objects.ts';
import {
  branchRef,
  compareAndSetRef,
  isAncestor,
  isObjectId,
  resolveCommit,
  sessionNameOf,
  splitLines,
} from '../git/refs.ts';
import { bindGit, readPack, writePack } from './packs.ts';

/** Tips that one end names to the other, so that the objects behind them are not sent again. */
export const MOST_TIPS = 1000;

/** Packs of work that are read at the same time: each takes a process, and a machine may send it slowly. */
const MOST_PACKS = 16;

/** The facts against which the work of a session on another machine is checked. */
export interface ArrivingWork {
  repository: string;
  branch: string;
  baseCommit: string;
  /** The end of the branch there. */
  tip: string;
  /** A snapshot of its uncommitted files, and the ref that holds it here; null for none. */
  snapshot?: SavedSnapshot | null;
}

/** A commit that is on no branch. */
export interface SavedSnapshot {
  commit: string;
  ref: string;
}

/** Moves commits between the repository of the engine's machine and its mirrors on other machines. */
export interface Transfers {
  /** Identifies a repository by the first commits of a commit's history: the same for all of its clones. */
  identifyRepository(repository: string, commit: string): Promise<string>;
  /** Lists the commits at which the history of a shallow clone ends; empty for a whole one. */
  listShallow(repository: string): string[];
  /** Throws `runner_unsupported` for a commit whose files cannot be sent. */
  checkSendable(repository: string, commit: string): Promise<void>;
  /** Selects the commits that a repository has. */
  selectKnown(repository: string, commits: readonly string[]): Promise<string[]>;
  /** Writes what is reachable from `wanted` and not from `known`, and ends the output. Throws `git_failed`. */
  sendCommits(
    repository: string,
    range: { wanted: readonly string[]; known: readonly string[] },
    output: Writable,
  ): Promise<void>;
  /** Creates a branch at a commit. False if it exists at another one. */
  createBranch(repository: string, branch: string, commit: string): Promise<boolean>;
  /** Removes a branch that still ends at the commit where it was created, and is checked out nowhere. */
  removeUnusedBranch(repository: string, branch: string, commit: string): Promise<void>;
  /** Returns the commit at the end of a branch; null if there is none. */
  findTip(repository: string, branch: string): Promise<string | null>;
  /** Reports whether a branch has a commit. */
  hasCommit(repository: string, branch: string, commit: string): Promise<boolean>;
  /** Returns the commit that a ref holds; null for none. */
  findCommit(repository: string, ref: string): Promise<string | null>;
  /**
   * Reads the work of a session into its repository, and moves its branch and nothing else. Returns the ref that holds
   * the work instead, if the branch cannot move to it. Throws `bundle_refused`, `worktree_unsafe`.
   */
  receiveWork(work: ArrivingWork, input: Readable): Promise<string | null>;
  /** Reads the work of a run that was given up, and keeps it under a ref: no branch moves. Throws `bundle_refused`. */
  receiveAside(
    work: { repository: string; baseCommit: string } & SavedSnapshot,
    input: Readable,
  ): Promise<void>;
  /** Moves a branch to the snapshot of a ref, if that adds to what the branch has. */
  restoreSnapshot(work: { repository: string; branch: string; ref: string }): Promise<void>;
  /** Removes the ref of a snapshot that is no longer needed. */
  removeSnapshot(repository: string, ref: string): Promise<void>;
  /** Creates a mirror for a commit: a repository with an empty checkout, from which worktrees are created. */
  openMirror(folder: string, commit: string): Promise<void>;
  /** Sets the author of commits in the worktrees of a mirror: the person who ordered the work. */
  setAuthor(folder: string, author: { name: string; email: string }): Promise<void>;
  /** Lists commits that a mirror has, newest branches first; empty for a missing one. */
  listTips(folder: string): Promise<string[]>;
  /** Reads a commit and its history into a mirror. Throws `bundle_refused`. */
  receiveBase(
    folder: string,
    base: { commit: string; known: readonly string[]; shallow: readonly string[] },
    input: Readable,
  ): Promise<void>;
  close(): void;
}

const requireCommon = (repository: string): string => {
  const common = readCommonDir(repository);
  if (common !== null) return common;
  throw new SvcError('not_a_repository', `${repository} is not a git repository`);
};

/**
 * Names the queue of a ref. Other refs have their own: a machine that sends slowly, or stops in the middle, delays no
 * other.
 */
const turnOf = (common: string, name: string): string => `${common} ${name}`;

/** Names a new folder for what arrives, on the file system of the repository. */
const scratchIn = (common: string): string => join(common, 'svc', `incoming-${randomUUID()}`);

/** Lets a ref hold a snapshot, whatever it held. */
const setSnapshot = (git: Git, common: string, { ref, commit }: SavedSnapshot) =>
  git.run(common, ['update-ref', '--no-deref', '--create-reflog', '-m', 'svc: saved', ref, commit]);

/** Names the hash by which a repository names its objects. */
const nameFormat = (id: string): string => (id.length === 64 ? 'sha256' : 'sha1');

/** Creates the transfers of a machine. */
export function createTransfers(access: GitAccess): Transfers {
  const { git, close } = createGit(access);
  const enqueue = createKeyedQueue();
  const limitPacks = createWorkLimit(MOST_PACKS);
  const identities = new Map<string, Promise<string>>();

  async function identify(repository: string, commit: string): Promise<string> {
    const roots = splitLines(await git.text(repository, ['rev-list', '--max-parents=0', commit, '--']));
    return createHash('sha256').update(roots.toSorted().join('\n')).digest('hex').slice(0, 24);
  }

  async function selectCommits(repository: string, commits: readonly string[]): Promise<string[]> {
    const wanted = commits.filter(isObjectId).slice(0, MOST_TIPS);
    if (wanted.length === 0) return [];
    const { stdout } = await git.run(repository, ['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
      input: `${wanted.join('\n')}\n`,
      allowFail: true,
      env: PLAIN,
    });
    return splitLines(stdout).flatMap((line) => (line.endsWith(' commit') ? [line.split(' ')[0]!] : []));
  }

  /** Reports whether a commit is the end of a run that was saved while it worked on the branch. */
  async function isSnapshot(repository: string, branch: string, commit: string): Promise<boolean> {
    const below = `refs/svc/${sessionNameOf(branch)}/`;
    const args = ['for-each-ref', '--format=%(refname)', `--points-at=${commit}`, below];
    return splitLines(await git.text(repository, args)).some((ref) => /-run-\d+$/.test(ref));
  }

  return {
    identifyRepository(repository, commit) {
      const key = `${repository}\n${commit}`;
      const known = identities.get(key) ?? identify(repository, commit);
      if (identities.size > 1000) identities.clear();
      identities.set(key, known);
      known.catch(() => identities.delete(key));
      return known;
    },
    listShallow(repository) {
      const file = join(requireCommon(repository), 'shallow');
      return existsSync(file) ? splitLines(readFileSync(file, 'utf8')).filter(isObjectId) : [];
    },
    async checkSendable(repository, commit) {
      if (await usesLfs(git, repository, commit))
        throw new SvcError(
          'runner_unsupported',
          `files of ${repository} are in Git LFS, which are not sent to other machines`,
          { hint: 'run it on this machine: name the pool local' },
        );
    },
    selectKnown: selectCommits,
    sendCommits: (repository, range, output) => writePack(git, requireCommon(repository), range, output),
    async createBranch(repository, branch, commit) {
      const isNew = await compareAndSetRef(git, repository, branchRef(branch), commit, null, 'created');
      return isNew || (await resolveCommit(git, repository, branchRef(branch))) === commit;
    },
    async removeUnusedBranch(repository, branch, commit) {
      if ((await resolveCommit(git, repository, branchRef(branch))) !== commit) return;
      // git refuses one that is checked out.
      await git.run(repository, ['branch', '--delete', '--force', '--quiet', branch], { allowFail: true });
    },
    findTip: (repository, branch) => resolveCommit(git, repository, branchRef(branch)),
    hasCommit: (repository, branch, commit) => isAncestor(git, repository, commit, branchRef(branch)),
    findCommit: (repository, ref) => resolveCommit(git, repository, ref),
    receiveWork({ repository, branch, baseCommit, tip, snapshot = null }, input) {
      const common = requireCommon(repository);
      return enqueue(turnOf(common, branch), async () => {
        const now = await resolveCommit(git, repository, branchRef(branch));
        const wanted = snapshot === null ? [tip] : [tip, snapshot.commit];
        const range = { wanted, known: [baseCommit, ...(now === null ? [] : [now])] };
        await limitPacks(() => readPack(git, common, { ...range, scratch: scratchIn(common) }, input));
        // A snapshot of ours, which the work that it was taken of replaces.
        const known = now !== null && (await isSnapshot(repository, branch, now)) ? now : null;
        const work = { branch, base: baseCommit, tip, now, known };
        const bound = bindGit(git, common);
        if (snapshot !== null) await setSnapshot(bound, common, snapshot);
        return publishTip(bound, common, { ...work, asideName: 'there', reason: 'arrived from its machine' });
      });
    },
    receiveAside({ repository, baseCommit, ...snapshot }, input) {
      const common = requireCommon(repository);
      return enqueue(turnOf(common, snapshot.ref), async () => {
        const range = { wanted: [snapshot.commit], known: [baseCommit] };
        await limitPacks(() => readPack(git, common, { ...range, scratch: scratchIn(common) }, input));
        await setSnapshot(bindGit(git, common), common, snapshot);
      });
    },
    restoreSnapshot({ repository, branch, ref }) {
      const common = requireCommon(repository);
      return enqueue(turnOf(common, branch), async () => {
        const snapshot = await resolveCommit(git, repository, ref);
        const tip = await resolveCommit(git, repository, branchRef(branch));
        if (snapshot === null || tip === null || !(await isAncestor(git, repository, tip, snapshot))) return;
        const reason = 'its machine was lost';
        await compareAndSetRef(git, repository, branchRef(branch), snapshot, tip, reason);
      });
    },
    async removeSnapshot(repository, ref) {
      await git.run(repository, ['update-ref', '--no-deref', '-d', ref]);
    },
    openMirror: (folder, commit) =>
      enqueue(folder, async () => {
        if (existsSync(join(folder, '.git'))) return;
        mkdirSync(dirname(folder), { recursive: true, mode: 0o700 });
        // `git init` takes several steps, and a killed one would leave a repository that git refuses: the folder
        // appears at once, when it is whole.
        const draft = `${folder}.new`;
        rmSync(draft, { recursive: true, force: true });
        mkdirSync(draft, { mode: 0o700 });
        await git.run(draft, [
          'init',
          '--quiet',
          '--template=',
          '--initial-branch=svc-none',
          `--object-format=${nameFormat(commit)}`,
        ]);
        rmSync(folder, { recursive: true, force: true });
        renameSync(draft, folder);
      }),
    setAuthor: (folder, author) =>
      enqueue(requireCommon(folder), async () => {
        for (const [key, value] of Object.entries(author))
          await git.run(folder, ['config', `user.${key}`, value]);
      }),
    async listTips(folder) {
      if (!existsSync(join(folder, '.git'))) return [];
      const args = ['for-each-ref', '--format=%(objectname)', '--sort=-creatordate', `--count=${MOST_TIPS}`];
      return [...new Set(splitLines(await git.text(folder, args)).filter(isObjectId))];
    },
    receiveBase(folder, { commit, known, shallow }, input) {
      const common = requireCommon(folder);
      return enqueue(common, async () => {
        addShallow(join(common, 'shallow'), shallow);
        await readPack(git, common, { wanted: [commit], known, scratch: scratchIn(common) }, input);
        // Named by itself, so that it never disappears and never moves.
        await git.run(folder, ['update-ref', `refs/svc/base/${commit}`, commit]);
        // The empty checkout needs a commit, and git looks at no file of it.
        await git.run(folder, ['update-ref', '--no-deref', 'HEAD', commit]);
      });
    },
    close,
  };
}

/** Adds the ends of a shallow history, where git would miss the earlier commits. */
function addShallow(file: string, commits: readonly string[]): void {
  if (commits.length === 0) return;
  const before = existsSync(file) ? splitLines(readFileSync(file, 'utf8')) : [];
  const all = new Set([...before, ...commits].filter(isObjectId));
  writeFileSync(file, `${[...all].join('\n')}\n`, { mode: 0o600 });
}
