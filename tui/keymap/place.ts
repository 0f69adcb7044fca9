import type { WorkKind } from '../state/work-items.ts';
import type { KeyBinding } from './binding.ts';

/** The kinds of rows in the list of work, in words. */
const ROW_WORDS: Readonly<Record<WorkKind, string>> = {
  ask: 'questions',
  decision: 'decisions',
  race: 'races',
  live: 'live runs',
  ended: 'ended runs',
  over: 'merged runs',
  task: 'tasks without a run',
};

const ALL_RUNS = [ROW_WORDS.live, ROW_WORDS.ended, ROW_WORDS.over].join(', ');

/** Describes where a key works, such as `work: decisions`; `everywhere` for all places. */
export function describeBindingPlace({ panes, rows, view }: KeyBinding): string {
  // Enter opens a question, and the text of any other row.
  const words = panes === undefined ? undefined : rows?.map((kind) => ROW_WORDS[kind]).join(', ');
  const where = panes === undefined ? 'everywhere' : panes.join(', ');
  const place = words === undefined ? where : `${where}: ${words.replace(ALL_RUNS, 'runs')}`;
  return view === undefined ? place : `${place}, ${view === 'text' ? 'reading' : 'in the list'}`;
}
