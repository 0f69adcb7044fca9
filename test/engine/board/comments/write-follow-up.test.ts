import assert from 'node:assert/strict';
import { test } from 'node:test';
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
> ${'gone'}
Keep it.`,
  );
});

test('a message about a conflict names the base, the files and what is to be done', () => {
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
