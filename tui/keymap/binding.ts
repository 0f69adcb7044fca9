import type { Api } from '../../engine/index.ts';
import type { ScreenQuestion, StateTransition } from '../actions/transition.ts';
import type { PaneId } from '../pane-ids.ts';
import type { DetailSubject, State } from '../state/model.ts';
import type { WorkKind } from '../state/work-items.ts';

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
  'Runners',
  'Program',
] as const;
export type KeyGroup = (typeof KEY_GROUPS)[number];

/** A key and what it does. Input, hint bar, help, palette and docs/reference/keys.md all come from this table. */
export interface KeyBinding {
  id: string;
  /** The engine operations behind it, for sentences that mention one. */
  operation?: keyof Api | readonly (keyof Api)[];
  group: KeyGroup;
  /** Key names as `nameInkKeys` and `nameReadlineKey` spell them. The hint bar shows the first. */
  keys: readonly string[];
  /** One or two words for the hint bar. */
  label: string;
  about: string;
  /** Other words for it, by which the palette finds it. */
  aliases?: readonly string[];
  /** Panes in which the key works; all panes if left out. */
  panes?: readonly PaneId[];
  /** In the list of work, the rows that the key is about; all rows, or none, if left out. */
  rows?: readonly WorkKind[];
  /** The focus in which the key works: a list, or a text; both if left out. */
  view?: 'list' | 'text';
  /** It only moves, so it is accepted from a burst of keys. */
  moves?: true;
  /** It acts on the selected row without asking, so it is ignored just after the program moved the cursor. */
  acts?: true;
  /** True if it works while the engine is not running. */
  offline?: true;
  /** True if the hint bar leaves it out. */
  isHiddenInHints?: true;
  /** False if the key has no use now, so the hint bar leaves it out. */
  hasUse?(state: State): boolean;
  /** Explains why the key does nothing now; null if it works. */
  disabledReason?(state: State): string | null;
  run?(state: State): StateTransition;
  /** Options of `operation` that the key determines itself. */
  covers?: readonly string[];
  /**
   * Asks first, or does what `run` does if it returns null. Anything that spends, destroys or sends is confirmed by a
   * second, different key from `confirm`.
   */
  ask?(state: State): ScreenQuestion | null;
  /** Names what is still being fetched for the question, which then opens at once and takes its answers later. */
  waitsFor?(state: State): { subject: DetailSubject; text: string } | null;
  /** The subject of the action that it may follow on: while that has no answer, the key waits, and then asks. */
  followsOn?(state: State): string | null;
  /** True if it asks only to prevent a loss and otherwise runs immediately, and concerns no row. */
  asksOnlyOnLoss?: true;
  /**
   * True if the answer agrees to the contents of the preview. Until that has been on the screen, the key opens it
   * instead of asking.
   */
  requiresReading?: true;
  confirm?: readonly string[];
  /**
   * With marked rows, the key asks about all of them: based on the list, or on their previews. The row's own question
   * and answers are used for each.
   */
  bulk?: 'rows' | 'details';
}

export const isEngineGone = (state: State): boolean => state.link.phase === 'lost';
