import { SvcError } from '../../../engine/core/base/errors.ts';
import { toPrintable } from '../../../engine/core/base/text.ts';
import { defineCommand } from '../../command.ts';
import { fetchPullRequest } from '../../sessions/fetch-pull-request.ts';

export const fetchBranch = defineCommand({
  name: 'worktree fetch',
  about: 'fetch a pull request as a branch to start from; --pr of svc run does this by itself',
  args: [{ name: 'number', about: 'number of the pull request: 12, #12' }],
  flags: { project: { type: 'string', about: 'project id' } },
  examples: ['worktree fetch 12'],
  async run(context) {
    const [, digits] = /^#?(\d{1,9})$/.exec(context.arg(0)) ?? [];
    if (digits === undefined)
      throw new SvcError('usage', `${context.arg(0)} is not the number of a pull request`);
    const fetched = await fetchPullRequest(
      context,
      await context.engine(),
      Number(digits),
      context.flags.project,
    );
    context.result(fetched, ({ branch }) => toPrintable(branch));
  },
});
