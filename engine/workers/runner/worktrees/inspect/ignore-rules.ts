import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { escapePattern } from '../../../../core/workspace/git-exclude.ts';
import { type Git, splitRecords } from '../git/git.ts';
import { readCommonDirAround } from '../git/git-folders.ts';
import { createKeptRecords } from '../git/kept-records.ts';
import { readRegularFile } from '../git/regular-file.ts';
import { carefulEnvironment, gitDirEnvironment, type WorktreeContents } from './contents.ts';

/** Rules that are in no commit. */
interface PersonRules {
  /** The contents of `info/exclude`. */
  exclude: string;
  /** The contents of git's default file for a person's own rules. */
  own: string;
}

interface Remembered {
  /** The rules at a time when no worker was running. */
  trusted: PersonRules;
  /** The rules at the end of a run that changed them: not treated as the person's while they stay the same. */
  planted: PersonRules | null;
}

/** A worktree whose files are inspected. */
export interface IgnoringPlace {
  path: string;
  gitDir: string;
  /** The git folder that all worktrees of the repository share. */
  commonDir: string;
}

/** Separates files that a project ignores from files that only a worker's own rules hide, which may be work. */
export interface IgnoreRules {
  /**
   * Remembers the rules outside of commits before a worker starts. `isQuiet`: no other worker is running, so they are
   * the person's.
   */
  rememberRules(checkout: string, options: { isQuiet: boolean }): void;
  /** Notices that a run has changed them. */
  checkRules(commonDir: string): void;
  /** Lists the files that git ignores, and would not by a commit's rules. */
  listHiddenFrom(
    git: Git,
    place: IgnoringPlace,
    contents: WorktreeContents,
    commit: string,
  ): Promise<string[]>;
  /** Lists the files that git ignores only by rules that are in no commit and in none that the work would create. */
  listSelfHidden(git: Git, place: IgnoringPlace, contents: WorktreeContents): Promise<string[]>;
}

/** Dependency folders, which a package manager can recreate. */
const DEPENDENCIES = new Set(['node_modules', '.venv', 'venv', '.cargo', '.svc']);
/** A program marks a folder that it can recreate: https://bford.info/cachedir/ */
const CACHE_TAG = 'CACHEDIR.TAG';
const CACHE_SIGNATURE = 'Signature: 8a477f597d28d172789f06886806bc55';
/** An agent keeps permissions there, and adds the name to its user's ignore file by itself. */
const AGENT_SETTINGS = /(?:^|\/)\.claude\/settings\.local\.json$/;
const MOST_COMMITS = 50;
const MOST_BYTES = 1024 * 1024;

/** @param file the record of people's rules; null for in memory */
export function createIgnoreRules(file: string | null, env: Readonly<NodeJS.ProcessEnv>): IgnoreRules {
  const kept = createKeptRecords(file, (record: Remembered) => record);
  const byCommit = new Map<string, Promise<string>>();

  const readPersonRules = (commonDir: string): PersonRules => ({
    exclude: readRules(join(commonDir, 'info', 'exclude')),
    own: readRules(join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'git', 'ignore')),
  });

  /** Lists the person's rules outside of commits, the most general first. */
  async function findPersonRules(git: Git, { path, gitDir, commonDir }: IgnoringPlace): Promise<string> {
    const { exclude, own } = kept.get(realpathSync(commonDir))?.trusted ?? readPersonRules(commonDir);
    const get = ['config', '--type=path', '--get', 'core.excludesFile'];
    const named = await git.text(path, get, {
      allowFail: true,
      env: gitDirEnvironment(path, gitDir),
    });
    return `${named === '' ? own : readRules(named)}\n${exclude}\n`;
  }

  function readCommitRules(git: Git, place: IgnoringPlace, commit: string): Promise<string> {
    const known = byCommit.get(commit) ?? readRulesOfCommit(git, place, commit);
    byCommit.delete(commit);
    byCommit.set(commit, known);
    known.catch(() => byCommit.delete(commit));
    for (const oldest of [...byCommit.keys()].slice(0, -MOST_COMMITS)) byCommit.delete(oldest);
    return known;
  }

  async function listHiddenBy(
    git: Git,
    place: IgnoringPlace,
    { ignored, untracked, nested }: WorktreeContents,
    readProjectRules: () => Promise<string>,
  ): Promise<string[]> {
    const { path } = place;
    const isRemade = createRemadeCheck(path);
    if (ignored.every(isRemade)) return [];
    const rules = `${await findPersonRules(git, place)}${await readProjectRules()}`;
    const known = new Set(untracked);
    const isNested = (name: string): boolean =>
      nested.some((each) => name.replace(/\/$/, '') === each || name.startsWith(`${each}/`));
    return (await listOthers(git, place, rules)).filter(
      (name) => !known.has(name) && !isNested(name) && !isRemade(name),
    );
  }

  return {
    rememberRules(checkout, { isQuiet }) {
      const commonDir = readCommonDirAround(checkout);
      if (commonDir === null) return;
      const before = kept.get(commonDir);
      if (before !== undefined && !isQuiet) return;
      const now = readPersonRules(commonDir);
      if (before !== undefined && (areSameRules(before.trusted, now) || areSameRules(before.planted, now)))
        return;
      kept.set(commonDir, { trusted: now, planted: null });
    },
    checkRules(commonDir) {
      const name = realpathSync(commonDir);
      const before = kept.get(name);
      if (before === undefined) return;
      const now = readPersonRules(commonDir);
      if (areSameRules(before.trusted, now) || areSameRules(before.planted, now)) return;
      kept.set(name, { ...before, planted: now });
    },
    listHiddenFrom: (git, place, contents, commit) =>
      listHiddenBy(git, place, contents, () => readCommitRules(git, place, commit)),
    listSelfHidden: (git, place, contents) =>
      listHiddenBy(git, place, contents, async () =>
        joinRules(
          contents.ruleFiles.map((name) => [name, readRegularFile(join(place.path, name), MOST_BYTES) ?? '']),
        ),
      ),
  };
}

