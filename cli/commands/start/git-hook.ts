import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { writeFileAtomically } from '../../../engine/core/base/atomic-file.ts';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { isInsideFolder } from '../../../engine/core/base/paths.ts';
import { readProgram } from '../../../engine/core/base/run-program.ts';
import { quoteForShell } from '../../../engine/core/base/text.ts';
import { SVC } from '../../self.ts';

/** The result of installing or removing the hook. */
export interface HookReport {
  /** The file that git runs before a commit. */
  hook: string;
  state: 'installed' | 'renewed' | 'there already';
  /** Every svc.yaml whose locks it checks. */
  workspaces: string[];
}

/** The repository that a hook belongs to. */
export interface HookPlace {
  /** The file, absolute. */
  hook: string;
  /** Top folder of the checkout, and of the repository's main one; they differ in a worktree. */
  top: string;
  mainTop: string;
}

const MARK = 'Made by svc init --hooks';
const CALL = /^check '((?:[^']|'\\'')*)'$/gm;

/** Finds where git looks for the hook. Worktrees share it, and `core.hooksPath` moves it. Throws `not_a_repository`. */
export async function findGitHook(cwd: string, env: NodeJS.ProcessEnv): Promise<HookPlace> {
  const readHookGit = async (folder: string, ...args: string[]): Promise<string> =>
    (await readProgram('git', args, { cwd: folder, env })).replace(/\n$/, '');
  try {
    const top = await readHookGit(cwd, 'rev-parse', '--show-toplevel');
    // A relative core.hooksPath is relative to where hooks run: the top folder.
    const hooks = resolve(top, await readHookGit(top, 'rev-parse', '--git-path', 'hooks'));
    const common = resolve(top, await readHookGit(top, 'rev-parse', '--git-common-dir'));
    const mainTop = common.endsWith(`${sep}.git`) ? dirname(common) : top;
    return { hook: join(hooks, 'pre-commit'), top, mainTop };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new SvcError('tool_missing', 'git was not found on PATH', { cause: error });
    throw new SvcError('not_a_repository', `${cwd} is not in a git repository with files`, {
      cause: error,
      hint: 'run it inside the repository whose commits are to be checked',
    });
  }
}

/** Returns the svc.yaml that a hook names; for a worktree's copy, the svc.yaml of the main checkout. */
export function findLastingFile(file: string, { top, mainTop }: HookPlace): string {
  if (top === mainTop || !isInsideFolder(top, file)) return file;
  const lasting = join(mainTop, relative(top, file));
  return statSync(lasting, { throwIfNoEntry: false })?.isFile() ? lasting : file;
}

/** Formats the hook's line for one workspace. Only a denial stops the commit. */
const formatHookLine = (file: string): string =>
  `SVC_CONFIG=${quoteForShell(file)} ${quoteForShell(process.execPath)} ${quoteForShell(SVC)} lock check --staged || [ $? -ne 3 ] || exit 1`;

const writeHookScript = (files: readonly string[]): string => `#!/bin/sh
# ${MARK}: refuses commits to paths that someone else has locked.
check() {
  # A removed workspace has no locks.
  [ -f "$1" ] || return 0
  SVC_CONFIG="$1" ${quoteForShell(process.execPath)} ${quoteForShell(SVC)} lock check --staged
  code=$?
  [ "$code" -ne 3 ] || exit 1
  [ "$code" -eq 0 ] || echo "svc: the locks of $1 were not checked (exit code $code); svc init --hooks renews this hook" >&2
}
${files.map((file) => `check ${quoteForShell(file)}`).join('\n')}
exit 0
`;

/**
 * Reads the existing hook before anything is written. Throws `exists` for a foreign hook, which stays unchanged; the
 * hint has the line to add to it.
 */
export function planGitHook({ hook }: HookPlace, file: string): () => HookReport {
  const present = readIfThere(hook);
  if (present !== null && !present.includes(MARK)) {
    const workspaces = [file];
    if (present.includes('lock check --staged')) return () => ({ hook, state: 'there already', workspaces });
    throw new SvcError('exists', `${hook} is your own hook and stays unchanged`, {
      hint: `add this line to it: ${formatHookLine(file)}`,
      data: { hook, line: formatHookLine(file) },
    });
  }
  const before = [...(present ?? '').matchAll(CALL)].map(([, path = '']) => path.replaceAll("'\\''", "'"));
  const kept = before.filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
  const workspaces = [...new Set([...kept, file])];
  const text = writeHookScript(workspaces);
  return () => {
    mkdirSync(dirname(hook), { recursive: true });
    if (present === null) {
      createFile(hook, text);
      return { hook, state: 'installed', workspaces };
    }
    if (present === text) chmodSync(hook, 0o755);
    // Replaced atomically, since git may be about to run it.
    else writeFileAtomically(hook, text, { mode: 0o755, isModeExact: true });
    return { hook, state: present === text ? 'there already' : 'renewed', workspaces };
  };
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Creates the hook; fails if one has been created in the meantime. */
function createFile(file: string, text: string): void {
  try {
    writeFileSync(file, text, { flag: 'wx', mode: 0o755 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new SvcError('exists', `${file} exists already`, { hint: 'try again' });
  }
  chmodSync(file, 0o755);
}
