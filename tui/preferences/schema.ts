import * as z from 'zod';
import { KEYMAP } from '../keymap/index.ts';
import { checkKeys, findClashes } from '../keymap/own-keys.ts';
import { getPane } from '../panes/index.ts';
import type { Pane } from '../panes/pane.ts';
import { PANE_IDS, type PaneId } from '../state/pane-ids.ts';
import { LOOKS, STYLES, THEME_NAMES } from '../text/theme.ts';
import { DEFAULT_PREFERENCES } from './preferences.ts';

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
const { theme, bell, notices, title, copy } = DEFAULT_PREFERENCES;

/** What ui.yaml may say. */
export const preferencesSchema = z.strictObject({
  theme: z
    .enum(THEME_NAMES)
    .default(theme)
    .meta({ description: 'how it looks; `colour-blind` has blue and bold yellow for green and red' }),
  colours: z
    .strictObject(Object.fromEntries(STYLES.map((style) => [style, looks.optional()])))
    .prefault({})
    .meta({
      description: 'styles that differ from the theme, each a list of ANSI names: `bad: [bold, magenta]`',
    }),
  keys: keys
    .prefault({})
    .meta({ description: 'other keys, by the name of what they do: `approve: [ctrl+y]`' }),
  columns: forEachPane((heads) => z.array(z.enum(heads)).min(1))
    .prefault({})
    .meta({
      description:
        'columns of a list, in this order and as many as there is room for: `workers: [id, state, doing]`',
    }),
  sort: forEachPane((heads) => z.enum(heads.flatMap((head) => [head, `-${head}`]) as [string, ...string[]]))
    .prefault({})
    .meta({ description: 'the column that a list is sorted by; `-tokens` begins with the largest' }),
  bell: isOn.default(bell).meta({ description: 'ring when something new waits for you' }),
  notices: isOn
    .default(notices)
    .meta({ description: 'let the terminal show a notice when something new waits (OSC 9)' }),
  title: isOn.default(title).meta({ description: 'show in the title of the terminal how much waits' }),
  copy: isOn.default(copy).meta({ description: 'let `Y` copy through the terminal (OSC 52)' }),
});
