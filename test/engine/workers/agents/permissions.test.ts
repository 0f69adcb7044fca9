import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  DEFAULT_PERMISSIONS,
  isPermitted,
  parsePermission,
} from '../../../../engine/workers/agents/permissions.ts';

const may = (entries: readonly string[], kind: string, ...paths: (string | null)[]): boolean =>
  isPermitted(entries, { kind, paths });

test('changes inside the worktree need no one by default, and commands and paths outside do', () => {
  const may_ = (kind: string, ...paths: (string | null)[]) => may(DEFAULT_PERMISSIONS, kind, ...paths);
  for (const kind of ['read', 'edit', 'move', 'delete', 'search']) {
    assert.ok(may_(kind, 'src/a.ts', 'b'), kind);
    assert.ok(!may_(kind, 'src/a.ts', null), `${kind} outside`);
  }
  for (const kind of ['think', 'switch_mode', 'read', 'search']) assert.ok(may_(kind), kind);
  for (const kind of ['execute', 'fetch', 'other', 'unheard_of']) assert.ok(!may_(kind, 'a'), kind);
  // The changed path is unknown.
  for (const kind of ['edit', 'move', 'delete']) assert.ok(!may_(kind), kind);
});

test('an entry may name a folder or a glob, and every path has to be in one of them', () => {
  const entries = ['edit:src/**', 'edit:./docs/', 'edit:*.md', 'execute', 'search:src'];
  for (const path of ['src/a.ts', 'src/b/.hidden', 'docs', 'docs/x/y.md', 'README.md']) {
    assert.ok(may(entries, 'edit', path), path);
  }
  for (const path of ['source/a', 'docs2/a', 'a/README.md', 'README.mdx', '.', 'asrc/x']) {
    assert.ok(!may(entries, 'edit', path), path);
  }
  assert.ok(may(entries, 'edit', 'src/a', 'docs/b'));
  assert.ok(!may(entries, 'edit', 'src/a', 'lib/b'));
  assert.ok(!may(entries, 'read', 'src/a'), 'a kind that is not listed');
  assert.ok(!may(entries, 'search'), 'without a path a restricted entry cannot apply');
  assert.ok(may(entries, 'execute', null), 'a command is not limited to a path');
  assert.ok(may(['edit:a/**/z?.ts'], 'edit', 'a/z1.ts') && may(['edit:a/**/z?.ts'], 'edit', 'a/b/c/z1.ts'));
  assert.ok(!may([], 'read', 'a'));
});

test('an entry that could not be kept is refused', () => {
  assert.deepEqual(parsePermission('edit:./src/'), { kind: 'edit', pattern: 'src' });
  for (const wrong of ['', 'write', 'edit:', 'edit:/etc', 'edit:../x', 'execute:make', 'fetch:a', 'Edit']) {
    assert.throws(() => parsePermission(wrong), { code: 'config_invalid' }, wrong);
  }
});
