import type { Question, Transition } from '../actions/transition.ts';
import type { PaneId, State } from '../state/model.ts';

export const KEY_GROUPS = [
  'Move',
  'Panes',
  'View',
  'Decisions',
  'Asks',
  'Tasks',
  'Workers',
  'Bus',
  'Deliveries',
  'Program',
] as const;
export type KeyGroup = (typeof KEY_GROUPS)[number];

/** A key and what it does: input, hint bar, help, palette and docs/keys.md all come from this table. */
export interface Binding {
  id: string;
  group: KeyGroup;
  /** As `keyName` spells them; the first is shown. */
  keys: readonly string[];
  /** One or two words for the hint bar. */
  label: string;
  about: string;
  /** Without it, in every pane. */
  panes?: readonly PaneId[];
  /** Only in this view. */
  view?: State['view'];
  /** Accepted from a burst of keys: it only moves. */
  moves?: true;
  /** Is about the selected row without asking first: not taken just after the program moved the cursor. */
  acts?: true;
  /** Works while the engine is away. */
  offline?: true;
  /** Left out of the hint bar. */
  quiet?: true;
  /** Why it cannot be done now; null when it can. */
  disabledReason?(state: State): string | null;
  run?(state: State): Transition;
  /** Asks first: what spends, destroys or sends is confirmed by a second, different key, one of `confirm`. */
  ask?(state: State): Question;
  /** Agrees to what the preview says: until that is on the screen, the key opens it there and asks nothing. */
  reads?: true;
  confirm?: readonly string[];
}

export const isEngineGone = (state: State): boolean => state.link.phase === 'lost';
