import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { looksLikeBareRepository, readGitFolders } from './git-folders.ts';
import { signFile } from './kept-records.ts';

/** Settings of git: all values by name, in the order in which git reads them. */
export type Settings = Readonly<Record<string, readonly string[]>>;

/** The settings that git reads at a folder. */
export interface SettingsOfFolder {
  /** The selected settings, as far as files have them. */
  settings: Settings;
  /** The names and addresses of commits: the last value of each setting, from any place. */
  identity: ReadonlyMap<string, string>;
  /** Changes with the files of the settings. */
  signature: string;
}

const NAMES_PERSON = /^(?:user|author|committer)\.(?:name|email)$/;

/** Returns the git folder shared by all checkouts with the same settings; null for a checkout with its own settings. */
function findSharedGitDir(cwd: string): string | null {
  const named = readGitFolders(cwd);
  if (named === null) return null;
  const hasOwn = [named.common, named.own].some((each) => existsSync(join(each, 'config.worktree')));
  return hasOwn ? null : named.common;
}

/** Reports whether a folder is the git folder of a main checkout. No worktree has such a path. */
const isUsualGitFolder = (folder: string): boolean =>
  basename(folder) === '.git' && looksLikeBareRepository(folder);

/** The files that git reads settings from, if they exist. */
function listSettingsFiles(
  cwd: string,
  home: string | null,
  { XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM }: Readonly<NodeJS.ProcessEnv>,
): string[] {
  const named = readGitFolders(cwd);
  const settings = XDG_CONFIG_HOME || (home === null ? null : join(home, '.config'));
  return [
    ...(GIT_CONFIG_GLOBAL ? [GIT_CONFIG_GLOBAL] : []),
    GIT_CONFIG_SYSTEM || '/etc/gitconfig',
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

interface Listed extends SettingsOfFolder {
  files: string[];
}

/**
 * Returns a function that reads the settings at a folder, again if one of their files has changed.
 * @param list runs `git config` with these arguments and variables in a folder
 * @param env git's environment
 * @param isWanted selects settings by name
 */
export function createSettingsReader(
  list: (cwd: string, args: readonly string[], env: Readonly<Record<string, string>>) => Promise<string>,
  env: Readonly<NodeJS.ProcessEnv>,
  isWanted: (name: string) => boolean,
): (cwd: string) => Promise<SettingsOfFolder> {
  // git only looks at HOME; without it no user's settings are read.
  const home = env.HOME || null;
  // Apart, because a git folder is also one that git is called in.
  const byFolder = new Map<string, Listed>();
  const byRepository = new Map<string, Listed>();

  return async function readSettings(cwd) {
    const shared = findSharedGitDir(cwd);
    const known = byFolder.get(cwd) ?? (shared === null ? undefined : byRepository.get(shared));
    if (known !== undefined && known.signature === signFiles(known.files)) return known;
    // In its git folder git finds a repository only if it is named.
    const named = isUsualGitFolder(cwd) ? { GIT_DIR: cwd } : {};
    const signUsual = (): string => signFiles(listSettingsFiles(cwd, home, env));
    const before = signUsual();
    const text = await list(cwd, ['config', '--list', '--includes', '--show-origin', '-z'], named);
    const settings: Record<string, string[]> = {};
    const identity = new Map<string, string>();
    const files = new Set(listSettingsFiles(cwd, home, env));
    let isLasting = true;
    let isEverywhere = true;
    const parts = text.split('\0');
    for (let at = 0; at + 1 < parts.length; at += 2) {
      const [from = ''] = parts.slice(at);
      const [name = '', ...value] = (parts[at + 1] ?? '').split('\n');
      if (NAMES_PERSON.test(name)) identity.set(name, value.join('\n'));
      // Settings of our own calls are not from files.
      if (!from.startsWith('file:')) continue;
      const origin = from.slice('file:'.length);
      const path = isAbsolute(origin) ? origin : resolve(cwd, origin);
      files.add(path);
      if (/^include(?:if\..+)?\.path$/.test(name)) {
        files.add(resolve(dirname(path), value.join('\n').replace(/^~(?=\/)/, home ?? '~')));
        // Conditional includes depend on the checkout, and some on more than settings files.
        if (name.startsWith('includeif.')) isEverywhere = false;
        if (/^includeif\.(?:onbranch|hasconfig)/.test(name)) isLasting = false;
      }
      if (isWanted(name)) settings[name] = [...(settings[name] ?? []), value.join('\n')];
    }
    const found = { settings, identity, files: [...files], signature: signFiles([...files]) };
    byFolder.delete(cwd);
    // A worker may have written one of them in between.
    if (before !== signUsual()) return found;
    if (isLasting && isEverywhere && shared !== null) byRepository.set(shared, found);
    else if (isLasting) byFolder.set(cwd, found);
    return found;
  };
}
