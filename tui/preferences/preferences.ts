import type { PaneId } from '../pane-ids.ts';
import type { Style, Theme, ThemeName } from '../text/theme.ts';
import { THEMES } from '../text/theme.ts';

/** How a person wants the dashboard. `ui.yaml` in the machine home has what differs from this. */
export interface Preferences {
  theme: ThemeName;
  /** Styles that look different from the theme's. */
  colours: Partial<Theme>;
  /** Keys by the id of their binding, in place of the built-in ones. */
  keys: Readonly<Record<string, readonly string[]>>;
  /** Columns by pane, in their order. */
  columns: Partial<Readonly<Record<PaneId, readonly string[]>>>;
  /** By pane the column that its list is sorted by; `-tokens` begins with the largest. */
  sort: Partial<Readonly<Record<PaneId, string>>>;
  /** Ring when something new waits. */
  bell: boolean;
  /** Tell the terminal to show a notice when something new waits (OSC 9). */
  notices: boolean;
  /** Show in the title of the terminal how much waits. */
  title: boolean;
  /** Let `Y` copy through the terminal (OSC 52). */
  copy: boolean;
}

export const DEFAULT_PREFERENCES: Preferences = {
  theme: 'standard',
  colours: {},
  keys: {},
  columns: {},
  sort: {},
  bell: false,
  notices: false,
  title: false,
  copy: false,
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
  const given = Object.entries(preferences.colours).filter((each): each is [Style, Theme[Style]] =>
    Boolean(each[1]),
  );
  const theme = { ...THEMES[preferences.theme], ...Object.fromEntries(given) };
  themeCache.set(preferences, theme);
  return theme;
}
