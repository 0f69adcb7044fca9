// Finds out if the programs of dist/bin have to be bundled again before compiled tests run.
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Finds the file of a bundled program; a module that imports it may start one. */
const LOCATES = 'locateProgram';
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]+)['"]/g;

/** Returns a function that finds out if a compiled file, or one that it imports, may start a bundled program. */
function createProgramFinder() {
  const known = new Map();
  return function mayStartPrograms(file) {
    const before = known.get(file);
    if (before !== undefined) return before;
    // Files outside an import cycle decide its result.
    known.set(file, false);
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const imported = [...text.matchAll(IMPORT)].map(([, path]) => join(dirname(file), path));
    const found =
      (text.includes(LOCATES) && !file.endsWith('own-package.js')) || imported.some(mayStartPrograms);
    known.set(file, found);
    return found;
  };
}

/** Returns true when a source is newer than the file that the bundle writes last. */
export function areProgramsStale() {
  const last = join(ROOT, 'dist/bin/THIRD-PARTY.txt');
  if (!existsSync(last)) return true;
  const since = statSync(last).mtimeMs;
  const sources = globSync(
    ['dist/{engine,cli,tui}/**/*.js', '.ci/{bundle,notices}.js', 'package-lock.json'],
    {
      cwd: ROOT,
    },
  );
  return sources.some((path) => statSync(join(ROOT, path)).mtimeMs > since);
}

/** @param files compiled tests, absolute */
export const needsPrograms = (files) => areProgramsStale() && files.some(createProgramFinder());
