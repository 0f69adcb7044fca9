import { resolve } from 'node:path';
import { quoteForShell, toPrintable } from '../../../engine/core/base/text.ts';
import { defineCommand } from '../../command.ts';
import { defineSessionArgument } from '../../sessions/session-argument.ts';

export const openCheckout = defineCommand({
  name: 'worktree open',
  about:
    'check the newest commits of a session out in a separate folder here, also of one on another machine',
  args: [
    ...defineSessionArgument('session'),
    {
      name: 'folder',
      about: 'where; by default next to the repository. An earlier checkout is moved forward',
      optional: true,
      completes: 'file',
    },
  ],
  examples: ['worktree open s-12', 'worktree open s-12 ../look'],
  async run(context) {
    const client = await context.engine();
    const [session, folder] = [context.arg(0), context.args[1]];
    const opened = await client.call('worktree.open', {
      session,
      ...(folder === undefined ? {} : { folder: resolve(context.cwd, folder) }),
    });
    context.result(opened, ({ folder: path }) => toPrintable(path));
    if (opened.is_new)
      context.note(`remove it with: git worktree remove ${toPrintable(quoteForShell(opened.folder))}`);
  },
});
