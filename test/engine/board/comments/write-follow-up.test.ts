import assert from 'node:assert/strict';
import { test } from 'node:test';
import { titleFollowUp } from '../../../../engine/board/comments/index.ts';
import { writeFollowUpMessage } from '../../../../engine/index.ts';

const head = 'a'.repeat(40);

test('a message to a worker has file, line, the line itself and the comment', () => {
  const text = writeFollowUpMessage(
    {
      session: 's-1',
      branch: 'svc/s-1',
      conflict: null,
      comments: [
        {
          path: 'src/a.ts',
          side: 'new',
          line: 12,
          text: 'const x = 1;',
          body: 'Why not 2?',
          head,
          outdated: false,
        },
        {
          path: 'src/b.ts',
          side: 'old',
          line: 3,
          text: '\u001b[2Jgone',
          body: 'Keep it.',
          head,
          outdated: true,
        },
      ],
    },
    'Be quick.',
  );
  assert.equal(
    text,
    `Be quick.

Deal with 2 comments on your work in s-1:

src/a.ts:12
> const x = 1;
Why not 2?

src/b.ts:3 (a line that you removed or changed; on an older version, aaaaaaaaaa)
> ${'\\x1b[2Jgone'}
Keep it.`,
  );
});

test('a message about a conflict names the base, the files and the work to do', () => {
  const text = writeFollowUpMessage({
    session: 's-1',
    branch: 'svc/s-1',
    comments: [],
    conflict: { base: 'main', paths: ['a.txt', 'b.txt'] },
  });
  assert.match(text, /^Merge main into your branch svc\/s-1, and resolve the conflicts\.$/m);
  assert.match(text, /^- a\.txt\n- b\.txt$/m);
  assert.match(text, /`git merge main`/);
});

test("a follow-up task takes its title from the person's text, else from the task that it continues", () => {
  const comment = {
    path: 'a',
    side: 'new',
    line: 1,
    text: 'x',
    body: 'Why?',
    head,
    outdated: false,
  } as const;
  const conflict = { base: 'main', paths: ['a.txt'] };
  const write = (material: object, words = ''): string =>
    writeFollowUpMessage(
      { session: 's-1', branch: 'svc/s-1', comments: [], conflict: null, ...material },
      words,
    );
  const title = (message: string, former = 'Add totals'): string => titleFollowUp(message, former);
  assert.equal(title(write({ comments: [comment], conflict }, 'Round up.')), 'Round up.');
  assert.equal(title(write({ comments: [comment, comment] })), 'follow-up of Add totals: 2 comments');
  assert.equal(title(write({ comments: [comment] })), 'follow-up of Add totals: 1 comment');
  assert.equal(
    title(write({ comments: [comment], conflict })),
    'follow-up of Add totals: conflicts with main',
  );
  assert.equal(
    title(write({ conflict, branch: null }), 'follow-up of Add totals: 2 comments'),
    'follow-up of Add totals: conflicts with main',
  );
  assert.equal(title('Deal with it.'), 'Deal with it.');
  assert.ok(title(write({ conflict }), 'x'.repeat(500)).length <= 120);
});
