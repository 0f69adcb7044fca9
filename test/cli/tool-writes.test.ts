import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCall } from '../../cli/hooks/tool-call.ts';

const plan = (input: unknown, tool = 'Write') =>
  readCall(JSON.stringify({ cwd: '/w', tool_name: tool, tool_input: input }), '/').planned;

test('a planned write is read from the tool call of each agent', () => {
  assert.deepEqual(plan({ file_path: 'a.ts', content: 'x' }), [{ path: '/w/a.ts', text: 'x' }]);
  assert.deepEqual(plan({ path: '/w/a.ts', file_text: 'x' }), [{ path: '/w/a.ts', text: 'x' }]);
  const edit = [{ path: '/w/a.ts', edits: [{ old: 'a', new: 'b', all: false }] }];
  assert.deepEqual(plan({ file_path: 'a.ts', old_string: 'a', new_string: 'b' }, 'Edit'), edit);
  assert.deepEqual(plan({ filePath: 'a.ts', oldString: 'a', newString: 'b' }, 'edit'), edit);
  assert.deepEqual(plan({ path: 'a.ts', old_str: 'a', new_str: 'b' }, 'str_replace'), edit);
  assert.deepEqual(plan({ path: 'a.ts', edit: { old: 'a', new: 'b' } }, 'StrReplaceFile'), edit);
  assert.deepEqual(plan({ path: 'a.ts', content: 'x', mode: 'append' }, 'WriteFile'), [
    { path: '/w/a.ts', edits: [{ old: '', new: 'x', all: false }] },
  ]);
  assert.deepEqual(
    plan(
      { file_path: 'a.ts', edits: [{ old_string: 'a', new_string: 'b', replace_all: true }, 5] },
      'MultiEdit',
    ),
    [{ path: '/w/a.ts', edits: [{ old: 'a', new: 'b', all: true }] }],
  );
});

test('a patch lists what it adds, changes, moves and removes in each file', () => {
  const patch = `*** Begin Patch
*** Add File: new.ts
+one
+two
*** Update File: old.ts
*** Move to: moved.ts
@@ function f
 before
-gone
+come
 after
@@
-x
+y
*** Delete File: bad.ts
*** End Patch`;
  const expected = [
    { path: '/w/new.ts', text: 'one\ntwo\n' },
    {
      path: '/w/moved.ts',
      edits: [
        { old: 'before\ngone\nafter\n', new: 'before\ncome\nafter\n', all: false },
        { old: 'x\n', new: 'y\n', all: false },
      ],
    },
    { path: '/w/old.ts', removed: true },
    { path: '/w/bad.ts', removed: true },
  ];
  assert.deepEqual(plan({ command: patch }, 'apply_patch'), expected);
  assert.deepEqual(plan({ command: ['apply_patch', patch] }, 'apply_patch'), expected);
  assert.deepEqual(plan(patch, 'apply_patch'), expected);
  assert.deepEqual(plan({ command: `cd src && apply_patch <<'EOF'\n${patch}\nEOF` }, 'Bash'), expected);
});

test('a call without a text plans no write', () => {
  for (const input of [
    {},
    { path: 'a.ts' },
    { file_path: 'a.ts', content: 5 },
    'rm -rf x',
    null,
    [],
    { content: 'x' },
  ])
    assert.deepEqual(plan(input), []);
});
