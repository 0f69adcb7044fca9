import type { State } from '../state/model.ts';
import { findLineAnchor } from '../state/patch.ts';
import { getSelectedSession } from '../state/selection.ts';
import { findOpenWork, getCursorRow } from './diff-cursor.ts';
import { type StateTransition, showMessage, transitionTo } from './transition.ts';

export function checkCanEnterWorktree(state: State): string | null {
  const session = getSelectedSession(state);
  if (session === undefined) return 'no worker is selected';
  if (session.worktree !== null || (session.inplace && session.cwd !== null)) return null;
  return session.state === 'ended'
    ? `the worktree of ${session.session_id} is no longer there`
    : `${session.session_id} has no worktree yet`;
}

/** Finds the file under the cursor in the diff, and its current line. */
function findPlace(state: State): { path: string; line: number } | null {
  const row = findOpenWork(state) === null ? undefined : getCursorRow(state);
  // For a removed line, the line after it.
  return row === undefined || row.path === null
    ? null
    : { path: row.path, line: findLineAnchor(row) === null ? 1 : Math.max(1, row.newLine) };
}

export function checkCanEdit(state: State): string | null {
  const row = getCursorRow(state);
  if (row !== undefined && row.path === null) return 'the file is no longer there';
  return checkCanEnterWorktree(state);
}

const runIn =
  (what: string, listWords: (state: State) => readonly string[]) =>
  (state: State): StateTransition => {
    const { session_id: id } = getSelectedSession(state)!;
    return transitionTo(state, {
      do: 'command',
      words: ['worktree', what, '--', id, ...listWords(state)],
      onExit: (now, code) =>
        code === 0
          ? showMessage(now, `you have left the worktree of ${id}`, 'good')
          : showMessage(now, `svc worktree ${what} ${id} ended with exit code ${code}`, 'bad'),
    });
  };

/** Hands the terminal to the person's pager with the whole diff. */
export const openPager = (state: State): StateTransition =>
  transitionTo(state, {
    do: 'command',
    words: ['worktree', 'diff', '--', getSelectedSession(state)!.session_id],
    env: { SVC_PAGER: state.preferences.pager },
    onExit: (now, code) =>
      code === 0 ? now : showMessage(now, `svc diff ended with exit code ${code}`, 'bad'),
  });

/** Hands the terminal to a shell in the session's worktree. */
export const openShell = runIn('shell', () => []);

/** Hands the terminal to the person's editor: at the line of the diff under the cursor, otherwise in the folder. */
export const openInEditor = runIn('edit', (state) => {
  const place = findPlace(state);
  return place === null ? [] : [`${place.path}:${place.line}`];
});
