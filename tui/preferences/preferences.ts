import type { PaneId } from '../pane-ids.ts';
import type { TextStyle, Theme, ThemeName } from '../text/theme.ts';
import { THEMES } from '../text/theme.ts';

export const LAYOUTS = ['auto', 'tabs', 'panes'] as const;

/** A person's preferences for the dashboard. `ui.yaml` in the machine home has what differs from the defaults. */
export interface Preferences {
  theme: ThemeName;
  /** Styles that differ from the theme's. */
  colours: Partial<Theme>;
  /** Keys by the id of their binding, replacing the built-in ones. */
  keys: Readonly<Record<string, readonly string[]>>;
  /** Columns by pane, in their order. */
  columns: Partial<Readonly<Record<PaneId, readonly string[]>>>;
  /** By pane, the column that its list is sorted by; `-tokens` puts the largest first. */
  sort: Partial<Readonly<Record<PaneId, string>>>;
  /** Lists and their texts side by side from 130x30, or always one above the other, or side by side where there is any room. */
  layout: (typeof LAYOUTS)[number];
  /** The command line of the program that `|` shows a diff with. */
  pager: string;
  /** Rings the bell when something new waits. */
  bell: boolean;
  /** Shows notices through the terminal. */
  notices: boolean;
  /** Shows the number of waiting items in the terminal title. */
  title: boolean;
  /** Lets the mouse select, open and scroll. The terminal then selects text only with Shift. */
  mouse: boolean;
  /** Lets `Y` copy through the terminal (OSC 52). */
  copy: boolean;
}

export const DEFAULT_PREFERENCES: Preferences = {
  theme: 'standard',
  colours: {},
  keys: {},
  columns: {},
  sort: {},
  layout: 'auto',
  pager: 'less -R',
  bell: false,
  notices: true,
  title: false,
  mouse: false,
  copy: true,
};

/** A value of ui.yaml that the dashboard writes. */
export interface PreferenceChange {
  path: readonly string[];
  value: unknown;
}

// Preferences are immutable, so each theme is put together once.
const themeCache = new WeakMap<Preferences, Theme>();

/** The theme with a person's own colours. */
export function getTheme(preferences: Preferences): Theme {
  const known = themeCache.get(preferences);
  if (known !== undefined) return known;
  const given = Object.entries(preferences.colours).filter((each): each is [TextStyle, Theme[TextStyle]] =>
    Boolean(each[1]),
  );
  const theme = { ...THEMES[preferences.theme], ...Object.fromEntries(given) };
  themeCache.set(preferences, theme);
  return theme;
}
