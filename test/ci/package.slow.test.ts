import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  locateGrammar,
  locateProgram,
  locateWords,
  PROGRAMS,
  type ProgramName,
} from '../../engine/core/base/own-package.ts';
import { GRAMMAR_FILES } from '../../engine/knowledge/sources/grammar-files.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');
const jsonIn = <T>(path: string): T => JSON.parse(read(path)) as T;

const own = jsonIn<{
  name: string;
  bin: Record<string, string>;
  exports: { '.': Record<string, string> };
  scripts: Record<string, string>;
}>('package.json');

const MB = 1_000_000;
/** Limits of the package: 10.6 MB, 22.0 MB and 376 files when they were set. Many files are slow to install. */
const MOST_PACKED = 12 * MB;
const MOST_UNPACKED = 24 * MB;
const MOST_FILES = 450;

// No npm-shrinkwrap.json: npm would install all that it lists, also for development and for other systems (2.5 GB).
const ALLOWED = [
  /^(?:LICENSE|README\.md|package\.json|svc\.yaml\.example)$/,
  /^dist\/bin\/(?:[\w.-]+\.js|package\.json|THIRD-PARTY\.txt)$/,
  /^dist\/grammars\/\w+\.wasm\.gz$/,
  /^dist\/types\/(?:index|modules)\.d\.ts$/,
  /^dist\/words\/(?:english\.vectors|synonyms\.txt)$/,
  /^docs\/[\w/-]+(?:\.(?:md|svg|png|rb|nix|(?:schema\.)?json)|\/Containerfile)$/,
];

/** Returns what npm would pack of the built program. */
function listPacked(): { size: number; unpackedSize: number; files: string[] } {
  const words = ['pack', '--dry-run', '--json', '--ignore-scripts'];
  const text = execFileSync('npm', words, {
    cwd: PROJECT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [packed] = JSON.parse(text) as [
    { size: number; unpackedSize: number; files: readonly { path: string }[] },
  ];
  return { ...packed, files: packed.files.map(({ path }) => path) };
}

test('the package has every part that runs and its licences, nothing else, and is small', () => {
  const { size, unpackedSize, files } = listPacked();
  const parts = [
    ...(Object.keys(PROGRAMS) as ProgramName[]).map(locateProgram),
    ...Object.keys(GRAMMAR_FILES).map(locateGrammar),
    ...(['synonyms.txt', 'english.vectors'] as const).map(locateWords),
  ].map((path) => relative(PROJECT, path));
  const needed = [
    ...parts,
    ...[...Object.values(own.bin), ...Object.values(own.exports['.'])].map((path) => join(path)),
    ...['LICENSE', 'dist/bin/THIRD-PARTY.txt', 'docs/README.md'],
  ];
  assert.deepEqual(
    needed.filter((path) => !files.includes(path)),
    [],
    'needed and missing',
  );
  assert.deepEqual(
    files.filter((path) => !ALLOWED.some((pattern) => pattern.test(path))),
    [],
    'packed and not needed',
  );
  assert.ok(size < MOST_PACKED, `${size} bytes packed`);
  assert.ok(unpackedSize < MOST_UNPACKED, `${unpackedSize} bytes unpacked`);
  assert.ok(files.length < MOST_FILES, `${files.length} files`);
});

test('an installation gets the tested version of every package that runs', () => {
  // An archive has no lock file, so a package that runs may not bring others, except by an exact version.
  const { packages } = jsonIn<{
    packages: Record<
      string,
      {
        dev?: boolean;
        optional?: boolean;
        dependencies?: Record<string, string>;
        optionalDependencies?: Record<string, string>;
      }
    >;
  }>('package-lock.json');
  const loose = Object.entries(packages)
    .filter(([, { dev }]) => !dev)
    .flatMap(([path, { dependencies, optionalDependencies }]) =>
      Object.entries({ ...dependencies, ...optionalDependencies })
        .filter(([, range]) => !/^\d[\d.]*$/.test(range))
        .map(([name, range]) => `${path}: ${name} ${range}`),
    );
  // Only headers, for compiling the addon.
  assert.deepEqual(loose, ['node_modules/better-sqlite3: node-addon-api ^8.0.0']);
});

test('an installation runs no script except those of the two packages with prebuilt addons', () => {
  const ofInstall = ['preinstall', 'install', 'postinstall', 'prepare'];
  assert.deepEqual(
    ofInstall.filter((name) => name in own.scripts),
    [],
  );
  const { packages } = jsonIn<{
    packages: Record<string, { dev?: boolean; hasInstallScript?: boolean }>;
  }>('package-lock.json');
  const withScript = Object.entries(packages).filter(([, each]) => each.hasInstallScript && !each.dev);
  // prebuilds.test.ts shows their addons, and package.slow.test.ts runs svc without these scripts.
  assert.deepEqual(
    withScript.map(([path]) => path),
    ['node_modules/better-sqlite3', 'node_modules/koffi'],
  );
});

const NAMED = /\b(?:npx|npm (?:un)?install --global) (?:\.\/|\/package\/)?(svc(?:-[a-z]+)*)/g;

test('the pages name the package as package.json does', () => {
  const found = ['README.md', ...globSync('docs/**/{*.md,Containerfile}', { cwd: PROJECT })].flatMap((page) =>
    [...read(page).matchAll(NAMED)].map(([, name]) => ({ page, name })),
  );
  assert.ok(found.length > 3, 'pages say how to install svc');
  assert.deepEqual(
    found.filter(({ name }) => name !== own.name),
    [],
  );
});
