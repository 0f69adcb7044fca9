import { existsSync, opendirSync, readdirSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

const swapCase = (text: string): string =>
  text.replace(/\p{L}/gu, (letter) => {
    const lower = letter.toLowerCase();
    return letter === lower ? letter.toUpperCase() : lower;
  });

/** Brings names that a file system without case takes for the same to one spelling; macOS also normalises Unicode. */
export const foldName = (name: string): string => name.normalize('NFC').toLowerCase();

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns a name in a folder that another case would change; undefined without one. Reads no more of it than needed. */
function findCasedName(folder: string): string | undefined {
  try {
    const entries = opendirSync(folder);
    try {
      for (let entry = entries.readSync(); entry !== null; entry = entries.readSync())
        if (swapCase(entry.name) !== entry.name) return entry.name;
    } finally {
      entries.closeSync();
    }
  } catch {
    // Nothing is known of a folder that cannot be read.
  }
  return undefined;
}

/** Reports whether names in a folder that differ only in case are the same file, as on macOS; false if it has no names. */
export function ignoresCase(folder: string): boolean {
  const first = findCasedName(folder);
  if (first === undefined || !existsSync(join(folder, swapCase(first)))) return false;
  // Both may exist.
  const names = new Set(listNames(folder));
  const probe = [...names].find((name) => swapCase(name) !== name && !names.has(swapCase(name)));
  return probe !== undefined && existsSync(join(folder, swapCase(probe)));
}

/** Spells a path below a folder as the file system lists it, where that ignores case. A missing part stays as it is. */
export function spellAsListed(root: string, path: string): string {
  const names = relative(root, path).split(sep);
  let at = root;
  for (const name of names) {
    const listed = listNames(at);
    at = join(
      at,
      listed.includes(name) ? name : (listed.find((each) => foldName(each) === foldName(name)) ?? name),
    );
  }
  return at;
}

/** Returns a path with the spelling of a folder that it is in but for its case. */
export function joinFolder(root: string, path: string): string {
  for (let at = path; at !== dirname(at); at = dirname(at))
    if (at.length === root.length && foldName(at) === foldName(root)) return join(root, relative(at, path));
  return path;
}
