import type {
  AgentCircuit,
  Api,
  Ask,
  Message as BusMessage,
  Decision,
  Delivery,
  EngineStatus,
  ListedDecision,
  ListedSession,
  ListedTask,
  Lock,
  LoggedEvent,
  Peer,
  Session,
  SessionTrial,
  Task,
  TaskChoices,
  TaskPlan,
  Verification,
  Wire,
} from '../../engine/index.ts';
import type { Preferences } from '../preferences/preferences.ts';
import type { CombinedPaneId, PaneId } from './pane-ids.ts';

export { type CombinedPaneId, PANE_IDS, type PaneId } from './pane-ids.ts';

/** A task as `task.list` returns it. */
export type TaskRow = Wire<ListedTask>;
export type TaskView = Wire<Task>;
export type DecisionRow = Wire<ListedDecision>;
export type SessionRow = Wire<ListedSession>;
/** What any view knows of a session. */
export type SessionFacts = Wire<Session> & Pick<SessionRow, 'committed'>;
export type DeliveryRow = Wire<Delivery>;
export type EventRow = Wire<LoggedEvent>;
export type AskRow = Wire<Ask>;
export type MessageRow = Wire<BusMessage>;
export type LockRow = Wire<Lock>;
export type PeerRow = Wire<Peer>;
/** An agent whose circuit is open: it failed repeatedly and gets no work (`agent.held`). */
export type HeldRow = Wire<AgentCircuit>;
/** What `memory.browse` has found; `filter` is what was asked for. */
export type Memories = Api['memory.browse']['output'] & { filter: string };
export type MemoryRow = Memories['memories'][number];
/** What was done so far (`stats.read`). */
export type Stats = Api['stats.read']['output'];
/** What a session has reported about its work, and whether that still holds (`verify.show`). */
export type Evidence = Wire<Verification>;
export type Status = Wire<EngineStatus>;
/** Usage of one UTC day (`gateway.today`). */
export type UsageDay = Api['gateway.today']['output'];

/** What a run of a task would do now (`task.plan`). */
export type Plan = Wire<TaskPlan>;
/** What a person has written beside a line of a diff (`comment.list`). */
export type RaceView = Api['task.compare']['output'];
export type CommentRow = Api['comment.list']['output']['comments'][number];
/** Whether a promotion would go through (`worktree.trial`). */
export type Trial = Wire<SessionTrial>;
/** Agents, templates and projects that a new task may name (`task.choices`). */
export type Choices = Wire<TaskChoices>;

/** What a session has changed (`worktree.diff`) and whether it would merge (`worktree.trial`). */
export interface Work {
  branch: string | null;
  base: string | null;
  /** The commit that the patch ends at. */
  head: string;
  commits: { id: string; subject: string; author: string; at: string }[];
  files: { path: string; insertions: number; deletions: number }[];
  patch: { text: string; truncated: boolean };
  trial: Trial | { problem: string };
  /** When git was asked for all of this. */
  tried_at: string;
}

/** What a session's changes reach (`impact`). */
export type Impact = Api['impact']['output'];

/** Counts of messages that nobody has acknowledged (`message.counts`). */
export interface Unread {
  unread: number;
  alerts: number;
}

/** A notice from `.svc/notices`. */
export interface Notice {
  id: string;
  session: string;
  at: string;
  text: string;
}

/** What previews show beyond the row of the list. */
export interface Details {
  task: {
    task: TaskView;
    decision: Wire<Decision> | null;
    sessions: Wire<Session>[];
    timeline: EventRow[];
    plan: Plan;
  };
  /** `changes` are inputs that have changed, for which an approval would be refused. */
  decision: { decision: Wire<Decision>; task: TaskView; plan: Plan; changes: DecisionRow['changes'] };
  work: Work;
  evidence: Evidence;
  impact: Impact;
  /** By file and line. */
  comments: readonly CommentRow[];
  /** The newest race of a task. */
  race: RaceView;
}

export type DetailKind = keyof Details;

/** A fetched detail. When the stamp of its subject changes (`getSubjectStamp`), it is shown until it is fetched anew. */
export interface LoadedDetail<K extends DetailKind = DetailKind> {
  kind: K;
  id: string;
  stamp: string;
  detail: Details[K] | null;
  problem: string | null;
  /** How far the engine is, while it is being fetched. */
  progress?: string;
}

