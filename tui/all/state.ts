import { basename } from 'node:path';
import type { CombinedPaneId } from '../pane-ids.ts';
import { COMBINED_PANE_IDS } from '../pane-ids.ts';
import type { Preferences } from '../preferences/preferences.ts';
import type { ScreenSize, State } from '../state/model.ts';
import { createInitialState } from '../store.ts';

// The dashboard of several workspaces consists of one dashboard each, of which one has the keyboard. Its lists show
// the rows of all; selections, questions and answers belong to the workspace of the row, by the rules of a dashboard
// of one workspace.

/** The location of a workspace. */
export interface WorkspacePlace {
  /** svc.yaml, absolute; it identifies a workspace. */
  file: string;
  /** Its folder. */
  root: string;
  /** `workspace.name`, which need not be unique. */
  name: string;
}

export interface WorkspaceMember extends WorkspacePlace {
  /** Its name, made unique. */
  label: string;
  state: State;
}

/** The dashboard of all workspaces. Only `reduceAll` changes it. */
export interface AllState {
  /** In the order in which they were first seen, at least one. */
  members: readonly WorkspaceMember[];
  /** `file` of the member that has the keyboard. */
  active: string;
  /** True if the active member is shown alone. */
  isAlone: boolean;
  /** By list: `file` of the member whose row is selected there. */
  cursors: Readonly<Record<CombinedPaneId, string>>;
  /** By list: the index, among all rows, of the first visible one. */
  tops: Readonly<Record<CombinedPaneId, number>>;
  /** Index of a member while one is being chosen; null otherwise. */
  chooser: number | null;
}

const recordOf = <T>(value: T): Record<CombinedPaneId, T> =>
  Object.fromEntries(COMBINED_PANE_IDS.map((id) => [id, value])) as Record<CombinedPaneId, T>;

/** @param here `file` of the workspace that the person is in, which has the keyboard at first */
export function createAllState(
  places: readonly [WorkspacePlace, ...WorkspacePlace[]],
  { here, ...options }: { here: string | null; size: ScreenSize; now: number; preferences?: Preferences },
): AllState {
  const members = addMembers([], places, () => createInitialState(options));
  const active = members.find(({ file }) => file === here)?.file ?? places[0].file;
  return {
    members,
    active,
    isAlone: false,
    cursors: recordOf(active),
    tops: recordOf(0),
    chooser: null,
  };
}

/** Adds new members. Labels stay unchanged. */
export function addMembers(
  before: readonly WorkspaceMember[],
  places: readonly WorkspacePlace[],
  createState: () => State,
): readonly WorkspaceMember[] {
  const added = places.filter(({ file }) => !before.some((each) => each.file === file));
  const members = [...before];
  for (const place of added) {
    const others = added.filter(({ file }) => file !== place.file).map(({ name }) => name);
    const label = chooseLabel(place, new Set([...others, ...members.map((each) => each.label)]));
    members.push({ ...place, label, state: createState() });
  }
  return members;
}

/** Returns the name alone, with its folder, or with a number. */
function chooseLabel(
  { root, name }: Pick<WorkspacePlace, 'root' | 'name'>,
  taken: ReadonlySet<string>,
): string {
  if (!taken.has(name)) return name;
  const long = `${name} ${basename(root)}`;
  for (let count = 1; ; count += 1) {
    const label = count === 1 ? long : `${long} ${count}`;
    if (!taken.has(label)) return label;
  }
}

export const findMember = ({ members }: Pick<AllState, 'members'>, file: string): WorkspaceMember =>
  members.find((each) => each.file === file)!;

export const getActive = (all: AllState): WorkspaceMember => findMember(all, all.active);
