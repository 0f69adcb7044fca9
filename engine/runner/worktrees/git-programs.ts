import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { makePrivateFolder, replacePrivate } from '../../base/private-files.ts';
import { readGitFolders } from './traps.ts';

/** Settings of git, last value by name. */
type Settings = Readonly<Record<string, string>>;

/** git as it would run text conversions, with the markers that are asked for. */
const MERGE_AS_TEXT = 'git merge-file --quiet --marker-size=%L %A %O %B';

/** Settings that name a program, or a file that names one, and what they are set to when a worker has written them. */
const NAMES_PROGRAM: readonly (readonly [RegExp, string])[] = [
  [/^filter\..+\.(?:clean|smudge|process)$/, ''],
  [/^filter\..+\.required$/, 'false'],
  [/^diff\.(?:.+\.)?(?:command|textconv|external)$/, ''],
  [/^merge\..+\.driver$/, MERGE_AS_TEXT],
  [/^core\.(?:attributesfile|excludesfile)$/, '/dev/null'],
  [/^core\.(?:hookspath)$/, '/dev/null'],
  [/^core\.fsmonitor$/, 'false'],
  [/^core\.(?:editor|pager|askpass|sshcommand|gitproxy|alternaterefscommand)$/, 'false'],
  [/^(?:sequence\.editor|interactive\.difffilter|uploadpack\.packobjectshook)$/, 'false'],
  [/^gpg\.(?:.+\.)?program$/, 'false'],
  [/^submodule\..+\.update$/, 'none'],
];

/** Settings by which git would fetch what is missing, from wherever and by whatever program they say. */
const NAMES_PLACE =
  /^(?:remote\..+\.(?:url|uploadpack|vcs|proxy|promisor)|url\..+\.insteadof|extensions\.partialclone|protocol\..*allow|http\..*|credential\..*)$/;

const PROTOCOLS = ['ext', 'fd', 'file', 'git', 'ssh', 'http', 'https'];
const SHUT: readonly (readonly [string, string])[] = [
  ['protocol.allow', 'never'],
  ...PROTOCOLS.map((name) => [`protocol.${name}.allow`, 'never'] as const),
];

const findNeutralValue = (name: string): string | undefined =>
  NAMES_PROGRAM.find(([pattern]) => pattern.test(name))?.[1];

/** What is kept of a repository's settings, with the machine's and the person's own. */
interface Remembered {
  /** As they were when no worker was at work. */
  trusted: Settings;
  /** Found after a worker's run, and not to be taken for the person's as long as they stay so. */
  planted: Settings;
}

export interface GitPrograms {
  /**
   * What a call of git is told, beside the repository's settings, so that no program runs that a worker has named: names and
   * values. Nothing where no worker has been yet.
   * @param cwd where git is called
   */
  findOverrides(cwd: string): Promise<readonly (readonly [string, string])[]>;
  /** Before a worker starts. `isQuiet`: no other is at work, so what is there is the person's. */
  rememberPrograms(cwd: string, options: { isQuiet: boolean }): Promise<void>;
  /** After a run: the names of settings that were written meanwhile and name programs. */
  findPlantedPrograms(cwd: string): Promise<string[]>;
}

interface Listed {
  settings: Settings;
  signature: string;
  files: string[];
}

/**
 * Knows which programs a person's git would run in a repository, and keeps those of a worker from being run by the engine: a
 * worker without a sandbox can write every configuration of git. What was there when a worker began goes on to count, such
 * as the filters of git-lfs.
 * @param file where it is kept; null for in memory
 * @param list runs `git config` with these words in a folder
 * @param env as git has it
 */