/** Everything known from the engine. Maps are replaced, never mutated. */
export interface Data {
  tasks: ReadonlyMap<string, TaskRow>;
  decisions: ReadonlyMap<string, DecisionRow>;
  sessions: ReadonlyMap<string, SessionRow>;
  deliveries: ReadonlyMap<string, DeliveryRow>;
  /** By number, as text. */
  asks: ReadonlyMap<string, AskRow>;
  /** By number, as text. */
  messages: ReadonlyMap<string, MessageRow>;
  unread: Unread;
  peers: readonly PeerRow[];
  locks: readonly LockRow[];
  /** Agents that get no work. */
  held: readonly HeldRow[];
  /** For each session, the number of the newest event about its evidence. */
  reports: ReadonlyMap<string, number>;
  /** Number of the newest event about comments on diffs. */
  commented: number;
  /** Oldest first. */
  events: readonly EventRow[];
  notices: readonly Notice[];
  /** Null while it is not known. */
  usage: UsageDay | null;
  status: Status | null;
  choices: Choices | null;
  /** Null until the list of memories has been looked at. */
  memories: Memories | null;
  /** Null until they have been looked at. */
  stats: Stats | null;
  /** False while older tasks are still being fetched. */
  complete: boolean;
}

/** A list on the screen. The cursor belongs to a row, not to a position. */
export interface ListView {
  filter: string;
  ids: readonly string[];
  selected: string | null;
  index: number;
  /** Index of the first visible row. */
  top: number;
  /** Rows marked for one action on all of them, by id: the stamp of the row when it was marked (`getSubjectStamp`). */
  marks: ReadonlyMap<string, string>;
  /** The row that was marked last, from which a range begins. */
  anchor: string | null;
  /** The column that a person has sorted by; null for the pane's own order. */
  sort: Sort | null;
  /** All ids as they were sorted last. What changes or arrives afterwards moves no row; null in the pane's own order. */
  order: readonly string[] | null;
}

export interface Sort {
  /** The heading of the column. */
  column: string;
  descending: boolean;
}

/** The last lines of a session's log. Line numbers count from the first line that was read. */
export interface LogView {
  session: string | null;
  lines: readonly string[];
  /** Number of `lines[0]`. */
  first: number;
  /** The line that has not ended yet. */
  partial: string;
  ended: boolean;
  following: boolean;
  /** Number of the first line that arrived after the log was paused. */
  seen: number;
}

