import { getPane } from '../panes/index.ts';
import type { Pane } from '../panes/pane.ts';
import type { PreferenceChange, Preferences } from '../preferences/preferences.ts';
import type { State } from '../state/model.ts';
import { rotateIndex } from '../state/numbers.ts';
import { THEME_NAMES } from '../text/theme.ts';
import { type StateTransition, showMessage, transitionTo } from './transition.ts';

/** A choice in the dashboard, with its current value. */
export interface PreferenceChoice {
  name: string;
  value: string;
  about: string;
  change(state: State): StateTransition;
}

const SWITCHES = {
  bell: 'ring the bell when something new waits for you',
  notices: 'show notices through this terminal',
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
