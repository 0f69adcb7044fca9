import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { quoteForShell } from '../../../../core/base/text.ts';
import {
  findMainCheckout,
  looksLikeBareRepository,
  readGitFolders,
  readGitFoldersAround,
} from './git-folders.ts';
import { hidePassword } from './hide-password.ts';
import { createKeptRecords } from './kept-records.ts';
import type { Settings } from './read-settings.ts';

/** git's own text merge, with the requested markers. */
const MERGE_AS_TEXT = 'git merge-file --quiet --marker-size=%L %A %O %B';

/**
 * Settings that name a program, or a file that names one, and the neutral value used when a worker has written them
 * (git-config(1), gitattributes(5), git-lfs-config(5)).
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
  [/^gpg\.(?:.+\.)?(?:program|defaultkeycommand)$/, 'false'],
  [/^(?:hook\..+\.command|gc\.recentobjectshook)$/, 'true'],
  [/^(?:alias|pager|man|browser|mergetool|difftool|trailer|tar|sendemail|imap|guitool)\..+$/, 'false'],
  [/^init\.templatedir$/, ''],
  [/^credential\.(?:.+\.)?helper$/, ''],
  [/^lfs\.(?:extension|customtransfer)\..+$/, ''],
  [/^lfs\.(?:.+\.)?standalonetransferagent$/, ''],
  [/^submodule\..+\.update$/, 'none'],
];

/** Settings that determine where git fetches from, sends to and authenticates, and by which program of the other side. */
const NAMES_PLACE =
  /^(?:remote\..+\.(?:url|pushurl|uploadpack|receivepack|vcs|proxy|promisor|lfsurl|lfspushurl|mirror|push)|remote\.pushdefault|branch\..+\.pushremote|url\..+\.(?:insteadof|pushinsteadof)|extensions\.partialclone|protocol\..*allow|http\..*|credential\..*|lfs\..*url|push\.(?:gpgsign|pushoption|recursesubmodules)|submodule\..+\.url)$/;

/** Settings with several values: an empty one resets the values before it (git-config(1)). */
const CLEARED_BY_EMPTY = /^(?:credential\.(?:.+\.)?helper|http\.(?:.+\.)?extraheader)$/;

/** Settings with several values, of which the first that fits wins: a value that is added last has no effect. */
const FIRST_WINS = /^core\.gitproxy$/;

/** Programs that git runs in the folder of the current checkout, so that a relative name is a file in it. */
const RUNS_IN_CHECKOUT = /^(?:filter\..+\.(?:clean|smudge|process)|merge\..+\.driver)$/;

/**
 * Programs of a push. Addresses are not among them, since another value would be another address, nor are settings
 * that may hold a secret.
 */
const PASSED_ON =
  /^(?:core\.(?:askpass|sshcommand|gitproxy)|credential\.(?:.+\.)?helper|gpg\.(?:.+\.)?program|remote\..+\.(?:receivepack|uploadpack|vcs)|filter\.lfs\..+)$/;

const PROTOCOLS = ['ext', 'fd', 'file', 'git', 'ssh', 'http', 'https'];
const SHUT: readonly GitOverride[] = [
  ['protocol.allow', 'never'],
  ...PROTOCOLS.map((name) => [`protocol.${name}.allow`, 'never'] as const),
];

/** With this setting git would not see that a file became a program; `git init` writes it in each repository. */
const DECIDES_MODES = 'core.filemode';

const findNeutralValue = (name: string): string | undefined =>
  NAMES_PROGRAM.find(([pattern]) => pattern.test(name))?.[1];

/** Reports whether a setting is one of those that `GitPrograms` remembers. */
export const isRemembered = (name: string): boolean =>
  findNeutralValue(name) !== undefined || NAMES_PLACE.test(name) || name === DECIDES_MODES;

const isSameValues = (one: readonly string[] = [], other: readonly string[] = []): boolean =>
  one.length === other.length && one.every((value, at) => value === other[at]);

/** Addresses, without a password; other settings may hold a secret. */
const showValues = (name: string, values: readonly string[] = []): readonly string[] | null =>
  /^(?:remote\..+|submodule\..+|lfs)\.(?:push)?url$/.test(name) ? values.map(hidePassword) : null;

/** Sets exactly these values of a setting, as far as git allows. */
const setValues = (name: string, values: readonly string[]): GitOverride[] =>
  [...(CLEARED_BY_EMPTY.test(name) ? [''] : []), ...values].map((value) => [name, value] as const);

