import type { CombinedPaneId, PaneId } from '../pane-ids.ts';
import type { Preferences } from '../preferences/preferences.ts';
import type { BulkRun, NewTaskForm, OverlayState } from './overlays.ts';
import type { DashboardData, ListedStats, LoadedDetail } from './rows.ts';

/** A list on the screen. The cursor belongs to a row, not to a position. */
export interface ListView {
  filter: string;
  ids: readonly string[];
  /** How many rows each section of the list has, in their order; empty for a list without sections. */
  sections: readonly number[];
  selected: string | null;
  index: number;
  /** Index of the first visible row. */
  top: number;
  /** Rows marked for one action on all of them, by id: the stamp of the row when it was marked (`getSubjectStamp`). */
  marks: ReadonlyMap<string, string>;
  /** The last marked row, from which a range starts. */
  anchor: string | null;
  /** The column chosen for sorting; null for the pane's own order. */
  sort: ListSort | null;
  /** All ids in the last sort order. Later changes and arrivals move no row; null in the pane's own order. */
  order: readonly string[] | null;
}

export interface ListSort {
  /** The heading of the column. */
  column: string;
  descending: boolean;
}

/** The last lines of a session's log. Line numbers count from the first line that was read. */
export interface LogView {
  source: LogSource | null;
  lines: readonly string[];
  /** Number of `lines[0]`. */
  first: number;
  /** The unfinished line. */
  partial: string;
  ended: boolean;
  following: boolean;
  /** Number of the first line that arrived after the log was paused. */
  seen: number;
}

/** A start of a command of the project in a worktree. */
export interface ShownCommand {
  name: string;
  /** RFC 3339; tells this start from the next one. */
  startedAt: string;
}

/** A log that is followed: of a session's agent, or of a command in its worktree. */
export interface LogSource {
  session: string;
  /** Null for the agent. */
  command: ShownCommand | null;
}

/** Texts about a run: its log, its diff, its task with prompt and history, or the log of a command in its worktree. */
export type RunText = 'log' | 'work' | 'task' | 'command';

/** How far a preview is scrolled; `of` is the key of the preview (`getPreviewKey`). */
export interface ScrollPosition {
  of: string;
  top: number;
  left: number;
}

/** The line of a session's diff that keys act on. It holds as long as the diff ends at the same commit. */
export interface DiffCursor {
  session: string;
  head: string;
  /** Index into the rows of the patch. */
  at: number;
}

export interface ListSearch {
  of: string;
  query: string;
  /** Index of the line that the last `n` went to. */
  at: number;
}

/** A question on the bottom line, which a second, different key answers. */
export interface ArmedKey {
  binding: string;
  /** The subject of the question; `stamp` is the subject's stamp at the time of the question. */
  subject: DetailSubject;
  stamp: string;
  at: number;
  question: string;
  answers: readonly { key: string; label: string }[];
  /** True while what it asks about is still being fetched, so that no answer counts yet. */
  isEarly?: true;
}

export interface DetailSubject {
  kind:
    | 'task'
    | 'decision'
    | 'session'
    | 'delivery'
    | 'lock'
    | 'agent'
    | 'memory'
    | 'message'
    | 'runner'
    | 'program';
  id: string;
}

/** How long a message stays, unless it is a failure. */
export const MESSAGE_MS = 8000;

export interface StatusMessage {
  text: string;
  /** The workspace of the message, if it differs from the selected row's; empty for none. */
  workspace?: string;
  tone: 'info' | 'good' | 'bad';
  /** The next step. */
  hint?: string | undefined;
  at: number;
}

/** The connection. While it is `lost`, the last data stays on the screen. */
export interface EngineLink {
  phase: 'connecting' | 'live' | 'lost';
  since: number;
  reason: string | null;
  workspace: string;
  root: string;
}

export interface ScreenSize {
  columns: number;
  rows: number;
}

/** One of the workspaces of `svc dash --all`, as seen by its part of the dashboard. */
export interface AcrossWorkspaces {
  /** Its label among the workspaces. */
  label: string;
  /** True if it has the keyboard. */
  isActive: boolean;
  /** The rows of all workspaces in one list; null while this one is shown alone. */
  lists: CombinedLists | null;
  /** Number of forms of the others that wait to come back. */
  setAside: number;
}

/** Sizes of the combined lists. */
export interface CombinedLists {
  /** Lines of each combined list. */
  lines: Readonly<Record<CombinedPaneId, number>>;
}

/** The whole dashboard of a workspace. Only the reducer changes it. */
export interface State {
  size: ScreenSize;
  now: number;
  link: EngineLink;
  data: DashboardData;
  lists: Readonly<Record<PaneId, ListView>>;
  focus: PaneId;
  /** The part that has the keyboard: the list, the text of the selected row next to it, or that text on the whole screen. */
  view: 'list' | 'text' | 'full';
  /** True if the list of the focused pane fills the screen. */
  isZoomed: boolean;
  /** The person's choice for the text of one row; other rows show what fits their state. */
  shown: { row: string; as: RunText; command?: ShownCommand } | null;
  /** The grouping of the figures. */
  statsBy: ListedStats['by'];
  scroll: ScrollPosition;
  diffCursor: DiffCursor | null;
  search: ListSearch | null;
  log: LogView;
  details: readonly LoadedDetail[];
  overlay: OverlayState | null;
  /** Forms that wait to come back: refused while the person was busy, or left while the engine was not running. */
  setAside: readonly OverlayState[];
  /** The form of a new task that was closed with text in it. */
  draft: NewTaskForm | null;
  /** Branches that new tasks are to start from, until they run. */
  bases: Readonly<Record<string, string>>;
  /** A row to select as soon as it is listed, and the question that is asked about it then. */
  jump: { pane: PaneId; id: string; ask?: string } | null;
  /** The urgent row that a key went to last: while it is selected, the same key continues with the next one. */
  urgentAt: string | null;
  armed: ArmedKey | null;
  /** The second keys of a question that was refused: pressed next, they do nothing else. Null for none. */
  refused: { keys: readonly string[]; at: number } | null;
  /** A key that is asked once the engine has answered what was done to the same subject. */
  awaited: { binding: string; id: string; at: number } | null;
  message: StatusMessage | null;
  /** Ids of the subjects of calls that the engine has not answered yet. */
  busy: readonly string[];
  /** Null if no action on many rows is in progress. */
  bulk: BulkRun | null;
  /** When the program, rather than a key, last moved a selection. */
  movedAt: number;
  /** Since when keys are ignored, because their question or form was removed; null if they act. */
  withdrawnAt: number | null;
  preferences: Preferences;
  /** Null in a dashboard of one workspace. */
  across: AcrossWorkspaces | null;
  /** True while the person's keyboard is at this terminal; null if it does not say. */
  hasFocus: boolean | null;
  /** True if changes are printed as lines, without a screen. */
  isPlain: boolean;
  /** Lines to print on the terminal after the dashboard has closed. */
  farewell: readonly string[];
}