export function createGitPrograms(
  file: string | null,
  list: (cwd: string, args: readonly string[]) => Promise<string>,
  env: Readonly<NodeJS.ProcessEnv>,
): GitPrograms {
  // git looks at HOME alone, and without one at nobody's settings.
  const home = env.HOME || null;
  const kept = new Map<string, Remembered>(Object.entries(readRemembered(file)));
  const listed = new Map<string, Listed>();

  function saveRemembered(): void {
    if (file === null) return;
    makePrivateFolder(dirname(dirname(file)), dirname(file));
    replacePrivate(file, JSON.stringify(Object.fromEntries(kept)));
  }

  /** The settings that matter, read anew when a file of theirs has changed. */
  async function readSettings(cwd: string): Promise<Settings> {
    const shared = findSharedGitDir(cwd);
    const known = listed.get(cwd) ?? (shared === null ? undefined : listed.get(shared));
    if (known !== undefined && known.signature === signFiles(known.files)) return known.settings;
    const text = await list(cwd, ['config', '--list', '--includes', '--show-origin', '-z']);
    const settings: Record<string, string> = {};
    const files = new Set(listSettingsFiles(cwd, home, env.XDG_CONFIG_HOME));
    let isLasting = true;
    let isEverywhere = true;
    const parts = text.split('\0');
    for (let at = 0; at + 1 < parts.length; at += 2) {
      // Our own calls bring settings of theirs.
      const [from = ''] = parts.slice(at);
      if (!from.startsWith('file:')) continue;
      const origin = from.slice('file:'.length);
      const [name = '', ...value] = (parts[at + 1] ?? '').split('\n');
      const path = isAbsolute(origin) ? origin : resolve(cwd, origin);
      files.add(path);
      if (/^include(?:if\..+)?\.path$/.test(name)) {
        files.add(resolve(dirname(path), value.join('\n').replace(/^~(?=\/)/, home ?? '~')));
        // Which of these count is another question in each checkout; what some hang on is in no file of settings.
        if (name.startsWith('includeif.')) isEverywhere = false;
        if (/^includeif\.(?:onbranch|hasconfig)/.test(name)) isLasting = false;
      }
      if (findNeutralValue(name) !== undefined || NAMES_PLACE.test(name)) settings[name] = value.join('\n');
    }
    const found = { settings, files: [...files], signature: signFiles([...files]) };
    if (isLasting) listed.set(isEverywhere && shared !== null ? shared : cwd, found);
    return settings;
  }

  const listChangedSettings = (settings: Settings, { trusted }: Remembered): string[] =>
    Object.keys(settings).filter((name) => settings[name] !== trusted[name]);

  return {
    async findOverrides(cwd) {
      const record = kept.get(findCommonDirAround(cwd) ?? '');
      if (record === undefined) return [];
      const changed = listChangedSettings(await readSettings(cwd), record);
      if (changed.length === 0) return [];
      const against = changed.flatMap((name) => {
        const value = record.trusted[name] ?? findNeutralValue(name);
        return value === undefined ? [] : [[name, value] as const];
      });
      return changed.some((name) => NAMES_PLACE.test(name)) ? [...against, ...SHUT] : against;
    },

    async rememberPrograms(cwd, { isQuiet }) {
      const repository = findCommonDirAround(cwd);
      if (repository === null) return;
      const before = kept.get(repository);
      if (before !== undefined && !isQuiet) return;
      const settings = await readSettings(cwd);
      const planted = Object.fromEntries(
        Object.entries(before?.planted ?? {}).filter(([name, value]) => settings[name] === value),
      );
      const trusted = Object.fromEntries(
        Object.entries(settings).flatMap(([name, value]) => {
          if (planted[name] === undefined) return [[name, value]];
          const former = before?.trusted[name];
          return former === undefined ? [] : [[name, former]];
        }),
      );
      if (
        before !== undefined &&
        isSameSettings(before.trusted, trusted) &&
        isSameSettings(before.planted, planted)
      )
        return;
      kept.set(repository, { trusted, planted });
      saveRemembered();
    },

    async findPlantedPrograms(cwd) {
      const repository = findCommonDirAround(cwd);
      const record = kept.get(repository ?? '');
      if (repository === null || record === undefined) return [];
      const settings = await readSettings(cwd);
      const changed = listChangedSettings(settings, record);
      const fresh = changed.filter((name) => record.planted[name] !== settings[name]);
      if (fresh.length === 0) return [];
      const planted = Object.fromEntries(changed.map((name) => [name, settings[name] ?? '']));
      kept.set(repository, { ...record, planted });
      saveRemembered();
      return fresh.filter((name) => findNeutralValue(name) !== undefined);
    },
  };
}

const isSameSettings = (one: Settings, other: Settings): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([name, value]) => other[name] === value);

function readRemembered(file: string | null): Record<string, Remembered> {
  if (file === null || !existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, Remembered>;
  } catch {
    return {};
  }
}

/** The git folder that all worktrees of the repository around a folder share. */
function findCommonDirAround(cwd: string): string | null {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const named = existsSync(join(folder, '.git')) ? readGitFolders(folder) : null;
    const common = named?.common ?? (isGitFolder(folder) ? folder : null);
    if (common !== null) return realpathSync(common);
    if (folder === dirname(folder)) return null;
  }
}

const isGitFolder = (folder: string): boolean =>
  ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));

/** What stands for all checkouts of a repository that have the same settings; null for one with settings of its own. */
function findSharedGitDir(cwd: string): string | null {
  const named = readGitFolders(cwd);
  if (named === null) return null;
  const hasOwn = [named.common, named.own].some((each) => existsSync(join(each, 'config.worktree')));
  return hasOwn ? null : named.common;
}

/** Settings are read from these when they are there. */
function listSettingsFiles(cwd: string, home: string | null, xdg: string | undefined): string[] {
  const named = readGitFolders(cwd);
  const settings = xdg || (home === null ? null : join(home, '.config'));
  return [
    ...(home === null ? [] : [join(home, '.gitconfig')]),
    ...(settings === null ? [] : [join(settings, 'git', 'config')]),
    ...(named === null
      ? []
      : [
          join(named.common, 'config'),
          ...[named.common, named.own].map((each) => join(each, 'config.worktree')),
        ]),
  ];
}

const signFiles = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
      return stat === undefined ? '-' : `${stat.mtimeNs}.${stat.ctimeNs}.${stat.size}.${stat.ino}`;
    })
    .join(' ');
