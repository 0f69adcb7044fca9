import { getPane, getPreview } from '../panes/index.ts';
import type { Pane } from '../panes/pane.ts';
import type { PreferenceChange, Preferences } from '../preferences/preferences.ts';
import type { State } from '../state/model.ts';
import { rotateIndex } from '../state/numbers.ts';
import { getSelectedSession } from '../state/selection.ts';
import { THEME_NAMES, toPlainText } from '../text/theme.ts';
import { type ScreenQuestion, type StateTransition, showMessage, transitionTo } from './transition.ts';

/** A choice in the dashboard, with its current value. */
export interface PreferenceChoice {
  name: string;
  value: string;
  about: string;
  change(state: State): StateTransition;
}

const SWITCHES = {
  bell: 'ring the bell when something new waits for you',
  notices: 'show a terminal notification when something new waits',
  title: 'show the number of waiting items in the terminal title',
  mouse: 'select, open and scroll with the mouse',
  copy: 'let Y copy through the terminal',
} as const;

/** Applies a preference, and writes it to ui.yaml. */
const choosePreference = (
  state: State,
  next: Partial<Preferences>,
  change: PreferenceChange,
): StateTransition =>
  transitionTo(
    { ...state, preferences: { ...state.preferences, ...next } },
    { do: 'save', changes: [change] },
  );

const listHeads = (state: State): readonly string[] => [
  ...new Set((getPane(state.focus) as unknown as Pane<object>).columns.map(({ head }) => head)),
];

/** Shows a column of the focused list, or hides it; the last one stays. */
function toggleColumn(state: State, head: string): StateTransition {
  const { focus, preferences } = state;
  const all = listHeads(state);
  const chosen = preferences.columns[focus] ?? all;
  const next = chosen.includes(head)
    ? chosen.filter((each) => each !== head)
    : all.filter((each) => each === head || chosen.includes(each));
  if (next.length === 0) return transitionTo(showMessage(state, 'a list needs at least one column'));
  // All columns are the default of the list, fitted to its width.
  const isAll = next.length === all.length;
  const { [focus]: _, ...others } = preferences.columns;
  return choosePreference(
    state,
    { columns: isAll ? others : { ...others, [focus]: next } },
    { path: ['columns', focus], value: isAll ? undefined : next },
  );
}

/** Lists the choices for the focused list: theme, switches, columns. */
export function listChoices(state: State): PreferenceChoice[] {
  const { preferences, focus } = state;
  const { theme } = preferences;
  const nextTheme = THEME_NAMES[rotateIndex(THEME_NAMES.indexOf(theme), 1, THEME_NAMES.length)]!;
  const { title } = getPane(focus);
  const chosen = preferences.columns[focus] ?? listHeads(state);
  return [
    {
      name: 'theme',
      value: theme,
      about: 'colours; colour-blind uses blue and yellow instead of green and red',
      change: (now) => choosePreference(now, { theme: nextTheme }, { path: ['theme'], value: nextTheme }),
    },
    ...Object.entries(SWITCHES).map(([key, about]): PreferenceChoice => {
      const name = key as keyof typeof SWITCHES;
      const value = preferences[name];
      return {
        name,
        value: value ? 'on' : 'off',
        about,
        change: (now) => choosePreference(now, { [name]: !value }, { path: [name], value: !value }),
      };
    }),
    ...listHeads(state).map(
      (head): PreferenceChoice => ({
        name: `column ${head}`,
        value: chosen.includes(head) ? 'shown' : 'left out',
        about: `of ${title}`,
        change: (now) => toggleColumn(now, head),
      }),
    ),
  ];
}

export const openPreferences = (state: State): StateTransition =>
  transitionTo({ ...state, overlay: { kind: 'preferences', index: 0 } });

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

export const checkCanBrowse = (state: State): string | null =>
  findPage(state) === null ? 'this row has no pull request, and its text names no issue' : null;

/** Opens the page in the browser, and names it for a terminal without one. */
export function browsePage(state: State): StateTransition {
  const url = findPage(state)!;
  return transitionTo(showMessage(state, `opening ${url}`), { do: 'browse', url });
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
