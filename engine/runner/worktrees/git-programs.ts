import { existsSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { createKeptRecords, signFile } from './kept-records.ts';
import { readGitFolders } from './traps.ts';

/** Settings of git, last value by name. */
type Settings = Readonly<Record<string, string>>;

/** git's own text merge, with the requested markers. */
const MERGE_AS_TEXT = 'git merge-file --quiet --marker-size=%L %A %O %B';

/**
 * Settings that name a program, or a file that names one, and the neutral value used when a worker has written them.
 */
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

/** Settings by which git would fetch missing objects, from any address and by any program that they name. */
const NAMES_PLACE =
  /^(?:remote\..+\.(?:url|uploadpack|vcs|proxy|promisor)|url\..+\.insteadof|extensions\.partialclone|protocol\..*allow|http\..*|credential\..*)$/;

const PROTOCOLS = ['ext', 'fd', 'file', 'git', 'ssh', 'http', 'https'];
const SHUT: readonly (readonly [string, string])[] = [
  ['protocol.allow', 'never'],
  ...PROTOCOLS.map((name) => [`protocol.${name}.allow`, 'never'] as const),
];

/** By this setting git would not see that a file became a program; `git init` writes it in each repository. */
const DECIDES_MODES = 'core.filemode';

const findNeutralValue = (name: string): string | undefined =>
  NAMES_PROGRAM.find(([pattern]) => pattern.test(name))?.[1];

/** The remembered settings of a repository, including the machine's and the person's. */
interface Remembered {
  /** The settings as they were while no worker was running. */
  trusted: Settings;
  /** Settings found after a worker's run; not treated as the person's while they stay the same. */
  planted: Settings;
}

export interface GitPrograms {
  /**
   * Settings to pass to a git call, as names and values, so that no program runs that a worker has configured. Empty
   * where no worker has run yet.
   * @param cwd where git is called
   */
  findOverrides(cwd: string): Promise<readonly (readonly [string, string])[]>;
  /**
   * Remembers the current settings before a worker starts. `isQuiet`: no other worker is running, so the settings are
   * the person's.
   */
  rememberPrograms(cwd: string, options: { isQuiet: boolean }): Promise<void>;
  /** Finds settings that name programs and were written during a run, by name. */
  findPlantedPrograms(cwd: string): Promise<string[]>;
}

interface Listed {
  settings: Settings;
  signature: string;
  files: string[];
}

/**
 * Remembers which programs a person's git runs in a repository, and keeps the engine from running a worker's: a
 * worker without a sandbox can write any git configuration. Programs that were configured before a worker started
 * keep working, such as the filters of git-lfs.
 * @param file where this is kept; null for memory only
 * @param list runs `git config` with these arguments in a folder
 * @param env git's environment
 */
export function createGitPrograms(
  file: string | null,
  list: (cwd: string, args: readonly string[]) => Promise<string>,
  env: Readonly<NodeJS.ProcessEnv>,
): GitPrograms {
  // git only looks at HOME; without it no user's settings are read.
  const home = env.HOME || null;
  const kept = createKeptRecords<Remembered>(file);
  const listed = new Map<string, Listed>();

  /** The relevant settings, read again when one of their files has changed. */
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
      // Settings of our own calls are not from files.
      const [from = ''] = parts.slice(at);
      if (!from.startsWith('file:')) continue;
      const origin = from.slice('file:'.length);
      const [name = '', ...value] = (parts[at + 1] ?? '').split('\n');
      const path = isAbsolute(origin) ? origin : resolve(cwd, origin);
      files.add(path);
      if (/^include(?:if\..+)?\.path$/.test(name)) {
        files.add(resolve(dirname(path), value.join('\n').replace(/^~(?=\/)/, home ?? '~')));
        // Conditional includes depend on the checkout, and some on more than settings files.
        if (name.startsWith('includeif.')) isEverywhere = false;
        if (/^includeif\.(?:onbranch|hasconfig)/.test(name)) isLasting = false;
      }
      if (findNeutralValue(name) !== undefined || NAMES_PLACE.test(name) || name === DECIDES_MODES)
        settings[name] = value.join('\n');
    }
    const found = { settings, files: [...files], signature: signFiles([...files]) };
    if (isLasting) listed.set(isEverywhere && shared !== null ? shared : cwd, found);
    return settings;
  }

  const listChangedSettings = (settings: Settings, { trusted }: Remembered): string[] =>
    Object.keys(settings).filter(
      (name) => settings[name] !== trusted[name] && (name !== DECIDES_MODES || trusted[name] !== undefined),
    );

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
      return fresh.filter((name) => findNeutralValue(name) !== undefined);
    },
  };
}

const isSameSettings = (one: Settings, other: Settings): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([name, value]) => other[name] === value);

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

/** The git folder shared by all checkouts with the same settings; null for a checkout with settings of its own. */
function findSharedGitDir(cwd: string): string | null {
  const named = readGitFolders(cwd);
  if (named === null) return null;
  const hasOwn = [named.common, named.own].some((each) => existsSync(join(each, 'config.worktree')));
  return hasOwn ? null : named.common;
}

/** The files that git reads settings from, if they exist. */
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

const signFiles = (files: readonly string[]): string => files.map(signFile).join(' ');
