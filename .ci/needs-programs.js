// Tells whether the bundled programs of dist/bin have to be made again before these compiled tests run.
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
/** Finds the file of a bundled program; whoever imports it may start one. */
const LOCATES = 'locateProgram';
const IMPORT = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.[^'"]+)['"]/g;

/** Whether a compiled file, or one that it imports, may start a bundled program. */
function createProgramFinder() {
  const known = new Map();
  return function mayStartPrograms(file) {
    const before = known.get(file);
    if (before !== undefined) return before;
    // A circle of imports is answered by the files outside of it.
    known.set(file, false);
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const imported = [...text.matchAll(IMPORT)].map(([, path]) => join(dirname(file), path));
    const found =
      (text.includes(LOCATES) && !file.endsWith('own-package.js')) || imported.some(mayStartPrograms);
    known.set(file, found);
    return found;
  };
}

/** Whether a source of the programs was compiled after they were bundled. */
function areProgramsStale() {
  const main = join(ROOT, 'dist/bin/svc.js');
  if (!existsSync(main)) return true;
  const since = statSync(main).mtimeMs;
  const sources = globSync(['dist/{engine,cli,tui}/**/*.js', '.ci/bundle.js', 'npm-shrinkwrap.json'], {
    cwd: ROOT,
  });
  return sources.some((path) => statSync(join(ROOT, path)).mtimeMs > since);
}

/** @param files compiled tests, absolute */
export const needsPrograms = (files) => areProgramsStale() && files.some(createProgramFinder());
