import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CODES, isErrorCode, toExitCode, toHttpStatus } from '../../engine/core/base/errors.ts';
import { catalogues } from '../../engine/index.ts';
import { runHere } from '../support/workspaces/command-line.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));

/** The rows of docs/reference/errors.md, as cells. */
const documented = readFileSync(join(PROJECT, 'docs/reference/errors.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.replaceAll('\\|', '|')),
  );

const { ERROR_MEANINGS, SESSION_FAILURES } = await catalogues();

test('every code has its own meaning and next step', () => {
  assert.deepEqual(Object.keys(ERROR_MEANINGS).sort(), Object.keys(CODES).sort());
  for (const table of [ERROR_MEANINGS, SESSION_FAILURES]) {
    for (const [code, { means, next }] of Object.entries(table)) {
      assert.ok(means.split(' ').length >= 4, `${code}: ${means}`);
      assert.ok(next.length > 0, code);
      for (const text of [means, next]) assert.match(text, /^[^\sA-Z].*[^\s.]$|^SVC/, `${code}: ${text}`);
      assert.notEqual(means, next, code);
    }
    const meanings = Object.values(table).map(({ means }) => means);
    assert.deepEqual(
      meanings.filter((means, at) => meanings.indexOf(means) !== at),
      [],
      'two codes with the same meaning must be one',
    );
  }
});

test('docs/reference/errors.md is generated from both tables, in their order', () => {
  const rows = documented.filter(([code = '']) => code !== '');
  const errors = Object.keys(CODES)
    .filter(isErrorCode)
    .map((code) => {
      const { means, next } = ERROR_MEANINGS[code];
      return [`\`${code}\``, `${toHttpStatus(code)}`, `${toExitCode(code)}`, means, next];
    });
  const failures = Object.entries(SESSION_FAILURES).map(([code, { means, next }]) => [
    `\`${code}\``,
    means,
    next,
  ]);
  assert.deepEqual(
    rows.map((row) => (row.length === errors[0]?.length ? row : row.slice(0, 3))),
    [...errors, ...failures],
  );
});

test('svc help explains a code', async () => {
  const around = { cwd: '/', env: {}, input: '' };
  const held = await runHere(['help', 'lock_held'], around);
  assert.equal(held.code, 0);
  assert.ok(held.stdout.startsWith(`lock_held: ${ERROR_MEANINGS.lock_held.means}\n`), held.stdout);
  assert.match(held.stdout, /\nHTTP 409, exit code 5\n$/);
  const lost = await runHere(['help', 'lost'], around);
  assert.ok(lost.stdout.startsWith(`of a session: ${SESSION_FAILURES.lost.means}\n`), lost.stdout);
  assert.equal((await runHere(['help', 'no_such_code'], around)).code, 2);
});
