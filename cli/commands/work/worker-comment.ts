import { SvcError } from '../../../engine/core/base/errors.ts';
import { formatCount, toPrintable } from '../../../engine/core/base/text.ts';
import { readPrompt } from '../../arguments/prompt.ts';
import { defineCommand } from '../../command.ts';
import { defineSessionArgument } from '../../sessions/session-argument.ts';

/** Splits `src/a.ts:12`; a path may have colons itself. Throws `usage`. */
function parsePlace(text: string): { path: string; line: number } {
  const [, path = '', line = ''] = /^(.+):([1-9]\d{0,8})$/s.exec(text) ?? [];
  if (path !== '') return { path, line: Number(line) };
  throw new SvcError('usage', `${JSON.stringify(text)} does not name a line of a file`, {
    hint: 'write it as src/a.ts:12',
  });
}

export const comment = defineCommand({
  name: 'worker comment',
  about: "comment on a line of a session's diff, for a follow-up; without a line, list the comments",
  args: [
    ...defineSessionArgument('session'),
    { name: 'place', about: 'file and line, as in the diff: src/a.ts:12', optional: true },
    { name: 'words', about: 'the comment; - reads standard input', rest: true, optional: true },
  ],
  flags: {
    old: { type: 'boolean', about: 'the line is one that the session removed or changed' },
    remove: { type: 'number', value: 'number', about: 'remove this comment' },
  },
  examples: [
    'worker comment s-12 src/a.ts:12 "Why not a map?"',
    'worker comment s-12',
    'worker comment s-12 --remove 3',
  ],
  async run(context) {
    const { args, flags, stdin, note } = context;
    const [session = '', place, ...words] = args;
    const client = await context.engine();
    if (flags.remove !== undefined) {
      if (place !== undefined)
        throw new SvcError('usage', '--remove cannot be combined with a line of a file');
      const { comments } = await client.call('comment.list', { session });
      if (!comments.some((each) => each.comment_id === flags.remove))
        throw new SvcError('not_found', `there is no comment ${flags.remove} on ${session}`, {
          hint: `svc worker comment ${session} lists them`,
        });
      const removed = await client.call('comment.remove', { id: flags.remove });
      context.result(removed, (each) => `comment ${each.comment_id} is removed`);
      return;
    }
    if (place === undefined) {
      const found = await client.call('comment.list', { session });
      context.result(found, ({ comments }) =>
        comments
          .map((each) => {
            const notes = [each.side === 'old' ? 'removed' : '', each.outdated ? 'on an older version' : '']
              .filter(Boolean)
              .join(', ');
            return [
              `${each.comment_id}  ${toPrintable(each.path)}:${each.line}${notes === '' ? '' : ` (${notes})`}`,
              `   > ${toPrintable(each.text)}`,
              ...toPrintable(each.body, { lines: true })
                .split('\n')
                .map((line) => `   ${line}`),
            ].join('\n');
          })
          .join('\n'),
      );
      const { session_id: id, comments } = found;
      if (comments.length === 0) note(`${id} has no comments`);
      else
        note(`${formatCount(comments.length, 'comment')}; svc worker follow-up ${id} --comments sends them`);
      return;
    }
    const { path, line } = parsePlace(place);
    const body = await readPrompt(words.join(' '), stdin);
    if (body.trim() === '') throw new SvcError('usage', 'a comment must not be empty');
    const kept = await client.call('comment.add', {
      session,
      path,
      line,
      side: flags.old ? 'old' : 'new',
      body,
    });
    context.result(
      kept,
      (each) =>
        `comment ${each.comment_id} saved: ${toPrintable(each.path)}:${each.line}  ${toPrintable(each.text)}`,
    );
  },
});
