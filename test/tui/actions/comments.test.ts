import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sentence } from '../../../engine/core/base/sentence.ts';
import { nameKey } from '../../../tui/keymap/name-key.ts';
import {
  type Bench,
  bench,
  commentRow,
  sessionRow,
  showComments,
  showWork,
  trial,
} from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const PATCH = `diff --git a/one.txt b/one.txt
--- a/one.txt
+++ b/one.txt
@@ -1,2 +1,3 @@
 same
-old
+new
+more
@@ -20 +21 @@
-far
+away
diff --git a/two.txt b/two.txt
--- a/two.txt
+++ b/two.txt
@@ -5 +5 @@
-x
+y
`;

/** The diff of s-1 over the whole screen. */
const openDiff = (more: object = {}): Bench =>
  showWork(
    bench(80, 30)
      .data({ sessions: [sessionRow(1, { worktree: '/w/s-1' })] })
      .keys('enter'),
    1,
    {
      patch: { text: PATCH, truncated: false },
      ...more,
    },
  );
const shown = (dash: Bench): string => screenOf(dash.state()).join('\n');
const typed = (dash: Bench, text: string): Bench =>
  dash.keys(...[...text].map((key) => (key === ' ' ? 'space' : key)));

describe('a comment on a line of a diff', () => {
  it('c says that the diff is on its way while it is fetched again, and the cursor stays on its line', () => {
    const dash = openDiff().keys('c', 'j');
    const { details } = dash.state();
    const setDetails = (next: typeof details): void =>
      void dash.send({ type: 'replace', change: (state) => ({ ...state, details: next }) });
    setDetails([]);
    dash.keys('c');
    assert.match(shown(dash), /the diff is still being fetched/);
    setDetails(details);
    assert.match(shown(dash), /▶-old/);
  });

  it('c selects the line, c again starts the comment, and line, side and commit are named', () => {
    const dash = openDiff().keys('c');
    assert.match(shown(dash), /▶ same/);
    typed(dash.keys('j', 'c'), 'why not').keys('enter');
    assert.deepEqual(dash.calls(), [
      {
        operation: 'comment.add',
        input: {
          session: 's-1',
          path: 'one.txt',
          side: 'old',
          line: 2,
          body: 'why not',
          head: 'c'.repeat(40),
        },
      },
    ]);
    assert.equal(dash.state().overlay, null);
    dash.keys('esc');
    assert.doesNotMatch(shown(dash), /▶-old/);
    assert.equal(dash.state().view, 'full');
  });

  it('Ctrl-E continues in the editor, which keeps the saved text', () => {
    const dash = typed(openDiff().keys('c', 'c'), 'first');
    const effect = dash
      .keys('ctrl+e')
      .effects()
      .find((each) => each.do === 'edit');
    assert.ok(effect?.do === 'edit' && effect.text === 'first');
    dash.send({ type: 'edited', effect, text: 'first\n\nsecond\n' });
    assert.deepEqual(
      dash.calls().map(({ input }) => (input as { body: string }).body),
      ['first\n\nsecond'],
    );
    assert.equal(dash.state().overlay, null);
  });

  it('a comment is shown below its line, edited by c and removed by C and y', () => {
    const dash = showComments(openDiff(), 1, [
      commentRow(7, { path: 'one.txt', line: 2, text: 'new', body: 'Say\nwhy.' }),
      commentRow(8, { path: 'one.txt', line: 99, text: 'lost', body: 'Elsewhere.', outdated: true }),
    ]);
    assert.match(shown(dash), /\+new *│? *║?\n.*┃ comment 7 by ada: Say.*\n.*┃ why\./);
    assert.match(shown(dash), /comment 8 on one\.txt:99 by ada \(on an older version\): Elsewhere\./);
    dash.keys(']', 'j', 'j', 'C');
    assert.match(dash.state().armed?.question ?? '', /Remove comment 7 on one\.txt:2\?/);
    dash.keys('y');
    assert.deepEqual(dash.calls(), [{ operation: 'comment.remove', input: { id: 7 } }]);
    assert.ok(
      dash
        .keys('c')
        .effects()
        .some((each) => each.do === 'edit' && each.text === 'Say\nwhy.'),
    );
  });

  it('a comment is refused on a heading, and without a cursor on a visible line', () => {
    const dash = openDiff().keys('}', '}');
    assert.match(shown(dash), /▶── two\.txt/);
    dash.keys('c');
    assert.match(dash.state().message?.text ?? '', /choose a line of a file/);
    showWork(dash, 1, { head: 'd'.repeat(40), patch: { text: PATCH, truncated: false } });
    assert.doesNotMatch(shown(dash), /▶/);
    assert.deepEqual(dash.calls(), []);
  });

  it('keys move by hunk and file, and say at the ends that there is no more', () => {
    const dash = openDiff();
    const at = (): string => /▶(.*?) *[║│]?\n/.exec(shown(dash))?.[1] ?? '';
    const seen = [']', ']', ']', '[', '[', '}', '{', 'k'].map((key) => {
      dash.keys(key);
      return at();
    });
    assert.deepEqual(seen, [
      ' same',
      '-far',
      '-x',
      '-far',
      ' same',
      '── two.txt',
      '── one.txt',
      '── one.txt',
    ]);
    dash.keys('{');
    assert.match(dash.state().message?.text ?? '', /there is no file above/);
  });
});