/** How far a preview is scrolled; `of` is the key of the preview (`getPreviewKey`). */
export interface Scroll {
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

export interface Search {
  of: string;
  query: string;
  /** Index of the line that the last `n` went to. */
  at: number;
}

/** A question on the bottom line, which a second, different key answers. */
export interface Armed {
  binding: string;
  /** What the question is about; `stamp` is the subject's when it was asked. */
  subject: Subject;
  stamp: string;
  at: number;
  question: string;
  answers: readonly { key: string; label: string }[];
}

export interface Subject {
  kind: 'task' | 'decision' | 'session' | 'delivery' | 'lock' | 'agent' | 'memory' | 'message';
  id: string;
}

export interface Input {
  value: string;
  /** In UTF-16 units. */
  caret: number;
}

/** Something over the panes that has the keyboard. Esc closes it. */
export type Overlay =
  | { kind: 'help' | 'palette'; input: Input; index: number }
  | { kind: 'filter'; pane: PaneId; before: string; input: Input }
  | { kind: 'search'; of: string; input: Input }
  | { kind: 'reason'; decision: string; hash: string; input: Input }
  /** Asks for the id of a stranger's task that would run without a sandbox. */
  | { kind: 'unconfined'; decision: string; task: string; hash: string; input: Input }
  | { kind: 'agent'; task: string; index: number }
  | ChooseRacers
  | CompareRace
  | OpenPullRequest
  | WriteComment
  | SendFollowUp
  | AnswerAsk
  | WriteMessage
  | NewTask
  | BulkQuestion
  | { kind: 'text'; title: string; lines: readonly string[]; top: number }
  | { kind: 'impact'; session: string; top: number }
  | { kind: 'preferences'; index: number }
  | { kind: 'engine'; top: number };

/** One question about every marked row of a list. */
export interface BulkQuestion {
  kind: 'bulk';
  pane: PaneId;
  binding: string;
  /** It says what previews say, so their details are fetched. */
  needsDetails: boolean;
  /** When it was opened. */
  at: number;
  /** Index of the first visible line. */
  top: number;
  /** How many lines have been on the screen. */
  seen: number;
  /** By id, what the question said of each row when all of it was known; null before that. A row that says something else is left out. */
  asked: ReadonlyMap<string, string> | null;
}

/** Calls about many rows that are under way, so that their answers become one message. */
export interface BulkRun {
  label: string;
  /** Subjects that have not been answered yet. */
  waiting: readonly string[];
  done: readonly string[];
  refused: readonly LeftOut[];
  leftOut: readonly LeftOut[];
}

/** A marked row that an action did not reach, and why. */
export interface LeftOut {
  id: string;
  reason: string;
}

export interface NewTask {
  kind: 'new-task';
  field: number;
  /** Index into the agents followed by the templates. */
  who: number;
  project: number;
  title: Input;
  prompt: string;
  /** One criterion per line. */
  criteria: string;
  context: string;
  ledger: Input;
}

/** Which agents a task is to be raced by. */
export interface ChooseRacers {
  kind: 'race';
  task: string;
  /** The task's when it was opened. */
  stamp: string;
  index: number;
  /** How many sessions each agent gets. */
  counts: Readonly<Record<string, number>>;
  /** When it was asked whether to start them, by the keys' clock; null while they are being chosen. */
  askedAt: number | null;
}

/** The sessions of a race, and the diff of one of them. */
export interface CompareRace {
  kind: 'compare';
  task: string;
  /** Index of the session whose diff is shown. */
  index: number;
  /** The file of the diff, the same for all of them; null is the first one. */
  path: string | null;
  /** Lines of it above the screen. */
  top: number;
  /** When it was asked whether to promote this one, by the keys' clock; null when it was not. */
  askedAt: number | null;
}

/** What opening a pull request would run, to be read before it is. */
export interface OpenPullRequest {
  kind: 'pull-request';
  session: string;
  material: Api['worktree.pr']['output'];
  top: number;
  openedAt: number;
}

/** A comment on a line of a diff that is being written. */
export interface WriteComment {
  kind: 'comment';
  session: string;
  /** The commit that the diff ended at. */
  head: string;
  path: string;
  side: 'new' | 'old';
  line: number;
  input: Input;
}

/** What an ended session would be sent on with, to be read before it is sent. */
export interface SendFollowUp {
  kind: 'follow-up';
  session: string;
  text: string;
  /** Ids of the comments that the text has taken in. */
  comments: readonly number[];
  /** Index of the first visible line. */
  top: number;
  openedAt: number;
  /** The session's when it was opened. */
  stamp: string;
}

/** An opened ask. `ask` is the row at that moment, so that the answer goes to what was read. */
export interface AnswerAsk {
  kind: 'answer';
  ask: AskRow;
  input: Input;
  /** Index of the first visible line. */
  top: number;
  openedAt: number;
}

/** A message that is being written. */
export interface WriteMessage {
  kind: 'write';
  /** The message that this one replies to. */
  parent: MessageRow | null;
  /** Who was live when writing began. */
  targets: readonly { session: string; about: string }[];
  to: number;
  message: MessageRow['kind'];
  field: number;
  text: Input;
  /** A text of several lines from the editor, which replaces `text`. */
  long: string | null;
}

export interface Message {
  text: string;
  /** The workspace that it is about, where that is not the one of the selected row; empty for none. */
  workspace?: string;
  tone: 'info' | 'good' | 'bad';
  /** What to do next. */
  hint?: string | undefined;
  at: number;
}

/** The connection. While it is `lost`, the last data stays on the screen. */
export interface Link {
  phase: 'connecting' | 'live' | 'lost';
  since: number;
  reason: string | null;
  workspace: string;
  root: string;
}

export interface Size {
  columns: number;
  rows: number;
}

/** One of the workspaces of `svc dash --all`, as its own part of the dashboard sees the others. */
export interface Across {
  /** What it is called among them. */
  label: string;
  /** Whether the keyboard is its own. */
  isActive: boolean;
  /** The rows of all workspaces in one list; null while this one is shown alone. */
  lists: CombinedLists | null;
}

/** How much the lists of all workspaces hold together. */
export interface CombinedLists {
  /** Rows of each combined list. */
  lengths: Readonly<Record<CombinedPaneId, number>>;
  /** Sessions that have not ended. */
  live: number;
}

/** The whole dashboard of a workspace. Only the reducer changes it. */
export interface State {
  size: Size;
  now: number;
  link: Link;
  data: Data;
  lists: Readonly<Record<PaneId, ListView>>;
  focus: PaneId;
  /** `full`: the preview of the selected item fills the screen. */
  view: 'list' | 'full';
  /** The list of the focused pane has the screen to itself. */
  isZoomed: boolean;
  /** Whether the preview of a worker shows its log or its work. */
  workers: 'log' | 'work';
  /** What the figures are split by. */
  statsBy: Stats['by'];
  scroll: Scroll;
  diffCursor: DiffCursor | null;
  search: Search | null;
  log: LogView;
  details: readonly LoadedDetail[];
  overlay: Overlay | null;
  /** A row to select as soon as its list has it. */
  jump: { pane: PaneId; id: string } | null;
  armed: Armed | null;
  message: Message | null;
  /** Ids of the subjects of calls that the engine has not answered yet. */
  busy: readonly string[];
  /** Null when no action on many rows is under way. */
  bulk: BulkRun | null;
  /** When the program, rather than a key, last moved a selection. */
  movedAt: number;
  preferences: Preferences;
  /** Null in a dashboard of one workspace. */
  across: Across | null;
  /** There is no screen; changes are printed as lines. */
  isPlain: boolean;
  /** Lines to print on the terminal after the dashboard has closed. */
  farewell: readonly string[];
}
