// Writes the declarations that the public one refers to, as part of the build: two files, since an installation writes
// hundreds of small ones slowly. Does nothing while they are up to date.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const SOURCE = join(ROOT, 'dist/engine');
const TARGET = join(ROOT, 'dist/types');
const PUBLIC = join(SOURCE, 'index.d.ts');
const IMPORT = /(\b(?:from|import)\s*\(?\s*["'])(\.[^"']+)\.tsx?(["'])/g;
const { name } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Returns the time of the newest of these files; 0 if none exists. */
const timeOf = (...paths) =>
  Math.max(...paths.map((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0));

/** Returns the name under which a declaration can be imported. */
const nameModule = (file) => `${name}/${relative(SOURCE, file).replace(/\.d\.ts$/, '')}`;

/** The declared module of each file. */
const modules = new Map();
function addModule(file) {
  if (modules.has(file)) return;
  modules.set(file, '');
  const text = readFileSync(file, 'utf8')
    .replace(IMPORT, (_, before, path, after) => {
      const imported = join(dirname(file), `${path}.d.ts`);
      addModule(imported);
      return `${before}${nameModule(imported)}${after}`;
    })
    // Everything in a declared module is declared.
    .replace(/^(export (?:default )?)?declare /gm, '$1');
  modules.set(file, `declare module '${nameModule(file)}' {\n${text}}\n`);
}

const sources = timeOf(join(ROOT, 'dist/.tsbuildinfo'), fileURLToPath(import.meta.url));
if (timeOf(join(TARGET, 'index.d.ts')) < sources) {
  addModule(PUBLIC);
  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(TARGET, { recursive: true });
  writeFileSync(join(TARGET, 'modules.d.ts'), [...modules.values()].join('\n'));
  // Written last: its time is that of both.
  writeFileSync(
    join(TARGET, 'index.d.ts'),
    `/// <reference path="./modules.d.ts" />\nexport * from '${nameModule(PUBLIC)}';\n`,
  );
}
