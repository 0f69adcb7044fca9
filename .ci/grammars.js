// Compresses the grammars that the program loads from node_modules next to the built programs, as part of the build.
// Fails if one differs from the pinned file.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { GRAMMARS_FOLDER, locateGrammar } from '../dist/engine/core/base/own-package.js';
import { GRAMMAR_FILES } from '../dist/engine/knowledge/sources/grammar-files.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const TARGET = join(ROOT, GRAMMARS_FOLDER);

mkdirSync(TARGET, { recursive: true });
const written = new Set();
for (const [language, { from, sha256 }] of Object.entries(GRAMMAR_FILES)) {
  const source = join(ROOT, 'node_modules', from);
  const target = locateGrammar(language);
  written.add(target);
  const made = statSync(target, { throwIfNoEntry: false });
  if (made !== undefined && made.mtimeMs >= statSync(source).mtimeMs) continue;
  const bytes = readFileSync(source);
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== sha256) throw new Error(`${from} has the hash ${found}; grammar-files.ts expects ${sha256}`);
  writeFileSync(`${target}.new`, gzipSync(bytes, { level: 9 }));
  renameSync(`${target}.new`, target);
}
for (const name of readdirSync(TARGET)) if (!written.has(join(TARGET, name))) rmSync(join(TARGET, name));
