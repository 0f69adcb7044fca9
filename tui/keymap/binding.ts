import type { Api } from '../../engine/index.ts';
import type { Question, Transition } from '../actions/transition.ts';
import type { PaneId } from '../pane-ids.ts';
import type { State } from '../state/model.ts';

export const KEY_GROUPS = [
  'Move',
  'Panes',
  'View',
  'Mark',
  'Decisions',
  'Asks',
  'Tasks',
  'Workers',
  'Bus',
  'Usage',
  'Deliveries',
  'Memory',
  'Stats',
  'Program',
] as const;
export type KeyGroup = (typeof KEY_GROUPS)[number];

/** A key and what it does. Input, hint bar, help, palette and docs/reference/keys.md all come from this table. */
export interface Binding {
  id: string;
  /** What it asks of the engine, for sentences that name that. */
  operation?: keyof Api;
  group: KeyGroup;
  /** Key names as `nameInkKeys` and `nameReadlineKey` spell them. The hint bar shows the first. */
  keys: readonly string[];
  /** One or two words for the hint bar. */
  label: string;
  about: string;
  /** Panes in which the key works; all panes if left out. */
  panes?: readonly PaneId[];
  /** The view in which the key works; both if left out. */
  view?: State['view'];
  /** It only moves, so it is accepted from a burst of keys. */
  moves?: true;
  /** It acts on the selected row without asking, so it is ignored just after the program moved the cursor. */
  acts?: true;
  /** It works while the engine is away. */
  offline?: true;
  /** It is left out of the hint bar. */
  isHiddenInHints?: true;
  /** Where it says no, there is nothing that the key is for, and the hint bar leaves it out. */
  hasUse?(state: State): boolean;
  /** Why the key does nothing now; null when it works. */
  disabledReason?(state: State): string | null;
  run?(state: State): Transition;
  /** Options of `operation` that the key finds by itself. */
  covers?: readonly string[];
  /** Asks first, or does what `run` does where it gives null. Whatever spends, destroys or sends is confirmed by a second, different key from `confirm`. */
  ask?(state: State): Question | null;
  /** What is still being fetched for the question; the key then says so, and asks when it is there. */
  waitsFor?(state: State): string | null;
  /** It asks only where something would be lost and else runs at once, and is about no row. */
  asksOnlyOnLoss?: true;
  /** The answer agrees to what the preview says. Until that has been on the screen, the key opens it instead of asking. */
  requiresReading?: true;
  confirm?: readonly string[];
  /**
   * With marked rows, the key asks about all of them at once: from what the list knows of them, or from what their
   * previews show. The row's own question and answers are used for each.
   */
  bulk?: 'rows' | 'details';
}

export const isEngineGone = (state: State): boolean => state.link.phase === 'lost';
