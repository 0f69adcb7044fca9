import { getPreview } from '../panes/index.ts';
import type { State } from '../state/model.ts';
import { getSelectedItem, getSelectedSession } from '../state/selection.ts';
import { toPlainText } from '../text/theme.ts';
import {
  callEngine,
  type ScreenQuestion,
  type StateTransition,
  showMessage,
  transitionTo,
} from './transition.ts';

/** Terminals refuse longer texts, or hang. */
const MOST_COPIED_CHARS = 75_000;
/** No line of a copied text is wrapped. */
const UNWRAPPED_CELLS = 10_000;

export function checkCanCopy(state: State): string | null {
  if (!state.preferences.copy) return 'copying is off; , turns it on';
  return state.lists[state.focus].selected === null ? 'nothing is selected' : null;
}

const sendToClipboard = (state: State, text: string, what = text): StateTransition =>
  transitionTo(showMessage(state, `${what} was sent to the terminal clipboard`), { do: 'copy', text });

/** Asks what to copy of a run: its id, its branch, or the command that enters its worktree. */
export function askWhatToCopy(state: State): ScreenQuestion | null {
  const session = state.view === 'list' && state.focus === 'work' ? getSelectedSession(state) : undefined;
  if (session?.branch == null) return null;
  const { session_id: id, task_id: task, branch } = session;
  const parts = [
    ['y', 'id', task],
    ['s', 'run', id],
    ['b', 'branch', branch],
    ['c', 'command', `svc worktree shell ${id}`],
  ] as const;
  return {
    subject: { kind: 'session', id },
    text: `Copy of ${task} (${branch})?`,
    answers: parts.map(([key, label, text]) => ({ key, label, run: (now) => sendToClipboard(now, text) })),
  };
}

/** A page of an issue or a pull request in a text. */
const PAGE =
  /https:\/\/[^\s"'<>()[\]]+\/(?:issues|pull|pulls|merge_requests|-\/issues|-\/merge_requests)\/\d+/;

/** Finds the page of the selected row: its pull request, or the issue that its task names. */
function findPage(state: State): string | null {
  const session = getSelectedSession(state);
  const url = session?.pull_request?.url ?? null;
  if (url !== null && /^https?:\/\//.test(url)) return url;
  const lines = getPreview(state, state.focus, UNWRAPPED_CELLS);
  const text = [...(lines?.facts ?? []), ...(lines?.lines ?? [])].map(toPlainText).join('\n');
  return PAGE.exec(text)?.[0] ?? null;
}

/** Returns the task whose page the engine finds: by the number of its pull request, or the reference of its issue. */
function findReferringTask(state: State): string | null {
  const { task, session } = state.focus === 'work' ? (getSelectedItem(state) ?? {}) : {};
  if (task == null) return null;
  const pull = session?.session_id === task.session_id ? session?.pull_request : undefined;
  const hasNumber = pull != null && pull.number !== null && pull.url === null;
  return hasNumber || (task.source === 'codehost' && /#\d+$/.test(task.source_ref ?? ''))
    ? task.task_id
    : null;
}

export const checkCanBrowse = (state: State): string | null =>
  findPage(state) === null && findReferringTask(state) === null
    ? 'this row has no pull request, and its text names no issue'
    : null;

/** Opens the page in the browser, and names it for a terminal without one. */
export function browsePage(state: State): StateTransition {
  const url = findPage(state);
  if (url !== null) return transitionTo(showMessage(state, `opening ${url}`), { do: 'browse', url });
  const id = findReferringTask(state)!;
  return callEngine(state, {
    operation: 'task.page',
    input: { id },
    busy: id,
    doing: `looking for the page of ${id}`,
    describeAnswer: (answer) => `opening ${answer.url}`,
    findPage: (answer) => answer.url,
  });
}

/** Copies the id of the selected row, or the text of an opened one. */
export function copySelected(state: State): StateTransition {
  const id = state.lists[state.focus].selected!;
  if (state.view === 'list') return sendToClipboard(state, id);
  const text = (getPreview(state, state.focus, UNWRAPPED_CELLS)?.lines ?? []).map(toPlainText).join('\n');
  if (text.length > MOST_COPIED_CHARS)
    return transitionTo(showMessage(state, `that is too long to copy: ${text.length} characters`, 'bad'));
  return sendToClipboard(state, text, 'the text');
}
