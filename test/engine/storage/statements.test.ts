import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

test('a bound LIMIT is written so that its statement is compiled once', () => {
  const engine = fileURLToPath(new URL('../../../engine', import.meta.url));
  const bare = readdirSync(engine, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .filter((name) => /LIMIT [?@:]/.test(readFileSync(join(engine, name), 'utf8')));
  assert.deepEqual(bare, [], 'write LIMIT +? (AGENTS.md, The traps)');
});
