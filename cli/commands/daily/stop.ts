import type { Command } from '../../command.ts';
import { cancelTaskCommand } from '../work/task.ts';
import { workerKillCommand } from '../work/worker.ts';

/** `svc stop`: stops a session, or a task, which may have no session yet or several. */
export const stopCommand: Command = {
  ...workerKillCommand,
  name: 'stop',
  about: 'stop it; what it did so far stays on its branch',
  examples: ['stop t-11', 'stop s-12 s-14'],
  run: (context) =>
    /^t-\d+$/.test(context.arg(0)) ? cancelTaskCommand.run(context) : workerKillCommand.run(context),
};
