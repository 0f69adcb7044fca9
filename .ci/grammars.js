// Copies the grammars that the program loads from node_modules next to the built programs, as part of the build.
// Fails if one differs from the pinned file.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GRAMMARS_FOLDER } from '../dist/engine/core/base/own-package.js';
import { GRAMMAR_FILES } from '../dist/engine/knowledge/sources/grammar-files.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const TARGET = join(ROOT, GRAMMARS_FOLDER);

mkdirSync(TARGET, { recursive: true });
for (const [language, { from, sha256 }] of Object.entries(GRAMMAR_FILES)) {
  const source = join(ROOT, 'node_modules', from);
  const target = join(TARGET, `${language}.wasm`);
  const { size, mtimeMs } = statSync(source);
  const copied = statSync(target, { throwIfNoEntry: false });
  if (copied?.size === size && copied.mtimeMs >= mtimeMs) continue;
  const found = createHash('sha256').update(readFileSync(source)).digest('hex');
  if (found !== sha256) throw new Error(`${from} has the hash ${found}; grammar-files.ts expects ${sha256}`);
  copyFileSync(source, target);
}
