import type { LogSource, RunText, State } from './model.ts';
import type { ListedAsk, ShownDecision, ShownSession, ShownTask } from './rows.ts';
import { findWorkItem, isLiveSession, type WorkItem } from './work-items.ts';

type WithRows = Pick<State, 'data' | 'lists'>;

/** Returns the selected row of the list of work. */
export function getSelectedItem({ data, lists }: WithRows): WorkItem | undefined {
  const { selected } = lists.work;
  return selected === null ? undefined : findWorkItem(data, selected);
}

export const getSelectedTask = (state: WithRows): ShownTask | undefined =>
  getSelectedItem(state)?.task ?? undefined;

/** Returns the run of the selected row. */
export const getSelectedSession = (state: WithRows): ShownSession | undefined =>
  getSelectedItem(state)?.session ?? undefined;

export const getSelectedDecision = (state: WithRows): ShownDecision | undefined =>
  getSelectedItem(state)?.decision ?? undefined;

export const getSelectedAsk = (state: WithRows): ListedAsk | undefined =>
  getSelectedItem(state)?.ask ?? undefined;

/** Questions that are asked next to the work they are about. */
const ABOUT_WORK: ReadonlySet<string> = new Set(['promote', 'rerun', 'resume', 'run']);

/** Decides which text about a run is shown: the person's choice, the log while it runs, its work when it has ended. */
export function getRunText(state: WithRows & Pick<State, 'armed' | 'shown'>): RunText {
  if (ABOUT_WORK.has(state.armed?.binding ?? '')) return 'work';
  const { selected } = state.lists.work;
  if (state.shown !== null && state.shown.row === selected) return state.shown.as;
  const session = getSelectedSession(state);
  return session === undefined || isLiveSession(session) || session.commits === 0 ? 'log' : 'work';
}

/** Returns the log of the selected run: of the command that is shown, otherwise of its agent. */
export function findShownLog(state: WithRows & Pick<State, 'armed' | 'shown'>): LogSource | null {
  const session = getSelectedSession(state)?.session_id;
  if (session === undefined) return null;
  return { session, command: getRunText(state) === 'command' ? (state.shown?.command ?? null) : null };
}

/** Reports whether the text of a run is shown, and not a question, a plan or a race. */
export const isShowingRun = (state: WithRows & Pick<State, 'focus'>): boolean =>
  state.focus === 'work' && ['live', 'ended', 'over'].includes(getSelectedItem(state)?.kind ?? '');
