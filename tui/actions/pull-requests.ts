import { quoteForShell } from '../../engine/core/base/text.ts';
import { buildPullRequest, chooseRemote, MISSING_REMOTE, readWish } from '../../engine/index.ts';
import type { State } from '../state/model.ts';
import type { OpenPullRequest } from '../state/overlays.ts';
import { getSelectedSession } from '../state/selection.ts';
import { callEngine, type StateTransition, showMessage, transitionTo } from './transition.ts';

export function checkCanPublish(state: State): string | null {
  const session = getSelectedSession(state);
  if (session === undefined) return 'no worker is selected';
  const id = session.session_id;
  if (session.state !== 'ended') return `${id} has not ended yet`;
  if (session.branch === null) return `${id} has no branch`;
  if (session.branch_state === 'discarded') return `${id} is discarded: U brings it back`;
  return (session.commits ?? 0) > 0 ? null : `${id} has no commits`;
}

/** Opens what would be pushed and opened; a second key confirms it. */
export function openPullRequest(state: State): StateTransition {
  const { session_id: id } = getSelectedSession(state)!;
  return callEngine(state, {
    operation: 'worktree.pr',
    input: { session: id },
    busy: id,
    doing: `checking the remotes for ${id}`,
    describeAnswer: ({ pull_request: pull }) =>
      pull === null ? `${id} has no pull request yet` : `${id} has #${pull.number ?? '?'}`,
    onAnswer: (now, material) =>
      // A person who has opened something else in the meantime keeps it.
      now.overlay !== null || now.armed !== null
        ? now
        : {
            ...now,
            message: null,
            overlay: {
              kind: 'pull-request',
              session: id,
              material,
              remote: chooseRemote(material.remotes)?.name ?? null,
              top: 0,
              openedAt: now.now,
            },
          },
  });
}

/** Nothing is pushed to a remote that no one has named. */
export const mustChooseRemote = ({ material, remote }: OpenPullRequest): boolean =>
  material.remotes.length > 1 && remote === null;

export const CHOOSE_REMOTE = 'choose where to push first: Tab, or the digit of a remote';

/** Chooses the remote: by a digit, or the next one. */
export function chooseAnotherRemote(overlay: OpenPullRequest, key: string, at: number): OpenPullRequest {
  const { remotes } = overlay.material;
  const chosen = remotes.findIndex(({ name }) => name === overlay.remote);
  const index = key === 'tab' ? (chosen + 1) % remotes.length : Number(key) - 1;
  const remote = remotes[index];
  // The commands have changed, and `y` is only for the ones on the screen.
  return remote === undefined ? overlay : { ...overlay, remote: remote.name, openedAt: at };
}

const quoteArgument = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : quoteForShell(word));

/** Fetches the commands that `svc worktree pr` runs; for an unknown host it checks which program is installed. */
export function listCommands({ material, remote: chosen }: OpenPullRequest): string[] {
  const remote = material.remotes.find(({ name }) => name === chosen) ?? MISSING_REMOTE;
  const program = remote.program ?? 'gh';
  return [['cd', material.repository], ...buildPullRequest(readWish(material), remote, program)].map(
    (words) => words.map(quoteArgument).join(' '),
  );
}

/** Hands the terminal to `svc worktree pr`, which pushes and calls the code host. */
export function runPullRequest(
  state: State,
  overlay: OpenPullRequest,
  what: 'open' | 'state',
): StateTransition {
  const { session: id, material, remote } = overlay;
  if (what === 'open' && mustChooseRemote(overlay)) return transitionTo(showMessage(state, CHOOSE_REMOTE));
  const where = material.remotes.length > 1 && remote !== null ? ['--remote', remote] : [];
  return transitionTo(
    { ...state, overlay: null },
    {
      do: 'command',
      // The second key has agreed.
      words: ['worktree', 'pr', id, ...(what === 'state' ? ['--state'] : ['--yes', ...where])],
      onExit: (now, code) =>
        code === 0
          ? showMessage(
              now,
              what === 'state'
                ? `the state of the pull request of ${id} was updated`
                : `the branch of ${id} was pushed, and its pull request opened`,
              'good',
            )
          : showMessage(now, `svc worktree pr ${id} ended with exit code ${code}`, 'bad'),
    },
  );
}

/** Copies the commands if copying is on, and always leaves them on the terminal after the dashboard. */
export function keepCommands(state: State, overlay: OpenPullRequest): StateTransition {
  if (mustChooseRemote(overlay)) return transitionTo(showMessage(state, CHOOSE_REMOTE));
  const lines = listCommands(overlay);
  const farewell = [...state.farewell.filter((line) => !lines.includes(line)), ...lines];
  const next = { ...state, overlay: null, farewell };
  return state.preferences.copy
    ? transitionTo(showMessage(next, 'the commands were sent to the terminal clipboard'), {
        do: 'copy',
        text: lines.join('\n'),
      })
    : transitionTo(showMessage(next, 'the commands stay on the terminal when you quit'));
}
