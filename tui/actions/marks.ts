import type { PaneId } from '../pane-ids.ts';
import { getPane } from '../panes/index.ts';
import { getSubjectStamp } from '../state/details.ts';
import { dropMarks } from '../state/lists.ts';
import type { ListView, State } from '../state/model.ts';
import { moveWithinList, replaceList } from './navigation.ts';
import { type StateTransition, showMessage, transitionTo } from './transition.ts';

/** Explains why rows of the focused list cannot be marked; null if they can. */
export function checkCanMark(state: State): string | null {
  const { findSubject, title } = getPane(state.focus);
  if (findSubject === undefined) return `no key acts on several rows of ${title}`;
  return state.lists[state.focus].selected === null ? 'nothing is selected' : null;
}

/** Returns the stamp of what questions about a row are about. */
export function stampRow({ data }: Pick<State, 'data'>, pane: PaneId, id: string): string {
  const subject = getPane(pane).findSubject?.(data, id) ?? null;
  return subject === null ? '' : `${subject.kind} ${subject.id} ${getSubjectStamp(data, subject)}`;
}

function addMarks(state: State, ids: readonly string[]): State {
  const { focus } = state;
  const list = state.lists[focus];
  const marks = new Map([...list.marks, ...ids.map((id) => [id, stampRow(state, focus, id)] as const)]);
  return tellMarks(replaceList(state, focus, { ...list, marks, anchor: list.selected }));
}

/** Reports how many rows are marked if no screen shows it. */
function tellMarks(state: State): State {
  const { size } = state.lists[state.focus].marks;
  return state.isPlain ? showMessage(state, `${size} marked`) : state;
}

const dropMark = (list: ListView, id: string): ListView => ({
  ...list,
  marks: new Map([...list.marks].filter(([each]) => each !== id)),
});

/** Marks or unmarks the selected row, and moves to the next one. */
export function toggleMark(state: State): StateTransition {
  const list = state.lists[state.focus];
  const id = list.selected!;
  const marked = list.marks.has(id)
    ? tellMarks(replaceList(state, state.focus, dropMark(list, id)))
    : addMarks(state, [id]);
  return transitionTo(moveWithinList(marked, 1));
}

/** Marks every row between the last marked one and the cursor. */
export function markRange(state: State): StateTransition {
  const { ids, index, anchor } = state.lists[state.focus];
  const from = anchor === null ? -1 : ids.indexOf(anchor);
  if (from < 0) return transitionTo(addMarks(state, ids.slice(index, index + 1)));
  return transitionTo(addMarks(state, ids.slice(Math.min(from, index), Math.max(from, index) + 1)));
}

/** Marks the selected row, and the row that the cursor moves to. */
export const markOnTheWay =
  (by: -1 | 1) =>
  (state: State): StateTransition => {
    const start = addMarks(state, [state.lists[state.focus].selected!]);
    const moved = moveWithinList(start, by);
    return transitionTo(addMarks(moved, [moved.lists[moved.focus].selected!]));
  };

/** Marks every row that the list shows; removes the marks if all of them are marked. */
export function toggleAllMarks(state: State): StateTransition {
  const list = state.lists[state.focus];
  return list.ids.every((id) => list.marks.has(id))
    ? transitionTo(tellMarks(replaceList(state, state.focus, dropMarks(list))))
    : transitionTo(addMarks(state, list.ids));
}
