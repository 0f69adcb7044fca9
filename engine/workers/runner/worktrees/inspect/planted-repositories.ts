import {
  cpSync,
  type Dirent,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { replacePrivate } from '../../../../core/base/private-files.ts';
import { readRegularFile } from '../git/regular-file.ts';

/** Far more entries than a project has; a folder with more is reported. */
const MOST_ENTRIES = 2_000_000;
const LIST = 'repositories.json';
const ASIDE = 'set-aside';

/** Marks that make a folder a repository to git: an entry with this name, in any case, or these three together. */
const isGitMark = (name: string): boolean => name.toLowerCase() === '.git';
const BARE = ['HEAD', 'objects', 'refs'];
/** Without one of these a folder is no longer a bare repository. */
const OF_BARE = ['HEAD', 'config', 'commondir'];

/** Separator between the path of a mark and its target. */
const LEADS = '\0';
const MOST_OF_MARK = 4096;

/** Describes the target of a `.git` file or link: a changed target counts as another one. */
function describeTarget(path: string, entry: Dirent): string {
  if (entry.isDirectory()) return '';
  if (entry.isSymbolicLink()) return `${LEADS}${readlinkSync(path)}`;
  return `${LEADS}${(readRegularFile(path) ?? '').slice(0, MOST_OF_MARK)}`;
}

/** Finds repositories below a folder, relative to it: `.git` entries, and folders that are bare repositories. */
async function findRepositoriesBelow(
  folder: string,
  skipped: string,
): Promise<{ found: string[]; isWhole: boolean }> {
  const found: string[] = [];
  const queue = [folder];
  let looked = 0;
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    const here = at;
    const entries = await readdir(here, { withFileTypes: true }).catch(() => []);
    looked += entries.length;
    if (looked > MOST_ENTRIES) return { found, isWhole: false };
    const names = new Set(entries.map(({ name }) => name));
    if (BARE.every((name) => names.has(name))) found.push(join(relative(folder, here), '.'));
    for (const entry of entries) {
      const path = join(here, entry.name);
      if (isGitMark(entry.name)) found.push(`${relative(folder, path)}${describeTarget(path, entry)}`);
      else if (entry.isDirectory() && path !== skipped) queue.push(path);
    }
  }
  return { found, isWhole: true };
}

/**
 * Records the repositories below a folder, before a run in the folder itself.
 * @param kept the session's own folder
 * @param data the engine's data folder, which is skipped
 */
export async function listRepositories(folder: string, kept: string, data: string): Promise<void> {
  const file = join(kept, LIST);
  // A run that continues another one compares with the record of the first.
  if (existsSync(file)) return;
  mkdirSync(kept, { recursive: true, mode: 0o700 });
  const { found } = await findRepositoriesBelow(folder, data);
  replacePrivate(file, JSON.stringify(found));
}

/**
 * Moves repositories that appeared during a run into the session's own folder, before git is called there. Returns a
 * sentence for each, including those moved by an earlier call.
 */
export async function setAsideRepositories(folder: string, kept: string, data: string): Promise<string[]> {
  const before = readRecorded(join(kept, LIST));
  if (before === null) return [];
  const { found, isWhole } = await findRepositoriesBelow(folder, data);
  const aside = join(kept, ASIDE);
  const told = join(kept, `${ASIDE}.txt`);
  const sentences = readTextOrEmpty(told)
    .split('\n')
    .filter((line) => line !== '');
  const fresh = found.flatMap((mark) => (before.has(mark) ? [] : [mark.split(LEADS)[0] ?? mark]));
  // Outermost first: nested ones move along.
  fresh.sort((one, other) => one.split(sep).length - other.split(sep).length);
  for (const path of fresh) {
    const isBare = path === '.' || path.endsWith(`${sep}.`);
    const names = isBare ? OF_BARE.map((name) => join(path, name)) : [path];
    for (const name of names) {
      const from = join(folder, name);
      const to = join(aside, `${sentences.length + 1}`, name);
      try {
        movePlanted(from, to);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
        sentences.push(
          `${from} would be a git repository there, and could not be moved: ${(error as Error).message}`,
        );
        continue;
      }
      sentences.push(`${from} appeared during the run and would be a git repository: it was moved to ${to}`);
    }
  }
  if (!isWhole) sentences.push(`${folder} is too large to search for new repositories`);
  if (sentences.length > 0) replacePrivate(told, sentences.join('\n'));
  return sentences;
}

function movePlanted(from: string, to: string): void {
  mkdirSync(join(to, '..'), { recursive: true, mode: 0o700 });
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    rmSync(from, { recursive: true, force: true });
  }
}

const readRecorded = (file: string): Set<string> | null =>
  existsSync(file) ? new Set(JSON.parse(readFileSync(file, 'utf8')) as string[]) : null;

const readTextOrEmpty = (file: string): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');
