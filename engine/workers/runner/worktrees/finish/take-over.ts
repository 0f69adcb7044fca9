import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { asSvcError, SvcError } from '../../../../core/base/errors.ts';
import { createKeyedQueue } from '../../../../core/base/serial-queue.ts';
import { type Git, withEnvironment } from '../git/git.ts';
import { copyIndex } from '../git/index-flags.ts';
import {
  listPrivateGits,
  locatePrivateGit,
  type PrivateGit,
  type PrivateGitRecord,
  readBranchFromFiles,
  readPrivateGit,
  readPrivateTip,
  readRefFile,
  writePrivateGit,
} from '../git/private-git.ts';
import {
  branchRef,
  compareAndSetRef,
  isAncestor,
  isObjectId,
  resolveCommit,
  sessionNameOf,
} from '../git/refs.ts';
import { readRegularFile } from '../git/regular-file.ts';
import { findTraps } from '../git/traps.ts';
import { takeLfsObjects } from './take-lfs.ts';

/** The result of taking over a private git folder at the end of a run. */
export interface TakenOver {
  /** The reason why the branch, or a part of it, was not taken over; one sentence. */
  problem: string | null;
  /** True if the branch and everything reachable from it is in the repository. */
  isWhole: boolean;
  /** Refs that now hold commits that were not on the session's branch, or do not descend from its base. */
  savedRefs: string[];
  /** The environment in which git calls in the worktree read and write the private objects too. */
  env: Record<string, string>;
  /** Takes over a commit that was made with `env`. Throws `worktree_unsafe`. */
  takeCommit(commit: string): Promise<void>;
}

export interface TakeOver {
  /**
   * Copies what a strict worker has committed so far into the repository for reading. Failures are left to the end of
   * the run. Never throws.
   */
  takeOverBranch(branch: string): Promise<void>;
  /** `takeOverBranch` for every branch. */
  takeOverAllBranches(): Promise<void>;
  /**
   * Takes over, at the end of a run or of a person's stay, the branch, other commits that the worktree names and,
   * with `index`, staged changes. Null if there is no private folder. Never throws.
   */
  takeOverAtEnd(worktree: string, options?: { index?: boolean }): Promise<TakenOver | null>;
}

/** A larger pack of new objects is not taken over. */
const MOST_BYTES = 4 * 1024 ** 3;
/** Memory limit for one object: a few bytes of a pack can expand to any size. */
const MOST_MEMORY = '1g';
const LIVE_MS = 20_000;
const END_MS = 600_000;
/** Further branches and commits beyond this number are ignored. */
const MOST_REFS = 1000;