describe('the text of a follow-up', () => {
  const open = (more: object = {}): Bench =>
    showComments(openDiff(more), 1, [
      commentRow(7, { path: 'one.txt', line: 2, text: 'new', body: 'Say why.' }),
    ]);

  it('the follow-up is read first, then sent by the second key with its comments', () => {
    const dash = open().keys('F');
    assert.match(shown(dash), /Send this to s-1\?/);
    assert.match(shown(dash), /one\.txt:2 .*\n.*> new .*\n.*Say why\./);
    assert.deepEqual(dash.calls(), []);
    dash.keys('y');
    const [call, ...more] = dash.calls();
    assert.deepEqual([call?.operation, more.length], ['worker.follow_up', 0]);
    const input = call?.input as { prompt: string; comments: number[] };
    assert.deepEqual(input.comments, [7]);
    assert.match(input.prompt, /^Deal with 1 comment on your work in s-1:/);
  });

  it('the follow-up is not sent before its end was on the screen, after a change, or with Esc', () => {
    const long = Array.from({ length: 60 }, (_, index) => `line ${index}`).join('\n');
    const many = showComments(open(), 1, [
      commentRow(7, { path: 'one.txt', line: 2, text: 'new', body: long }),
    ]);
    many.keys('F', 'y');
    assert.match(many.state().message?.text ?? '', /read to the end first/);
    assert.deepEqual(many.calls(), []);
    many.keys('space', 'space', 'space', 'y');
    assert.equal(many.calls().length, 1);

    const changed = open().keys('F');
    changed
      .data({ sessions: [sessionRow(1, { worktree: '/w/s-1', head_commit: 'e'.repeat(40) })] })
      .keys('y');
    assert.deepEqual(changed.calls(), []);
    assert.match(changed.state().message?.text ?? '', /s-1 has changed: check it again/);
    assert.deepEqual(open().keys('F', 'esc', 'y').calls(), []);
  });

  it('the follow-up can be edited before', () => {
    const dash = open().keys('F', 'e');
    const effect = dash.effects().find((each) => each.do === 'edit');
    assert.ok(effect?.do === 'edit');
    dash.send({ type: 'edited', effect, text: 'Only this.\n' }).wait(300).keys('y');
    assert.deepEqual(dash.calls(), [
      { operation: 'worker.follow_up', input: { session: 's-1', prompt: 'Only this.', comments: [7] } },
    ]);
  });

  it('the follow-up has the conflicts of a merge, which the promotion question offers with the same key', () => {
    const conflicts = { trial: trial(1, { conflicts: ['one.txt'], promotable: false }) };
    const dash = showComments(openDiff(conflicts), 1, []).keys('p');
    assert.match(dash.state().message?.text ?? '', /conflicts in one\.txt; F has its worker resolve them/);
    assert.match(shown(dash), /F has its worker merge main/);
    dash.keys('F');
    assert.match(shown(dash), /Merge main into your branch svc\/s-1/);
    dash.keys('y');
    assert.match((dash.calls()[0]!.input as { prompt: string }).prompt, /^- one\.txt$/m);
    assert.equal(sentence`{worker.follow_up s-1 conflicts=true}`.render(nameKey), 'F (follow up) on s-1');
    assert.equal(
      sentence`{worker.follow_up s-1 conflicts=true base=dev}`.render(nameKey),
      'svc worker follow-up s-1 --conflicts --base dev',
    );
  });
});
