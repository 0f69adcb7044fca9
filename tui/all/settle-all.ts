import { sortList } from '../actions/sorting.ts';
import { getLayout, getListHeight } from '../layout/layout.ts';
import type { CombinedPaneId } from '../pane-ids.ts';
import { COMBINED_PANE_IDS, isCombinedPane } from '../pane-ids.ts';
import { reduceState } from '../reducer.ts';
import { countListLines, dropMarks, fitTop } from '../state/lists.ts';
import type { AcrossWorkspaces, CombinedLists, ListView, State } from '../state/model.ts';
import { countCombinedRows, countCombinedSections, findCombinedIndex, findCombinedRow } from './rows.ts';
import { type AllState, findMember, getActive, type WorkspaceMember } from './state.ts';
import { changeMember, selectCombinedRow } from './steps.ts';

/** Aligns the parts of all workspaces with the active one, and the combined lists with their rows. */
export function settleAll(before: AllState, after: AllState, { isByHand }: { isByHand: boolean }): AllState {
  const sorted = isByHand ? sortAlike(before, after) : after;
  const moved = collectMessages(moveCursors(alignMembers(sorted)));
  return scrollTops(before, tellMembers(moved), isByHand);
}

/** Copies the view of the active workspace to the others: they are one list. */
function alignMembers(all: AllState): AllState {
  const { state: like } = getActive(all);
  const { focus } = like;
  const cursors =
    isCombinedPane(focus) && all.cursors[focus] !== all.active
      ? { ...all.cursors, [focus]: all.active }
      : all.cursors;
  return all.members.reduce<AllState>(
    (sofar, { file, state }) =>
      file === all.active || isAligned(state, like)
        ? sofar
        : changeMember(sofar, file, (each) => alignState(each, like)),
    { ...all, cursors },
  );
}

/** Sorts the rows of the others only if a key has sorted the active workspace. */
function sortAlike(before: AllState, all: AllState): AllState {
  const { state: like } = getActive(all);
  const was = findMember(before, all.active).state;
  const sorted = COMBINED_PANE_IDS.filter((id) => like.lists[id].order !== was.lists[id].order);
  if (sorted.length === 0) return all;
  return all.members.reduce(
    (sofar, { file }) =>
      file === all.active
        ? sofar
        : changeMember(sofar, file, (state) =>
            sorted.reduce((each, id) => sortList(sortedAs(each, id, like), id), state),
          ),
    all,
  );
}

const sortedAs = (state: State, id: CombinedPaneId, like: State): State => ({
  ...state,
  lists: { ...state.lists, [id]: { ...state.lists[id], sort: like.lists[id].sort } },
});

const isLikeList = (one: ListView, like: ListView): boolean =>
  one.filter === like.filter &&
  // Marks belong to one workspace, so that a question about them covers all that are on the screen.
  (one.marks.size === 0 || like.marks.size === 0);

const isAligned = (state: State, like: State): boolean =>
  state.focus === 'work' &&
  state.view === 'list' &&
  state.overlay === null &&
  state.isZoomed === like.isZoomed &&
  state.preferences === like.preferences &&
  COMBINED_PANE_IDS.every((id) => isLikeList(state.lists[id], like.lists[id]));

const alignState = (state: State, like: State): State => ({
  ...state,
  focus: 'work',
  view: 'list',
  overlay: null,
  armed: null,
  isZoomed: like.isZoomed,
  preferences: like.preferences,
  lists: {
    ...state.lists,
    ...Object.fromEntries(
      COMBINED_PANE_IDS.map((id) => {
        const { filter, marks } = like.lists[id];
        const own = marks.size === 0 ? state.lists[id] : dropMarks(state.lists[id]);
        return [id, { ...own, filter }];
      }),
    ),
  },
});

/** Moves the selection of a list to the next workspace if its last selected row there is gone. */
const moveCursors = (all: AllState): AllState => COMBINED_PANE_IDS.reduce(moveCursor, all);

function moveCursor(all: AllState, pane: CombinedPaneId): AllState {
  if (findMember(all, all.cursors[pane]).state.lists[pane].selected !== null) return all;
  const row = findCombinedRow(all, pane, findCombinedIndex(all, pane));
  if (row === undefined) return all;
  const { state } = getActive(all);
  if (state.focus !== pane || all.isAlone) return { ...all, cursors: { ...all.cursors, [pane]: row.file } };
  // Overlays and questions stay with their workspace until they are closed.
  return isHeld(state) ? all : selectCombinedRow(all, pane, row, false);
}

/** Reports whether the active workspace has an open overlay or question. */
const isHeld = ({ view, overlay, armed }: State): boolean =>
  view !== 'list' || overlay !== null || armed !== null;

/** Shows messages of workspaces without the keyboard next to their names. */
function collectMessages(all: AllState): AllState {
  const speaker = all.members.find(({ file, state }) => file !== all.active && state.message !== null);
  if (speaker?.state.message == null) return all;
  const message = { workspace: speaker.label, ...speaker.state.message };
  const emptied = changeMember(all, speaker.file, (state) => ({ ...state, message: null }));
  return collectMessages(changeMember(emptied, all.active, (state) => ({ ...state, message })));
}

/** Gives each workspace the lengths of the combined lists, which determine the position of its preview. */
function tellMembers(all: AllState): AllState {
  const lists = all.isAlone ? null : combineLists(all);
  const setAside = all.members.reduce((sum, { state }) => sum + state.setAside.length, 0);
  const members = all.members.map((member): WorkspaceMember => {
    const across: AcrossWorkspaces = {
      label: member.label,
      isActive: member.file === all.active,
      lists,
      setAside: setAside - member.state.setAside.length,
    };
    if (isSameAcross(member.state.across, across)) return member;
    const changeAcross = (state: State): State => ({ ...state, across });
    return { ...member, state: reduceState(member.state, { type: 'replace', change: changeAcross }).state };
  });
  return members.every((each, index) => each === all.members[index]) ? all : { ...all, members };
}

const combineLists = (all: AllState): CombinedLists => ({
  lines: Object.fromEntries(
    COMBINED_PANE_IDS.map((id) => [
      id,
      countListLines(countCombinedSections(all, id), countCombinedRows(all, id)),
    ]),
  ) as CombinedLists['lines'],
});

const isSameAcross = (one: AcrossWorkspaces | null, other: AcrossWorkspaces): boolean =>
  one !== null &&
  one.isActive === other.isActive &&
  one.label === other.label &&
  one.setAside === other.setAside &&
  JSON.stringify(one.lists) === JSON.stringify(other.lists);

/** Scrolls each list: as little as possible after keys, otherwise so that the selected row keeps its screen position. */
function scrollTops(before: AllState, all: AllState, isByHand: boolean): AllState {
  const layout = getLayout(getActive(all).state);
  const tops = Object.fromEntries(
    COMBINED_PANE_IDS.map((pane) => {
      const index = findCombinedIndex(all, pane);
      const height = getListHeight(layout, pane);
      const top = all.tops[pane] + (isByHand ? 0 : index - findCombinedIndex(before, pane));
      const rows = countCombinedRows(all, pane);
      return [pane, fitTop({ sections: countCombinedSections(all, pane), rows, index, height }, top)];
    }),
  ) as AllState['tops'];
  return { ...all, tops };
}
