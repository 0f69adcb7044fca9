import type { State } from '../state/model.ts';
import type { ChooseCommand } from '../state/overlays.ts';
import { getSelectedSession } from '../state/selection.ts';
import { checkCanEnterWorktree } from './enter-worktree.ts';
import { callEngine, type StateTransition, showMessage, transitionTo } from './transition.ts';

export function checkCanRunCommand(state: State): string | null {
  const session = getSelectedSession(state);
  return session?.inplace === true
    ? `${session.session_id} works in the project's own folder: start the command there yourself`
    : checkCanEnterWorktree(state);
}

const NO_COMMANDS = 'the project has none: add run: {dev: npm run dev} to its entry in projects';

/** Opens the list of the commands that the project has for its worktrees. */
export function openCommandChoice(state: State): StateTransition {
  const { session_id: session, task_id: task } = getSelectedSession(state)!;
  return callEngine(state, {
    operation: 'worktree.commands',
    input: { session },
    busy: `commands of ${session}`,
    doing: `reading the commands for ${session}`,
    describeAnswer: ({ length }) => (length === 0 ? NO_COMMANDS : ''),
    findRefusal: ({ length }) => (length === 0 ? NO_COMMANDS : null),
    onAnswer: (now, commands) =>
      // A person who has opened something else in the meantime keeps it.
      commands.length === 0 || now.overlay !== null || now.armed !== null
        ? now
        : { ...now, message: null, overlay: { kind: 'command', session, task, commands, index: 0 } },
  });
}

/** Shows the log of a start of a command next to its run. */
const showCommandLog = (state: State, row: string, name: string, startedAt: string): State => ({
  ...state,
  focus: 'work',
  shown: { row, as: 'command', command: { name, startedAt } },
});

/** Starts the chosen command, or shows the log of one that runs. */
export function startChosenCommand(state: State, overlay: ChooseCommand): StateTransition {
  const { session, commands, index } = overlay;
  const chosen = commands[index]!;
  const row = state.lists.work.selected;
  const closed = { ...state, overlay: null };
  if (row === null) return transitionTo(closed);
  if (chosen.state === 'running' && chosen.started_at !== null)
    return transitionTo(showCommandLog(closed, row, chosen.name, chosen.started_at));
  return callEngine(closed, {
    operation: 'worktree.run',
    input: { session, name: chosen.name },
    busy: `${chosen.name} of ${session}`,
    doing: `starting ${chosen.name}`,
    describeAnswer: ({ port }) =>
      `${chosen.name} runs${port === null ? '' : ` on http://localhost:${port}, if it uses SVC_PORT`}`,
    onAnswer: (now, { started_at: at }) =>
      at === null || now.lists.work.selected !== row ? now : showCommandLog(now, row, chosen.name, at),
  });
}

/** Stops the chosen command. */
export function stopChosenCommand(
  state: State,
  { session, commands, index }: ChooseCommand,
): StateTransition {
  const { name, state: now } = commands[index]!;
  if (now !== 'running') return transitionTo(showMessage(state, `${name} does not run`));
  return callEngine(
    { ...state, overlay: null },
    {
      operation: 'worktree.stop_command',
      input: { session, name },
      busy: `${name} of ${session}`,
      doing: `stopping ${name}`,
      describeAnswer: () => `${name} is stopped`,
    },
  );
}