/** The remembered settings of a repository, including the machine's and the person's. */
interface Remembered {
  /** The settings at a time when no worker was running. */
  trusted: Settings;
  /** Settings found after a worker's run; not treated as the person's while they stay the same. */
  planted: Settings;
}

/** A setting of git with a value that overrides all files. */
export type GitOverride = readonly [name: string, value: string];

/** The settings of a git call. */
export interface GitOverrides {
  settings: readonly GitOverride[];
  /** True if git may fetch missing objects: all settings about their source are the person's. */
  mayFetch: boolean;
}

/** A setting that was written during a run. Values are null if they may hold a secret. */
export interface SettingChange {
  name: string;
  before: readonly string[] | null;
  now: readonly string[] | null;
}

export interface GitPrograms {
  /**
   * Finds settings to pass to a git call, so that no program runs that a worker has configured, and none whose file
   * the worker can change in its worktree.
   * @param cwd where git is called
   */
  findOverrides(cwd: string): Promise<GitOverrides>;
  /**
   * Lists the names of active settings that a worker wrote, of programs and of locations. `isQuiet`: no worker is
   * running, so later changes are the person's.
   */
  listUntrustedSettings(cwd: string, options: { isQuiet: boolean }): Promise<string[]>;
  /** Lists the person's own settings of the programs that a push runs, for a program that reads the configuration again. */
  listTrustedSettings(cwd: string): Promise<readonly GitOverride[]>;
  /**
   * Remembers the current settings before a worker starts. `isQuiet`: no other worker is running, so the settings are
   * the person's.
   */
  rememberPrograms(cwd: string, options: { isQuiet: boolean }): Promise<void>;
  /** Finds settings that were written during a run, by name, each once: those of programs, and those of locations. */
  findPlantedSettings(cwd: string): Promise<{ programs: string[]; places: string[] }>;
  /** Lists the settings that `listUntrustedSettings` names with their values, before and now; secrets are left out. */
  compareSettings(cwd: string): Promise<SettingChange[]>;
  /** Makes the current settings the person's. No worker may be running. */
  acceptSettings(cwd: string): Promise<void>;
}

/**
 * Remembers which programs a person's git runs in a repository, and keeps the engine from running a worker's: a
 * worker without a sandbox can write any git configuration. Programs that were configured before a worker started
 * keep working, such as the filters of git-lfs.
 * @param file the location of the record; null for memory only
 * @param readSettings reads the settings that `isRemembered` selects
 */
