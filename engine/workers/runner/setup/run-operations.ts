import { z } from 'zod';
import { operation } from '../../../core/api/operation.ts';
import type { Sessions } from '../../sessions/index.ts';
import type { RunCommands } from './run-commands.ts';

const session = z.string();

/** Operations on the `run` commands of projects: a person starts them, since they run what an agent wrote. */
export function runCommandOperations({
  sessions,
  commands,
}: {
  sessions: Pick<Sessions, 'resolve'>;
  commands: RunCommands;
}) {
  return [
    operation({
      name: 'worktree.commands',
      about: 'The run commands of a session’s project, and which of them run in its worktree.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({ session }),
      run: (input) => commands.list(sessions.resolve(input.session)),
    }),
    operation({
      name: 'worktree.run',
      about:
        'Starts a run command of the project in the worktree of a session, by default the only one. One that runs is left as it is.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ session, name: z.string().optional() }),
      run: (input) => commands.start(sessions.resolve(input.session), input.name),
    }),
    operation({
      name: 'worktree.stop_command',
      about: 'Stops a run command with all its processes; null if it does not run.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ session, name: z.string() }),
      run: (input) => commands.stop(sessions.resolve(input.session), input.name),
    }),
  ];
}
