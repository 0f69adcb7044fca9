import { chooseNextUrgent, focusPane, goToUrgentRow, openPreview } from '../actions/navigation.ts';
import { type AcrossStep, showMessage } from '../actions/transition.ts';
import { findTabAt } from '../frame/tabs.ts';
import { findRowAt } from '../layout/hit.ts';
import type { PaneId } from '../pane-ids.ts';
import { isCombinedPane } from '../pane-ids.ts';
import { reduceState } from '../reducer.ts';
import { selectRow } from '../state/lists.ts';
import type { State, StatusMessage } from '../state/model.ts';
import { compareItems, listUrgentItems, type WorkItem } from '../state/work-items.ts';
import { countCombinedRows, countCombinedSections, findCombinedIndex, findCombinedRow } from './rows.ts';
import { type AllState, getActive, type WorkspaceMember } from './state.ts';

/** Changes the part of one workspace; its lists follow, as after an event. */
export const changeMember = (all: AllState, file: string, change: (state: State) => State): AllState => ({
  ...all,
  members: all.members.map((each) =>
    each.file === file
      ? { ...each, state: reduceState(each.state, { type: 'replace', change }).state }
      : each,
  ),
});

/** Shows a message that is not about one workspace. */
export const tellActive = (all: AllState, text: string, tone: StatusMessage['tone'] = 'info'): AllState =>
  changeMember(all, all.active, (state) => {
    const told = showMessage(state, text, tone);
    return { ...told, message: told.message && { ...told.message, workspace: '' } };
  });

/** Gives the keyboard to a workspace, in a list of it. The last message stays on the screen. */
export function activate(all: AllState, file: string, pane: PaneId): AllState {
  const { state: from, label } = getActive(all);
  const cursors = isCombinedPane(pane) ? { ...all.cursors, [pane]: file } : all.cursors;
  if (file === all.active)
    return changeMember({ ...all, cursors }, file, (state) => ({ ...state, focus: pane, view: 'list' }));
  const message = from.message === null ? null : { workspace: label, ...from.message };
  const left = changeMember({ ...all, cursors }, all.active, (state) => ({ ...state, message: null }));
  return changeMember({ ...left, active: file }, file, (state) => ({
    ...state,
    focus: pane,
    view: 'list',
    message: state.message ?? message,
    now: Math.max(state.now, from.now),
  }));
}

/** Selects a row. @param isByHand a key did it; otherwise keys that act have to wait */
export function selectCombinedRow(
  all: AllState,
  pane: PaneId,
  { file, id }: { file: string; id: string },
  isByHand: boolean,
): AllState {
  return changeMember(activate(all, file, pane), file, (state) => ({
    ...state,
    lists: { ...state.lists, [pane]: selectRow(state.lists[pane], id) },
    ...(isByHand ? {} : { movedAt: state.now }),
  }));
}

/** Takes a step that the active workspace cannot take alone. */
export function takeStep(all: AllState, step: AcrossStep): AllState {
  switch (step.to) {
    case 'row': {
      const { focus } = getActive(all).state;
      if (!isCombinedPane(focus)) return all;
      const row = findCombinedRow(all, focus, findCombinedIndex(all, focus) + step.by);
      return row === undefined ? all : selectCombinedRow(all, focus, row, true);
    }
    case 'pane':
      return goToPane(all, step.pane);
    case 'line':
      return clickLine(all, step.line);
    case 'tab': {
      const states = all.members.map(({ state }) => state);
      const pane = findTabAt(getActive(all).state, states, step.column);
      return pane === null ? all : goToPane(all, pane);
    }
    case 'waiting':
      return goToNextWaitingOfAll(all);
    case 'workspace':
      return all.isAlone
        ? { ...all, isAlone: false }
        : { ...all, chooser: all.members.findIndex(({ file }) => file === all.active) };
  }
}

/** Selects the row of a combined list at a visible line, or opens it if it is selected. */
function clickLine(all: AllState, line: number): AllState {
  const { state } = getActive(all);
  const { focus } = state;
  if (!isCombinedPane(focus)) return all;
  const index = findRowAt(
    {
      sections: countCombinedSections(all, focus),
      count: countCombinedRows(all, focus),
      top: all.tops[focus],
    },
    line,
  );
  const row = index === null ? undefined : findCombinedRow(all, focus, index);
  if (row === undefined) return activate(all, all.active, focus);
  return state.view === 'list' && index === findCombinedIndex(all, focus)
    ? changeMember(all, row.file, (now) => openPreview(now).state)
    : selectCombinedRow(all, focus, row, true);
}

/** Goes to a list: to the row that was selected there last, in any workspace. */
function goToPane(all: AllState, pane: PaneId): AllState {
  if (isCombinedPane(pane)) return activate(all, all.cursors[pane], pane);
  return changeMember(all, all.active, (state) => focusPane(pane)({ ...state, across: null }).state);
}

/** Lists the items of all workspaces that need a person, the most urgent one first. */
export function listAllUrgent(members: readonly WorkspaceMember[]): (WorkItem & { file: string })[] {
  const all = members.flatMap(({ file, state }) =>
    listUrgentItems(state.data).map((each) => ({ ...each, file })),
  );
  return all.sort(compareItems);
}

function goToNextWaitingOfAll(all: AllState): AllState {
  const next = chooseNextUrgent(getActive(all).state, listAllUrgent(all.members), ({ file, id }) =>
    file === all.active ? id : null,
  );
  if (next !== undefined)
    return changeMember(activate(all, next.file, 'work'), next.file, (state) =>
      goToUrgentRow(state, next.id),
    );
  const away = all.members.filter(({ state }) => state.link.phase !== 'live').length;
  const text =
    away === 0
      ? 'nothing waits for you in any workspace'
      : `nothing waits in the connected workspaces; ${away} of ${all.members.length} do not answer`;
  return tellActive(all, text, away === 0 ? 'good' : 'info');
}