export function createGitPrograms(
  file: string | null,
  readSettings: (cwd: string) => Promise<Settings>,
): GitPrograms {
  const kept = createKeptRecords(file, readRecord);
  /** The record of the nearest repository that has one: a worker can make its worktree name its own repository. */
  const findRecordAround = (cwd: string): Remembered | undefined => {
    for (const common of listCommonDirsAround(cwd)) {
      const record = kept.get(common);
      if (record !== undefined) return record;
    }
    return undefined;
  };

  const listChangedSettings = (settings: Settings, { trusted }: Remembered): string[] =>
    Object.keys(settings).filter(
      (name) =>
        !isSameValues(settings[name], trusted[name]) &&
        (name !== DECIDES_MODES || trusted[name] !== undefined),
    );

  const programs: GitPrograms = {
    async findOverrides(cwd) {
      const record = findRecordAround(cwd);
      if (record === undefined) return { settings: [], mayFetch: true };
      const now = await readSettings(cwd);
      const changed = listChangedSettings(now, record);
      const against = changed.flatMap((name) => {
        const neutral = findNeutralValue(name);
        if (neutral === undefined && name !== DECIDES_MODES) return [];
        return setValues(name, record.trusted[name] ?? (neutral === undefined ? [] : [neutral]));
      });
      const mayFetch = !changed.some((name) => NAMES_PLACE.test(name) || FIRST_WINS.test(name));
      return {
        settings: [...against, ...moveToMainCheckout(cwd, now, record.trusted), ...(mayFetch ? [] : SHUT)],
        mayFetch: mayFetch && against.length === 0,
      };
    },

    async listUntrustedSettings(cwd, { isQuiet }) {
      await programs.rememberPrograms(cwd, { isQuiet });
      const record = findRecordAround(cwd);
      if (record === undefined) return [];
      return listChangedSettings(await readSettings(cwd), record).filter((name) => name !== DECIDES_MODES);
    },

    async listTrustedSettings(cwd) {
      const record = findRecordAround(cwd);
      const trusted = record?.trusted ?? (await readSettings(cwd));
      return Object.entries(trusted).flatMap(([name, values]) =>
        PASSED_ON.test(name) ? setValues(name, values) : [],
      );
    },

    async rememberPrograms(cwd, { isQuiet }) {
      const [repository] = listCommonDirsAround(cwd);
      if (repository === undefined) return;
      const before = kept.get(repository);
      if (before !== undefined && !isQuiet) return;
      const settings = await readSettings(cwd);
      const planted = Object.fromEntries(
        Object.entries(before?.planted ?? {}).filter(([name, values]) =>
          isSameValues(settings[name], values),
        ),
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

    async compareSettings(cwd) {
      const record = findRecordAround(cwd);
      if (record === undefined) return [];
      const now = await readSettings(cwd);
      return listChangedSettings(now, record)
        .filter((name) => name !== DECIDES_MODES)
        .map((name) => ({
          name,
          before: showValues(name, record.trusted[name]),
          now: showValues(name, now[name]),
        }));
    },

    async acceptSettings(cwd) {
      const [repository] = listCommonDirsAround(cwd);
      if (repository !== undefined) kept.set(repository, { trusted: await readSettings(cwd), planted: {} });
    },

    async findPlantedSettings(cwd) {
      const repository = listCommonDirsAround(cwd).find((each) => kept.get(each) !== undefined);
      const record = kept.get(repository ?? '');
      if (repository === undefined || record === undefined) return { programs: [], places: [] };
      const settings = await readSettings(cwd);
      const changed = listChangedSettings(settings, record);
      const fresh = changed.filter((name) => !isSameValues(record.planted[name], settings[name]));
      if (fresh.length === 0) return { programs: [], places: [] };
      const planted = Object.fromEntries(changed.map((name) => [name, settings[name] ?? []]));
      kept.set(repository, { ...record, planted });
      return {
        programs: fresh.filter((name) => findNeutralValue(name) !== undefined),
        places: fresh.filter((name) => NAMES_PLACE.test(name)),
      };
    },
  };
  return programs;
}

/**
 * Runs filters and merge drivers in the main checkout: in a linked worktree `./clean.sh`, `npx` or `make` would be
 * the worker's versions, outside of its sandbox, and in a worktree that git is just creating they do not exist yet.
 */
function moveToMainCheckout(cwd: string, settings: Settings, trusted: Settings): GitOverride[] {
  const named = readGitFoldersAround(cwd);
  if (named === null) return [];
  // A bare repository has no files of the person; there a relative name finds none.
  const main = findMainCheckout(named.common) ?? named.common;
  return Object.keys(settings).flatMap((name) => {
    const command = trusted[name]?.at(-1) ?? '';
    if (!RUNS_IN_CHECKOUT.test(name) || command === '') return [];
    return [[name, runIn(main, command)] as const];
  });
}

/** Wraps a git command to run in another folder. The files for `%O`, `%A` and `%B` are relative to git's folder. */
const runIn = (folder: string, command: string): string =>
  `svc_from="$PWD" && cd ${quoteForShell(folder)} && ${command.replace(/(?<!%)%([OAB])/g, '"$svc_from"/%$1')}`;

/** A record as it is stored; an older one has only the last value of each setting. */
type StoredRecord = Record<keyof Remembered, Readonly<Record<string, string | readonly string[]>>>;

const toSettings = (stored: StoredRecord['trusted']): Settings =>
  Object.fromEntries(
    Object.entries(stored).map(([name, values]) => [name, typeof values === 'string' ? [values] : values]),
  );

const readRecord = ({ trusted, planted }: StoredRecord): Remembered => ({
  trusted: toSettings(trusted),
  planted: toSettings(planted),
});

const isSameSettings = (one: Settings, other: Settings): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([name, values]) => isSameValues(values, other[name]));

/** Lists the git folders of the repositories around a folder, the nearest first; each is shared by all its worktrees. */
function listCommonDirsAround(cwd: string): string[] {
  const found: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    const named = existsSync(join(folder, '.git')) ? readGitFolders(folder) : null;
    const common = named?.common ?? (looksLikeBareRepository(folder) ? folder : null);
    if (common !== null && existsSync(common)) found.push(realpathSync(common));
    if (folder === dirname(folder)) return found;
  }
}
