import { toPrintable } from '../../../engine/core/base/text.ts';
import { defineCommand } from '../../command.ts';
import { defineSessionArgument } from '../../sessions/session-argument.ts';

const formatValues = (values: readonly string[] | null): string =>
  values === null ? 'a value that is not shown' : values.length === 0 ? 'not set' : values.join(' and ');

export const gitSettings = defineCommand({
  name: 'worktree settings',
  about: 'show settings of git that were changed during a run, and decide where a push goes',
  args: defineSessionArgument('session:ended'),
  flags: { accept: { type: 'boolean', about: 'they are yours: pull requests use them' } },
  examples: ['worktree settings s-12', 'worktree settings s-12 --accept'],
  async run(context) {
    const client = await context.engine();
    const found = await client.call('worktree.settings', {
      session: context.arg(0),
      ...(context.flags.accept ? { accept: true } : {}),
    });
    context.result(found, ({ changes, accepted }) =>
      changes.length === 0
        ? 'nothing has changed'
        : toPrintable(
            [
              ...changes.map(
                ({ name, before, now }) => `${name}: was ${formatValues(before)}, is ${formatValues(now)}`,
              ),
              ...(accepted ? ['accepted: they are yours now'] : []),
            ].join('\n'),
            { lines: true },
          ),
    );
    if (found.changes.length > 0 && !found.accepted)
      context.note(`svc worktree settings ${found.session_id} --accept makes them yours`);
  },
});