const areSameRules = (one: PersonRules | null, other: PersonRules): boolean =>
  one !== null && one.exclude === other.exclude && one.own === other.own;

/** Reads a person's file, also through a link; empty for none. */
function readRules(file: string): string {
  try {
    const { size } = statSync(file);
    return statSync(file).isFile() && size <= MOST_BYTES ? readFileSync(file, 'utf8') : '';
  } catch {
    return '';
  }
}

/** Returns the check whether a file of a worktree is not work, regardless of the ignoring rule: it can be recreated. */
function createRemadeCheck(worktree: string): (name: string) => boolean {
  const tagged = new Map<string, boolean>();
  const isTagged = (folder: string): boolean => {
    const known =
      tagged.get(folder) ??
      readRegularFile(join(worktree, folder, CACHE_TAG), 64)?.startsWith(CACHE_SIGNATURE) === true;
    tagged.set(folder, known);
    return known;
  };
  return (name) => {
    if (AGENT_SETTINGS.test(name)) return true;
    const parts = name.split('/');
    return (
      parts.some((part) => DEPENDENCIES.has(part)) ||
      parts.slice(0, -1).some((_, at) => isTagged(parts.slice(0, at + 1).join('/')))
    );
  };
}

/** Lists the untracked files of a worktree that these rules alone do not ignore. */
async function listOthers(git: Git, { path, gitDir }: IgnoringPlace, rules: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-rules-'));
  try {
    const file = join(folder, 'rules');
    writeFileSync(file, rules);
    const env = { ...gitDirEnvironment(path, gitDir), ...carefulEnvironment(path) };
    const list = ['ls-files', '-z', '--others', `--exclude-from=${file}`];
    return splitRecords((await git.run(path, list, { env })).stdout);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reads all .gitignore files of a commit as one list of rules. */
async function readRulesOfCommit(git: Git, { path, gitDir }: IgnoringPlace, commit: string): Promise<string> {
  const env = gitDirEnvironment(path, gitDir);
  const tree = await git.run(path, ['ls-tree', '-r', '-z', '--full-tree', commit], { env });
  const files = splitRecords(tree.stdout).flatMap((record) => {
    const [, id, name] = /^100\d{3} blob ([0-9a-f]+)\t([\s\S]+)$/.exec(record) ?? [];
    return id !== undefined && name !== undefined && basename(name) === '.gitignore' ? [{ id, name }] : [];
  });
  if (files.length === 0) return '';
  const mark = randomUUID();
  const { stdout } = await git.run(path, ['cat-file', `--batch=${mark}`], {
    env,
    input: files.map(({ id }) => `${id}\n`).join(''),
  });
  const texts = stdout.split(`${mark}\n`).slice(1);
  return joinRules(files.map(({ name }, at) => [name, texts[at] ?? '']));
}

/** Joins .gitignore files into rules for the top folder. Rules of a folder override the ones above it, so they come later. */
function joinRules(files: readonly (readonly [name: string, text: string])[]): string {
  const depth = (name: string): number => name.split('/').length;
  return [...files]
    .sort(([one], [other]) => depth(one) - depth(other))
    .map(([name, text]) => moveRules(dirname(name), text))
    .join('\n');
}

/** Converts the rules of a folder to rules of the top folder. */
function moveRules(folder: string, text: string): string {
  const plain = text.replace(/^\uFEFF/, '');
  if (folder === '.') return plain;
  const prefix = `/${escapePattern(folder)}/`;
  return plain
    .split(/\r?\n/)
    .map((line) => {
      if (line.trim() === '' || line.startsWith('#')) return '';
      const not = line.startsWith('!') ? '!' : '';
      const pattern = line.slice(not.length);
      const isAnchored = pattern.replace(/\/\s*$/, '').includes('/');
      return `${not}${prefix}${isAnchored ? pattern.replace(/^\//, '') : `**/${pattern}`}`;
    })
    .join('\n');
}
