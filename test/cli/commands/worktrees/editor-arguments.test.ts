import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listEditorArguments } from '../../../../cli/commands/worktrees/editor-arguments.ts';

test('an editor gets the line in its own convention, for any arguments and path of its command', () => {
  const told: Record<string, string[]> = {
    vi: ['+12', '/w/a.ts'],
    '/usr/bin/nvim -p': ['+12', '/w/a.ts'],
    'emacsclient -t': ['+12', '/w/a.ts'],
    'code --wait': ['--goto', '/w/a.ts:12'],
    '"/opt/my tools/cursor" --wait': ['--goto', '/w/a.ts:12'],
    hx: ['/w/a.ts:12'],
    'subl -w': ['/w/a.ts:12'],
    'idea --wait': ['--line', '12', '/w/a.ts'],
    'my-own-editor': ['/w/a.ts'],
    '': ['/w/a.ts'],
  };
  for (const [editor, words] of Object.entries(told))
    assert.deepEqual(listEditorArguments(editor, '/w/a.ts', 12), words, editor);
});
