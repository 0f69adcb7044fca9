import { SvcError } from '../../../engine/core/base/errors.ts';
import { readPrompt } from '../../arguments/prompt.ts';
import { type Command, defineCommand } from '../../command.ts';
import { readRunInput, reportDispatch, runFlags, runTask } from '../../sessions/dispatching.ts';

/** `svc run`: creates a task from a prompt and starts it; with the id of a task, runs that. */
export const runPromptCommand: Command = defineCommand({
  name: 'run',
  about: 'have an agent do something, in its own worktree',
  args: [{ name: 'prompt', about: 'what to do, - for standard input, or a task (t-11)', rest: true }],
  flags: {
    agent: { type: 'string', short: 'a', about: 'agent preset' },
    project: { type: 'string', about: 'project id' },
    ...runFlags,
  },
  examples: [
    'run "Fix the flaky test"',
    'run "Fix what the reviewer says" --pr 12',
    'run "Fix the flaky test" -a claude -f',
    'run - < prompt.md',
  ],
  async run(context) {
    const { agent, project } = context.flags;
    const given = context.args.join(' ');
    if (/^t-\d+$/.test(given)) {
      if (agent !== undefined || project !== undefined)
        throw new SvcError('usage', `${given} has its agent and project already`, {
          hint: `svc task assign ${given} ${agent ?? 'AGENT'} changes its agent`,
        });
      return runTask(context, await context.engine(), given);
    }
    const body = await readPrompt(given, context.stdin);
    const client = await context.engine();
    const outcome = await client.call('task.start', {
      body,
      ...(agent === undefined ? {} : { agent }),
      ...(project === undefined ? {} : { project }),
      ...(await readRunInput(context, client, async () => project)),
    });
    return reportDispatch(context, client, outcome);
  },
});
