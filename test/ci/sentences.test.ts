import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const sources = ['engine', 'cli', 'tui'].flatMap((folder) =>
  readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name)),
);

/** Nouns that our sentences count, which must allow for one. */
const COUNTED =
  'tasks|decisions|workers|commits|files|messages|sessions|items|tries|times|worktrees|events|keys|alerts|locks|deliveries|paths|criteria|notices|replies|calls|projects';

test('a number agrees with its noun, also when it is one', () => {
  const singular = COUNTED.replace(/(?:ies|s)\b/g, '');
  const counting = new RegExp(
    `\\$\\{[^}]*\\} (?:${COUNTED})\\b|\\b(?:${singular})\\w*\\(e?s\\)(?! known to git)`,
    'g',
  );
  const wrong = sources.flatMap((path) =>
    (readFileSync(join(PROJECT, path), 'utf8').match(counting) ?? []).map((each) => `${path}: ${each}`),
  );
  assert.deepEqual(wrong, [], 'use formatCount of engine/core/base/text.ts');
});
