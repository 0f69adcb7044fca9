// Bundles the programs into dist/bin as part of the build: one file per program plus shared files, including their
// packages, so that a start reads a dozen files instead of hundreds. Fails on every warning; does nothing while
// dist/bin is up to date.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { PROGRAMS, PROGRAMS_FOLDER } from '../dist/engine/core/base/own-package.js';
import { redirectInkImport } from '../dist/tui/text/ink-imports.js';
import { areProgramsStale } from './needs-programs.js';
import { renderNotices } from './notices.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const TARGET = join(ROOT, PROGRAMS_FOLDER);

/** Written last, so its time is the bundle's. */
const NOTICES = 'THIRD-PARTY.txt';
/** Packages with native code, or that load files or packages at run time. */
const NOT_BUNDLED = ['better-sqlite3', 'koffi', 'web-tree-sitter'];

/** Edits of packages whose modules do slow work when they are loaded, which few runs need, or wait. Each must apply. */
const FASTER_STARTS = [
  {
    module: /\/node_modules\/.*\.js$/,
    from: /^const (\w+) = new Intl\.Segmenter\((?:undefined, \{ ?granularity: ['"]grapheme['"],? ?\})?\);$/gm,
    to: `import { createSegmenter } from ${JSON.stringify(join(ROOT, 'tui/text/segmenter.ts'))};\nconst $1 = createSegmenter();`,
  },
  {
    // Half a millisecond, for a check of its options.
    module: /\/sonic-boom\/index\.js$/,
    from: /^const assert = require\('assert'\)$/gm,
    to: 'const assert = (isTrue, message) => { if (!isTrue) throw new Error(message) }',
  },
  {
    // Our logs are written by the own thread.
    module: /\/pino\/lib\/transport\.js$/,
    from: /^const ThreadStream = require\('thread-stream'\)$/gm,
    to: '',
  },
  {
    module: /\/pino\/lib\/tools\.js$/,
    from: /^const \{ isMainThread \} = require\('worker_threads'\)$/gm,
    to: 'const isMainThread = true',
  },
  {
    // Creating this expression takes 2 ms, and its first use another one.
    module: /\/string-width\/index\.js$/,
    from: /^const rgiEmojiRegex = (.*);$/gm,
    to: 'let rgiEmoji; const rgiEmojiRegex = { test: (text) => (rgiEmoji ??= $1).test(text) };',
  },
  {
    // Its code is inside the module: without `fetch`, which takes 20 ms to load, it is decoded immediately.
    module: /\/yoga-wasm-base64-esm\.js$/,
    from: /if\(h\.instantiateWasm\)try\{return h\.instantiateWasm\(d,\s*a\)\}/g,
    to: 'try{return a(new WebAssembly.Instance(new WebAssembly.Module(wa()),d)),{}}',
  },
  {
    // Looks for its debugger.
    module: /\/ink\/build\/reconciler\.js$/,
    from: /^if \(process\.env\['DEV'\] === 'true'\) \{$[\s\S]*?^\}$/gm,
    to: '',
  },
  {
    module: /\/yoga-layout\/dist\/src\/index\.js$/,
    from: /^const Yoga = wrapAssembly\(await loadYoga\(\)\);$/gm,
    to: 'const loaded = {}; loadYoga(loaded); const Yoga = wrapAssembly(loaded);',
  },
];

/** Replaced by a hash of all files that the build writes. */
const BUILD = '@build@';

/** A file of one byte per character is read faster, and takes half of the memory. */
const escapeNonAscii = (code) =>
  code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

async function bundlePrograms() {
  /** Modules that replaced imports of Ink. */
  const redirected = new Set();
  /** Edits of `FASTER_STARTS` that were applied. */
  const edited = new Set();

  const bundle = await rolldown({
    input: Object.fromEntries(Object.entries(PROGRAMS).map(([name, module]) => [name, join(ROOT, module)])),
    cwd: ROOT,
    platform: 'node',
    // By default CommonJS entry points win, and some of those require modules that are known only at run time.
    resolve: { mainFields: ['module', 'main'] },
    external: NOT_BUNDLED,
    transform: {
      target: 'node22.22',
      define: {
        // React chooses between its two builds by this.
        'process.env.NODE_ENV': '"production"',
        // ws would look for optional native code.
        'process.env.WS_NO_BUFFER_UTIL': '"1"',
        'process.env.WS_NO_UTF_8_VALIDATE': '"1"',
        // Of browsers; Node 26 warns about it, on the terminal of a person.
        localStorage: 'undefined',
        'process.env.SVC_BUILD': JSON.stringify(BUILD),
      },
    },
    plugins: [
      {
        name: 'ink-imports',
        resolveId: (specifier, importer) => {
          const module = redirectInkImport(specifier, importer);
          if (module === null) return null;
          redirected.add(module);
          return join(ROOT, 'tui/text', `${module}.ts`);
        },
      },
      {
        name: 'faster-starts',
        transform(code, id) {
          let changed = code;
          for (const edit of FASTER_STARTS) {
            if (!edit.module.test(id)) continue;
            const before = changed;
            changed = changed.replace(edit.from, edit.to);
            if (changed !== before) edited.add(edit);
          }
          return changed === code ? null : { code: changed, map: null };
        },
      },
    ],
    onLog(_level, { message }) {
      throw new Error(message);
    },
  });
  const { output } = await bundle.generate({
    // Such files can be run with compiled code that was kept (engine/core/base/load-program.ts).
    format: 'cjs',
    strict: true,
    dynamicImportInCjs: false,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    codeSplitting: {
      groups: [
        // Loaded before the compile cache is enabled, so small and separate.
        { name: 'compile-cache', test: /engine\/core\/base\/compile-cache\.ts$/, priority: 4 },
        // Each with all its imports as one file, because these start most often: first what the supervisor shares,
        // then what the hook shares, then what every command needs.
        { name: 'base', test: /engine\/core\/(?:base\/backoff|workspace\/data-folder)\.ts$/, priority: 3 },
        { name: 'hook', test: /cli\/hooks\/run\.ts$/, priority: 2 },
        { name: 'command', test: /cli\/main\.ts$/, priority: 1 },
      ],
    },
  });
  await bundle.close();
  if (redirected.size < 2)
    throw new Error('Ink no longer imports the modules that tui/text/ink-imports.ts redirects');
  for (const each of FASTER_STARTS)
    if (!edited.has(each)) throw new Error(`${each.module} no longer contains ${each.from}`);
  for (const { fileName, code = '' } of output) {
    const [bad] = [...code.matchAll(/(?<!as )\b__require(?:[,)]|\("([^"]+)"\))/g)].filter(
      ([, name = '']) => !isBuiltin(name),
    );
    if (bad !== undefined) throw new Error(`${fileName} would require a missing module: ${bad[0]}`);
  }

  const packages = output.flatMap(({ moduleIds = [] }) =>
    moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []),
  );
  const notices = renderNotices(packages);

  mkdirSync(TARGET, { recursive: true });
  const files = output.map(({ fileName, code }) => ({ name: fileName, code: escapeNonAscii(code) }));
  const hash = createHash('sha256');
  for (const { code } of files) hash.update(code);
  const build = hash.digest('hex');
  for (const { name, code } of files) writeFileSync(join(TARGET, name), code.replace(BUILD, build));
  writeFileSync(join(TARGET, 'package.json'), '{ "type": "commonjs" }\n');

  // Removed after the new files exist, because a program may be starting.
  const written = new Set([NOTICES, 'package.json', ...output.map(({ fileName }) => fileName)]);
  for (const name of readdirSync(TARGET)) if (!written.has(name)) rmSync(join(TARGET, name));
  writeFileSync(join(TARGET, NOTICES), notices);
}

if (areProgramsStale()) {
  console.error('bundling the programs into dist/bin …');
  await bundlePrograms();
}
