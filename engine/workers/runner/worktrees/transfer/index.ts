import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { SvcError } from '../../../../core/base/errors.ts';
import { createKeyedQueue } from '../../../../core/base/serial-queue.ts';
import { createGit, type GitAccess } from '../git/create-git.ts';
import { readCommonDir } from '../git/git-folders.ts';
import { usesLfs } from '../git/lfs.ts';
import { publishTip } from '../git/publish-tip.ts';
import { PLAIN } from '../git/received-objects.ts';
import { branchRef, compareAndSetRef, isObjectId, resolveCommit, splitLines } from '../git/refs.ts';
import { bindGit, readPack, writePack } from './packs.ts';

/** Tips that one end names to the other, so that the objects behind them are not sent again. */
export const MOST_TIPS = 1000;

/** What the work of a session on another machine is checked against. */
export interface ArrivingWork {
  repository: string;
  branch: string;
  baseCommit: string;
  /** The end of the branch there. */
  tip: string;
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
  /** Returns the commit at the end of a branch; null if there is none. */
  findTip(repository: string, branch: string): Promise<string | null>;
  /**
   * Reads the work of a session into its repository, and moves its branch and nothing else. Returns the ref that holds
   * the work instead, if the branch cannot move to it. Throws `bundle_refused`, `worktree_unsafe`.
   */
  receiveWork(work: ArrivingWork, input: Readable): Promise<string | null>;
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

/** Names the hash by which a repository names its objects. */
const nameFormat = (id: string): string => (id.length === 64 ? 'sha256' : 'sha1');

/** Creates the transfers of a machine. */
export function createTransfers(access: GitAccess): Transfers {
  const { git, close } = createGit(access);
  const enqueue = createKeyedQueue();
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
    findTip: (repository, branch) => resolveCommit(git, repository, branchRef(branch)),
    receiveWork({ repository, branch, baseCommit, tip }, input) {
      const common = requireCommon(repository);
      return enqueue(common, async () => {
        const now = await resolveCommit(git, repository, branchRef(branch));
        const known = [baseCommit, ...(now === null ? [] : [now])];
        const scratch = join(common, 'svc', `incoming-${randomUUID()}`);
        await readPack(git, common, { wanted: [tip], known, scratch }, input);
        const work = { branch, base: baseCommit, tip, now, known: null };
        const bound = bindGit(git, common);
        return publishTip(bound, common, { ...work, asideName: 'there', reason: 'arrived from its machine' });
      });
    },
    async openMirror(folder, commit) {
      if (existsSync(join(folder, '.git', 'HEAD'))) return;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      await git.run(folder, [
        'init',
        '--quiet',
        '--template=',
        '--initial-branch=svc-none',
        `--object-format=${nameFormat(commit)}`,
      ]);
    },
    setAuthor: (folder, author) =>
      enqueue(requireCommon(folder), async () => {
        for (const [key, value] of Object.entries(author))
          await git.run(folder, ['config', `user.${key}`, value]);
      }),
    async listTips(folder) {
      if (!existsSync(join(folder, '.git', 'HEAD'))) return [];
      const args = ['for-each-ref', '--format=%(objectname)', '--sort=-creatordate', `--count=${MOST_TIPS}`];
      return [...new Set(splitLines(await git.text(folder, args)).filter(isObjectId))];
    },
    receiveBase(folder, { commit, known, shallow }, input) {
      const common = requireCommon(folder);
      return enqueue(common, async () => {
        addShallow(join(common, 'shallow'), shallow);
        await readPack(
          git,
          common,
          { wanted: [commit], known, scratch: join(common, 'svc', `incoming-${randomUUID()}`) },
          input,
        );
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
