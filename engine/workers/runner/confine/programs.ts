import { type Dirent, existsSync, readdirSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { findFolderAbove, isInsideFolder } from '../../../core/base/paths.ts';
import { findRealPath, isFolder } from '../../../core/base/real-paths.ts';
import { type MountedPlace, showPath } from '../../../core/platform/index.ts';

/** Tool chains and the programs that they install in the person's home. None of these folders is meant for secrets. */
const IN_HOME = [
  ...[
    '.nvm',
    '.volta',
    '.fnm',
    '.asdf',
    '.pyenv',
    '.rbenv',
    '.rustup',
    '.sdkman',
    '.bun',
    '.deno',
    '.nix-profile',
  ],
  ...[
    '.npm-global',
    '.local/lib',
    '.local/pipx',
    '.local/state/nix/profiles',
    'miniconda3',
    'miniforge3',
    'anaconda3',
  ],
  ...['uv', 'pipx', 'mise', 'fnm', 'pnpm', 'claude', 'rtx', 'virtualenvs'].map(
    (name) => `.local/share/${name}`,
  ),
  // Not ~/.cargo itself: it holds the key of the registry.
  ...['.cargo/bin', '.cargo/env', 'go/bin', 'bin', '.local/bin'],
];

/** The worker's variables that name a tool chain. */
const NAMED_BY = [
  'RUSTUP_HOME',
  'GOROOT',
  'JAVA_HOME',
  'VIRTUAL_ENV',
  'NVM_DIR',
  'PYENV_ROOT',
  'ANDROID_HOME',
  'RBENV_ROOT',
];

/** Prefixes of a shared `bin` folder: not everything next to `bin` belongs to the program. */
const SHARED_PREFIXES = ['.local', '.cargo', 'go', '.config', '.cache'];

/** Finds the outermost `node_modules` around a path; packages need each other. */
function findModulesAround(path: string): string | null {
  const parts = path.split(sep);
  const at = parts.indexOf('node_modules');
  return at === -1 ? null : parts.slice(0, at + 1).join(sep);
}

/** Finds the files that a program needs to run: its package, its installation, or itself alone. */
function findInstallation(real: string, hidden: readonly string[]): string {
  const modules = findModulesAround(real);
  if (modules !== null) return modules;
  const folder = isFolder(real) ? real : dirname(real);
  const prefix = dirname(folder);
  const roots = hidden.filter((root) => isInsideFolder(root, prefix));
  const root = roots.sort((one, other) => other.length - one.length)[0];
  if (root === undefined || !['bin', 'sbin', 'shims'].includes(basename(folder))) return real;
  const way = relative(root, prefix);
  // A folder such as ~/code/thing/bin belongs to a project of the person's; tool chains live in dot folders.
  const isToolchain = way.startsWith('.') && !SHARED_PREFIXES.includes(way);
  return isToolchain ? prefix : real;
}

/** Finds the package that a script belongs to. */
const findPackage = (file: string): string =>
  findModulesAround(file) ??
  findFolderAbove(dirname(file), (folder) => existsSync(join(folder, 'package.json'))) ??
  file;

/**
 * Builds rules that show programs in hidden folders, read-only: programs on the path with the files they need, tool
 * chains, the agent's own, and svc itself.
 * @param hidden folders that are hidden, links resolved
 * @param svc program and arguments that run svc
 * @param written a folder that the run may write, and an earlier one could: targets of links in it are not shown
 */
export function buildProgramRules(options: {
  env: Readonly<Record<string, string>>;
  home: string | null;
  hidden: readonly string[];
  programs: readonly string[];
  svc: readonly string[] | null;
  written: string;
}): MountedPlace[] {
  const { env, home, hidden, programs, svc, written } = options;
  const isWritten = (path: string): boolean =>
    [written, findRealPath(written) ?? written].some((folder) => isInsideFolder(folder, path));
  const isHidden = (path: string): boolean => hidden.some((root) => isInsideFolder(root, path));
  /** Reports whether a folder contains a hidden one; it is never shown, since everything in it would be visible. */
  const showUnlessHiding = (path: string): MountedPlace[] => {
    const real = findRealPath(path);
    if (real === null || hidden.some((root) => isInsideFolder(real, root))) return [];
    return showPath(path, 'read');
  };
  const showWithNeeds = (path: string): MountedPlace[] => {
    const real = findRealPath(path);
    return real === null || !isHidden(real)
      ? showUnlessHiding(path)
      : [...showUnlessHiding(path), ...showUnlessHiding(findInstallation(real, hidden))];
  };
  const folders = (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isWritten(folder) && isFolder(folder));
  const named = NAMED_BY.flatMap((name) => env[name] ?? []).filter((path) => isAbsolute(path));
  const [node, script] = svc ?? [];
  return [
    ...folders.flatMap((folder) => [
      ...showWithNeeds(folder),
      ...findLinkTargets(folder, isHidden).flatMap(showWithNeeds),
    ]),
    ...(home === null ? [] : IN_HOME.flatMap((path) => showUnlessHiding(join(home, path)))),
    ...named.flatMap(showUnlessHiding),
    ...programs.filter((path) => !isWritten(path)).flatMap(showWithNeeds),
    ...(node === undefined || !isAbsolute(node) ? [] : showWithNeeds(node)),
    ...(script === undefined || !isAbsolute(script)
      ? []
      : showUnlessHiding(findPackage(findRealPath(script) ?? script))),
  ];
}

function listFolderEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // it may be used by name only
  }
}

/** Finds targets of links in a folder of programs that are hidden too. */
function findLinkTargets(folder: string, isHidden: (path: string) => boolean): string[] {
  if (!isHidden(findRealPath(folder) ?? folder)) return [];
  const found = new Set<string>();
  for (const entry of listFolderEntries(folder)) {
    const real = entry.isSymbolicLink() ? findRealPath(join(folder, entry.name)) : null;
    if (real !== null && isHidden(real)) found.add(real);
  }
  return [...found];
}