/** Files in the worktree's own git folder that may name commits which no branch holds. */
const NAMES_COMMITS = [
  ...['HEAD', 'ORIG_HEAD', 'MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'REBASE_HEAD'],
  ...['orig-head', 'onto', 'autostash', 'stopped-sha'].map((name) => join('rebase-merge', name)),
  join('rebase-apply', 'orig-head'),
];

/** Disables replacement objects and network fetches. */
const PLAIN = { GIT_NO_REPLACE_OBJECTS: '1', GIT_NO_LAZY_FETCH: '1', GIT_ALLOC_LIMIT: MOST_MEMORY };
const PLAIN_SETTINGS = ['core.commitGraph', 'core.multiPackIndex', 'pack.useBitmaps'].flatMap((name) => [
  '-c',
  `${name}=false`,
]);

/** Objects and everything reachable from them, minus what is reachable from the known ones. */
interface Wanted {
  wanted: readonly string[];
  known: readonly string[];
  timeoutMs: number;
}

const formatRevisions = ({ wanted, known }: Pick<Wanted, 'wanted' | 'known'>): string =>
  `${[...wanted, ...known.map((id) => `^${id}`)].join('\n')}\n`;

/**
 * Takes over commits of strict workers. They write objects into private folders, where any content may have any name:
 * git does not compare a blob's content with its name when reading it. So everything is read from there exactly once,
 * into a pack in which every object is renamed by its content, and which is only accepted when everything reachable
 * is in the repository. The engine's own reads only use the repository.
 */
export function createTakeOver(plain: Git, agentsDir: string): TakeOver {
  /** Tips that could not be taken over during their run; the end of the run will report why. */
  const refused = new Map<string, string>();
  /** Work runs one at a time for each private folder. */
  const enqueue = createKeyedQueue();

  const quotePath = (path: string): string => JSON.stringify(path);
  const realObjectsFolder = ({ common }: PrivateGitRecord): string => join(common, 'objects');
  /** git bound to the repository, regardless of surrounding repositories. */
  const gitIn = ({ common }: PrivateGitRecord): Git => withEnvironment(plain, { ...PLAIN, GIT_DIR: common });

  /** Reports whether everything reachable is in the repository, or in `objects`. */
  async function hasAllObjects(
    record: PrivateGitRecord,
    { wanted, known, objects, timeoutMs }: Wanted & { objects: string },
  ): Promise<boolean> {
    const beside = {
      GIT_OBJECT_DIRECTORY: objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(realObjectsFolder(record)),
    };
    const args = [...PLAIN_SETTINGS, 'rev-list', '--objects', '--quiet', '--stdin'];
    return gitIn(record).succeeds(record.common, args, {
      env: beside,
      input: formatRevisions({ wanted, known }),
      timeoutMs,
    });
  }

  /**
   * Copies objects and everything reachable from them into the repository. Throws `worktree_unsafe`, and has then
   * copied nothing.
   */
  async function takeObjects(
    store: PrivateGit,
    record: PrivateGitRecord,
    { wanted, known, timeoutMs }: Wanted,
  ): Promise<void> {
    if (wanted.length === 0) return;
    const incoming = join(store.folder, 'incoming');
    rmSync(incoming, { recursive: true, force: true });
    mkdirSync(join(incoming, 'pack'), { recursive: true, mode: 0o700 });
    try {
      const input = formatRevisions({ wanted, known });
      const from = ['pack-objects', '--revs', '--stdout', '--quiet', '--window=0', '--no-use-bitmap-index'];
      const to = ['index-pack', '--stdin', '--strict', '--fix-thin', `--max-input-size=${MOST_BYTES}`];
      const reading = {
        GIT_OBJECT_DIRECTORY: store.objects,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(realObjectsFolder(record)),
      };
      const writing = {
        GIT_OBJECT_DIRECTORY: incoming,
        GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(realObjectsFolder(record)),
      };
      await gitIn(record).pipe(record.common, [...PLAIN_SETTINGS, ...from], [...PLAIN_SETTINGS, ...to], {
        from: { env: reading, input, timeoutMs },
        to: { env: writing, timeoutMs },
      });
      if (!(await hasAllObjects(record, { wanted, known, objects: incoming, timeoutMs })))
        throw new SvcError('worktree_unsafe', 'objects are missing, or do not match their names');
      movePacks(join(incoming, 'pack'), join(realObjectsFolder(record), 'pack'));
    } catch (error) {
      const { message } = asSvcError(error);
      throw new SvcError('worktree_unsafe', message.replace(/^git pack-objects \| git index-pack: /, ''), {
        cause: error,
      });
    } finally {
      rmSync(incoming, { recursive: true, force: true });
    }
  }

  /**
   * Moves the branch in the repository to its tip inside the sandbox. Returns the ref that holds the tip elsewhere,
   * if the branch could not move.
   */
  async function takeBranch(
    store: PrivateGit,
    record: PrivateGitRecord,
    tip: string,
    timeoutMs: number,
  ): Promise<string | null> {
    const git = gitIn(record);
    const now = readBranchFromFiles(record.common, record.branch);
    const known = [...new Set([record.base, ...(now === null ? [] : [now])])];
    await takeObjects(store, record, { wanted: [tip], known, timeoutMs });
    const keepUnderRef = async (reason: string): Promise<string> => {
      const ref = `refs/svc/${sessionNameOf(record.branch)}/${reason}-${tip.slice(0, 12)}`;
      const held = await resolveCommit(git, record.common, ref);
      const isKept = held === tip || (await compareAndSetRef(git, record.common, ref, tip, held, 'kept'));
      if (isKept) return ref;
      throw new SvcError('worktree_unsafe', `its commits could not be kept under ${ref}`);
    };
    const asked = ['merge-base', '--is-ancestor', record.base, tip];
    const { code } = await git.run(record.common, asked, { allowFail: true });
    if (code > 1) throw new SvcError('worktree_unsafe', 'its branch does not end at a commit');
    if (code === 1) return keepUnderRef('off-base');
    // A person outside also committed during the run: keep both.
    if (now !== null && now !== record.known && !(await isAncestor(git, record.common, now, tip)))
      return keepUnderRef('inside');
    const ref = branchRef(record.branch);
    if (!(await compareAndSetRef(git, record.common, ref, tip, now, 'taken over from its sandbox')))
      throw new SvcError('worktree_unsafe', `the branch ${record.branch} moved while it was taken over`);
    writePrivateGit(store, { ...record, known: tip });
    return null;
  }

  async function followStore(store: PrivateGit): Promise<void> {
    const record = readPrivateGit(store);
    if (record === null || record.refused !== null) return;
    const tip = readPrivateTip(store, record);
    if (tip === null || tip === record.known || refused.get(store.folder) === tip) return;
    await enqueue(store.folder, async () => {
      const seen = readPrivateGit(store);
      if (seen === null || seen.known === tip) return;
      try {
        if (findTraps(store.objects, { links: true }).length > 0)
          throw new SvcError('worktree_unsafe', 'links or pipes are among its objects');
        await takeBranch(store, seen, tip, LIVE_MS);
      } catch (error) {
        if (!(error instanceof SvcError)) throw error;
        refused.set(store.folder, tip);
      }
    }).catch(() => undefined);
  }

  /** Lists commits named by the worktree's own folder and by other private branches, with the names to keep them under. */
  function beside(
    store: PrivateGit,
    { common, branch, worktree }: PrivateGitRecord,
  ): Map<string, string | null> {
    const own = join(common, 'worktrees', basename(worktree));
    const found = new Map<string, string | null>();
    for (const name of NAMES_COMMITS)
      for (const id of (readRegularFile(join(own, name)) ?? '').slice(0, 64 * 1024).split('\n'))
        if (isObjectId(id)) found.set(id, null);
    for (const name of listFileNames(store.refs).slice(0, MOST_REFS)) {
      const id = name === basename(branch) ? null : readRefFile(join(store.refs, name));
      if (id !== null) found.set(id, name);
    }
    return found;
  }

  /** Lists the objects that the repository lacks. */
  async function listMissing(record: PrivateGitRecord, ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    const { stdout } = await gitIn(record).run(record.common, ['cat-file', '--batch-check=%(objectname)'], {
      input: `${ids.join('\n')}\n`,
      allowFail: true,
    });
    return stdout.split('\n').flatMap((line) => (line.endsWith(' missing') ? [line.split(' ')[0]!] : []));
  }

  async function takeBeside(store: PrivateGit, record: PrivateGitRecord): Promise<string[]> {
    const named = beside(store, record);
    const lacking = await listMissing(record, [...named.keys()]);
    await takeObjects(store, record, { wanted: lacking, known: [record.known], timeoutMs: END_MS });
    const git = gitIn(record);
    const saved: string[] = [];
    for (const id of lacking) {
      const name = named.get(id);
      if (name == null || (await resolveCommit(git, record.common, id)) !== id) continue;
      const ref = `refs/svc/${sessionNameOf(record.branch)}/branch-${name.replaceAll(/[^A-Za-z0-9-]/g, '-')}-${id.slice(0, 12)}`;
      if (await compareAndSetRef(git, record.common, ref, id, null, 'kept')) saved.push(ref);
    }
    return saved;
  }

  /** Takes over staged but uncommitted changes: a person who continues with the worktree outside needs them. */
  async function takeIndex(store: PrivateGit, record: PrivateGitRecord, env: Record<string, string>) {
    const index = join(record.common, 'worktrees', basename(record.worktree), 'index');
    const copy = join(store.folder, 'index');
    rmSync(copy, { force: true });
    try {
      copyIndex(index, copy);
      const tree = await plain.text(record.worktree, ['write-tree'], {
        env: { ...env, GIT_INDEX_FILE: copy },
      });
      const wanted = await listMissing(record, [tree]);
      await takeObjects(store, record, { wanted, known: [record.known], timeoutMs: END_MS });
    } finally {
      rmSync(copy, { force: true });
    }
  }

  async function settleStore(
    store: PrivateGit,
    record: PrivateGitRecord,
    withIndex: boolean,
  ): Promise<TakenOver> {
    const env = {
      ...PLAIN,
      GIT_OBJECT_DIRECTORY: store.objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(realObjectsFolder(record)),
    };
    const result: TakenOver = {
      problem: record.refused,
      isWhole: record.refused === null,
      savedRefs: [],
      env: record.refused === null ? env : {},
      async takeCommit(commit) {
        const now = readPrivateGit(store) ?? record;
        await enqueue(store.folder, () =>
          takeObjects(store, now, { wanted: [commit], known: [now.known], timeoutMs: END_MS }),
        );
      },
    };
    if (record.refused !== null) return result;
    for (const path of [store.objects, store.refs, store.logs, store.ownRefs, store.ownLogs].flatMap((each) =>
      findTraps(each, { links: true }),
    ))
      rmSync(path, { force: true });
    const tip = readPrivateTip(store, record);
    try {
      // First, so that no branch of the repository names missing content.
      await takeLfsObjects(store.lfs, join(record.common, 'lfs'));
      if (tip === null)
        Object.assign(result, {
          isWhole: false,
          env: {},
          problem: 'its branch no longer exists inside, or is not a commit',
        });
      else if (tip !== record.known) {
        const ref = await takeBranch(store, record, tip, END_MS);
        if (ref !== null) result.savedRefs.push(ref);
      }
    } catch (error) {
      const why = asSvcError(error).message;
      writePrivateGit(store, { ...record, refused: why });
      // HEAD may be just as untrustworthy: saves the files on its branch instead.
      const back = ['symbolic-ref', '-m', 'svc: back on its branch', 'HEAD', branchRef(record.branch)];
      await plain.run(record.worktree, back, { allowFail: true });
      return {
        ...result,
        isWhole: false,
        env: {},
        problem: `${why}; its commits are kept in ${store.folder} and not used`,
      };
    }
    const after = readPrivateGit(store) ?? record;
    try {
      result.savedRefs.push(...(await takeBeside(store, after)));
      if (withIndex) await takeIndex(store, after, env);
    } catch (error) {
      const why = asSvcError(error).message;
      result.problem ??= `the work outside its branch could not be taken over: ${why}; it is in ${store.folder}`;
    }
    return result;
  }

  return {
    takeOverBranch: (branch) => followStore(locatePrivateGit(agentsDir, sessionNameOf(branch))),
    async takeOverAllBranches() {
      for (const store of listPrivateGits(agentsDir)) await followStore(store);
    },
    async takeOverAtEnd(worktree, { index = false } = {}) {
      const store = locatePrivateGit(agentsDir, worktree);
      refused.delete(store.folder);
      return enqueue(store.folder, async () => {
        const record = readPrivateGit(store);
        return record === null ? null : settleStore(store, record, index);
      });
    },
  };
}

/** Moves packs by name; the index last, since git looks for it. */
function movePacks(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  const names = readdirSync(from).filter((name) => /^pack-[0-9a-f]+\.(?:pack|rev|idx)$/.test(name));
  for (const end of ['.pack', '.rev', '.idx'])
    for (const name of names.filter((each) => each.endsWith(end))) {
      try {
        renameSync(join(from, name), join(to, name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
        copyFileSync(join(from, name), join(to, `${name}.svc`));
        renameSync(join(to, `${name}.svc`), join(to, name));
      }
    }
}

function listFileNames(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((each) => (each.isFile() ? [each.name] : []));
  } catch {
    return [];
  }
}
