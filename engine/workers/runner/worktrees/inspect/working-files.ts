import { type Git, type GitOptions, LOOKUP, NO_DIFF_PROGRAMS, NOT_INSIDE, splitRecords } from '../git/git.ts';
import { compareAllFiles } from '../git/index-flags.ts';
import { isPassableRange } from '../git/refs.ts';

const LONGEST_MS = 60_000;
const MOST_BYTES = 64 * 1024 * 1024;
const ASKED: GitOptions = { ...LOOKUP, timeoutMs: LONGEST_MS, maxBytes: MOST_BYTES };

/**
 * Lists the files below a folder that git tracks or would add, relative to it, with `/`. A folder with a trailing
 * slash is another repository inside. Null outside of a repository, and if git could not answer.
 * @param ignored lists ignored files instead, a wholly ignored folder once
 */
export async function listWorkingFiles(
  folder: string,
  git: Git,
  { ignored = false }: { ignored?: boolean } = {},
): Promise<string[] | null> {
  const which = ignored
    ? ['--others', '--ignored', '--directory']
    : ['--cached', '--others', '--deduplicate'];
  const { code, stdout, truncated } = await git.run(
    folder,
    ['ls-files', '-z', ...which, '--exclude-standard'],
    ASKED,
  );
  if (code !== 0) return null;
  const paths = splitRecords(stdout);
  // The last one may have been cut in two.
  return truncated ? paths.slice(0, -1) : paths;
}

/** Selects the files for which a .gitattributes sets one of the attributes to true; paths as in `listWorkingFiles`. */
export async function listAttributedFiles(
  folder: string,
  git: Git,
  { attributes, paths }: { attributes: readonly string[]; paths: readonly string[] },
): Promise<Map<string, string>> {
  const { stdout } = await git.run(folder, ['check-attr', '--stdin', '-z', ...attributes], {
    ...ASKED,
    maxBytes: 4 * MOST_BYTES,
    input: paths.map((path) => `${path}\0`).join(''),
  });
  const found = new Map<string, string>();
  const fields = stdout.split('\0');
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', attribute = '', value = ''] = fields.slice(at, at + 3);
    if (value === 'set' || value === 'true') found.set(path, attribute);
  }
  return found;
}

/**
 * Lists the files below a folder that differ between two commits (`a..b`, `a...b`), or between HEAD and the current
 * files, new ones included; null if git cannot tell, as for an unknown commit.
 */
export async function listChangedFiles(
  folder: string,
  git: Git,
  range: string | null,
): Promise<string[] | null> {
  const args = ['diff', '--name-only', '--no-renames', '--relative', ...NO_DIFF_PROGRAMS, NOT_INSIDE, '-z'];
  if (range !== null && !isPassableRange(range)) return null;
  const diff = await compareAllFiles(git, folder, ASKED, (asked) =>
    git.run(folder, [...args, range ?? 'HEAD', '--'], asked),
  );
  if (diff.code !== 0) return null;
  const changed = splitRecords(diff.stdout);
  if (range !== null) return changed;
  const fresh = await git.run(folder, ['ls-files', '-z', '--others', '--exclude-standard'], ASKED);
  return [...changed, ...splitRecords(fresh.stdout)];
}
