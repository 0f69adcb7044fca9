import * as z from 'zod';
import { KEYMAP } from '../keymap/index.ts';
import { checkKeys, findClashes } from '../keymap/own-keys.ts';
import { PANE_IDS, type PaneId } from '../pane-ids.ts';
import { getPane } from '../panes/index.ts';
import type { Pane } from '../panes/pane.ts';
import { LOOKS, STYLES, THEME_NAMES } from '../text/theme.ts';
import { DEFAULT_PREFERENCES, LAYOUTS } from './preferences.ts';

const listHeads = (pane: PaneId): [string, ...string[]] =>
  [...new Set((getPane(pane) as unknown as Pane<object>).columns.map(({ head }) => head))] as [
    string,
    ...string[],
  ];

const looks = z.array(z.enum(LOOKS)).max(4);
const forEachPane = <T extends z.ZodType>(make: (heads: [string, ...string[]]) => T) =>
  z.strictObject(
    Object.fromEntries(PANE_IDS.map((id) => [id, make(listHeads(id)).optional()])) as Record<
      PaneId,
      z.ZodOptional<T>
    >,
  );

const keys = z
  .strictObject(
    Object.fromEntries(
      KEYMAP.map(({ id }) => [id, z.array(z.string().superRefine(checkKeys)).min(1).max(4).optional()]),
    ),
  )
  .superRefine((given, context) => {
    for (const { id, message } of findClashes(given as Record<string, readonly string[] | undefined>))
      context.addIssue({ code: 'custom', path: [id], message });
  });

const isOn = z.boolean();
const { theme, layout, pager, bell, notices, title, mouse, copy } = DEFAULT_PREFERENCES;

/** The schema of ui.yaml. */
export const preferencesSchema = z.strictObject({
  theme: z
    .enum(THEME_NAMES)
    .default(theme)
    .meta({ description: 'colour theme; `colour-blind` uses blue and bold yellow instead of green and red' }),
  colours: z
    .strictObject(Object.fromEntries(STYLES.map((style) => [style, looks.optional()])))
    .prefault({})
    .meta({
      description: 'styles that differ from the theme, each a list of ANSI names: `bad: [bold, magenta]`',
    }),
  keys: keys.prefault({}).meta({ description: 'your own keys, by action name: `approve: [ctrl+y]`' }),
  columns: forEachPane((heads) => z.array(z.enum(heads)).min(1))
    .prefault({})
    .meta({
      description: 'columns of a list, in this order, as many as fit: `work: [id, state, title]`',
    }),
  sort: forEachPane((heads) => z.enum(heads.flatMap((head) => [head, `-${head}`]) as [string, ...string[]]))
    .prefault({})
    .meta({ description: 'the column that a list is sorted by; `-tokens` puts the largest first' }),
  layout: z.enum(LAYOUTS).default(layout).meta({
    description:
      '`auto` shows lists and texts side by side from 130x30; `tabs` always one above the other; `panes` side by side from 100x20',
  }),
  pager: z.string().min(1).default(pager).meta({
    description: 'the program that `|` shows a diff with, such as `delta` or `diff-so-fancy | less -R`',
  }),
  bell: isOn.default(bell).meta({ description: 'ring the bell when something new waits for you' }),
  notices: isOn.default(notices).meta({
    description:
      'show notices through this terminal (OSC 99, 777 or 9) unless it has the focus; `notify.desktop` of svc.yaml turns them off everywhere',
  }),
  title: isOn.default(title).meta({ description: 'show the number of waiting items in the terminal title' }),
  mouse: isOn.default(mouse).meta({
    description:
      'a click selects a row and a second one opens it, the wheel scrolls; the terminal selects text with Shift',
  }),
  copy: isOn
    .default(copy)
    .meta({ description: 'let `Y` copy through the terminal (OSC 52); on unless you turn it off' }),
});
