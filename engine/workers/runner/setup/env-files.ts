import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { isInsideFolder } from '../../../core/base/paths.ts';

export interface EnvFiles {
  /** Relative to both folders. */
  files: readonly string[];
  /** The project's folder. */
  from: string;
  /** The same folder in the worktree. */
  to: string;
  /** A folder in the worktree that git ignores. */
  scratch: string;
  /** Reports whether git ignores the file there, so that it is never committed. */
  isIgnored(file: string): Promise<boolean>;
}

/** Copies the files that can be copied and returns the reason for each other one. Nothing is ever overwritten. */
export async function copyEnvFiles(wanted: EnvFiles): Promise<{ file: string; why: string }[]> {
  const left: { file: string; why: string }[] = [];
  for (const file of wanted.files) {
    const why = await copyEnvFile(wanted, normalize(file)).catch(
      (error: NodeJS.ErrnoException) => error.code ?? error.message,
    );
    if (why !== null) left.push({ file, why });
  }
  return left;
}

/** Copies one file; returns why not, or null if it was copied. */
async function copyEnvFile({ from, to, scratch, isIgnored }: EnvFiles, file: string): Promise<string | null> {
  if (!existsSync(join(from, file))) return 'the project does not have it';
  const source = realpathSync(join(from, file));
  if (!isInsideFolder(realpathSync(from), source)) return 'it leads out of the project';
  const { mode } = statSync(source);
  if (!statSync(source).isFile()) return 'it is not a file';
  if (!makeFolderInside(to, dirname(file))) return 'its folder leads out of the worktree';
  const target = join(to, file);
  if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) return 'it already exists';
  if (!(await isIgnored(file))) return 'git does not ignore it there, so it would be committed';
  // Completely or not at all, and without replacing a file that has appeared since.
  const draft = join(scratch, 'env-file');
  rmSync(draft, { force: true });
  try {
    copyFileSync(source, draft);
    chmodSync(draft, (mode & 0o777) | 0o600);
    linkSync(draft, target);
  } finally {
    rmSync(draft, { force: true });
  }
  return null;
}

/** Creates the folder step by step. False if a link on the way leads out of `top`. */
function makeFolderInside(top: string, folder: string): boolean {
  const inside = realpathSync(top);
  let at = top;
  for (const part of folder.split(sep)) {
    at = join(at, part);
    if (lstatSync(at, { throwIfNoEntry: false }) === undefined) mkdirSync(at, { mode: 0o755 });
    if (!isInsideFolder(inside, realpathSync(at))) return false;
  }
  return true;
}
