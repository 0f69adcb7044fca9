import type {
  AgentCircuit,
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

/** A task as lists carry it. */
export type TaskRow = Wire<ListedTask>;
export type TaskView = Wire<Task>;
export type DecisionRow = Wire<ListedDecision>;
export type SessionRow = Wire<ListedSession>;
export type DeliveryRow = Wire<Delivery>;
export type EventRow = Wire<LoggedEvent>;
export type AskRow = Wire<Ask>;
export type MessageRow = Wire<BusMessage>;
export type LockRow = Wire<Lock>;
export type PeerRow = Wire<Peer>;
/** An agent that is given no work, because it failed again and again (`agent.held`). */
export type HeldRow = Wire<AgentCircuit>;
/** What a session has reported of its work, and what that is worth now (`verify.show`). */
export type Evidence = Wire<Verification>;
export type Status = Wire<EngineStatus>;

/** What a run of a task would do now (`task.plan`). */
export type Plan = Wire<TaskPlan>;
/** Whether promoting would go through (`worktree.trial`). */
export type Trial = Wire<SessionTrial>;
/** What a new task may name (`task.choices`). */
export type Choices = Wire<TaskChoices>;

/** What a session has changed (`worktree.diff`) and whether it would merge (`worktree.trial`). */
export interface Work {
  branch: string | null;
  base: string | null;
  commits: { id: string; subject: string; author: string; at: string }[];
  files: { path: string; insertions: number; deletions: number }[];
  patch: { text: string; truncated: boolean };
  trial: Trial | { problem: string };
  /** When all of this was asked of git. */
  tried_at: string;
}

/** Messages that nobody has acknowledged (`message.counts`). */
export interface Unread {
  unread: number;
  alerts: number;
}

/** Something a worker said, from `.svc/notices`. */
export interface Notice {
  id: string;
  session: string;
  at: string;
  text: string;
}

/** What the preview shows beyond the row of the list. */
export interface Details {
  task: {
    task: TaskView;
    decision: Wire<Decision> | null;
    sessions: Wire<Session>[];
    timeline: EventRow[];
    plan: Plan;
  };
  /** `changes` are what an approval would be refused for now. */
  decision: { decision: Wire<Decision>; task: TaskView; plan: Plan; changes: DecisionRow['changes'] };
  work: Work;
  evidence: Evidence;
}

export type DetailKind = keyof Details;

/** A detail belongs to a state of its subject (`stampOf`): with another stamp it is out of date, and shown until the next. */
export interface Loaded<K extends DetailKind = DetailKind> {
  kind: K;
  id: string;
  stamp: string;
  detail: Details[K] | null;
  problem: string | null;
}

/** Everything the engine has told. Maps are replaced, never changed. */
export interface Data {
  tasks: ReadonlyMap<string, TaskRow>;
  decisions: ReadonlyMap<string, DecisionRow>;
  sessions: ReadonlyMap<string, SessionRow>;
  deliveries: ReadonlyMap<string, DeliveryRow>;
  /** By their number as text. */
  asks: ReadonlyMap<string, AskRow>;
  /** By their number as text. */
  messages: ReadonlyMap<string, MessageRow>;
  unread: Unread;
  peers: readonly PeerRow[];
  locks: readonly LockRow[];
  /** Agents that are given no work. */
  held: readonly HeldRow[];
  /** By session: the newest event that told of its evidence. */
  reports: ReadonlyMap<string, number>;
  /** Oldest first. */
  events: readonly EventRow[];
  notices: readonly Notice[];
  status: Status | null;
  choices: Choices | null;
  /** False while older tasks are still being fetched. */
  complete: boolean;
}

/** In the order of their digits; the last two have none and belong to Bus. */
export const PANE_IDS = [
  'tasks',
  'decisions',
  'asks',
  'workers',
  'bus',
  'events',
  'deliveries',
  'peers',
  'locks',
] as const;
export type PaneId = (typeof PANE_IDS)[number];

/** A list as it is shown: the order of its rows, and a cursor that belongs to a row and not to a place. */
export interface ListView {
  filter: string;
  ids: readonly string[];
  selected: string | null;
  index: number;
  /** Of the first visible row. */
  top: number;
}

/** The last lines of one session's log. Line numbers count from the first line that was ever read. */
export interface LogView {
  session: string | null;
  lines: readonly string[];
  /** Number of `lines[0]`. */
  first: number;
  /** The beginning of a line that has not ended. */
  partial: string;
  ended: boolean;
  following: boolean;
  /** Where it was paused: the number of the first line that was not seen. */
  seen: number;
}

/** Where a preview is scrolled to; `of` says whose it is. */
export interface Scroll {
  of: string;
  top: number;
  left: number;
}

export interface Search {
  of: string;
  query: string;
  /** Index of the line that the last `n` went to. */
  at: number;
}

/** A question on the bottom line that a second, different key answers. */
export interface Armed {
  binding: string;
  /** What it is about, and the state of that when the question was asked. */
  subject: Subject;
  stamp: string;
  at: number;
  question: string;
  answers: readonly { key: string; label: string }[];
}

export interface Subject {
  kind: 'task' | 'decision' | 'session' | 'delivery' | 'lock' | 'agent';
  id: string;
}

export interface Input {
  value: string;
  /** In UTF-16 units. */
  caret: number;
}

/** What lies over the panes and takes the keyboard; Esc closes it. */
export type Overlay =
  | { kind: 'help' | 'palette'; input: Input; index: number }
  | { kind: 'filter'; pane: PaneId; before: string; input: Input }
  | { kind: 'search'; of: string; input: Input }
  | { kind: 'reason'; decision: string; hash: string; input: Input }
  /** A stranger's task where nothing would confine it: its id is typed. */
  | { kind: 'unconfined'; decision: string; task: string; hash: string; input: Input }
  | { kind: 'agent'; task: string; index: number }
  | AnswerAsk
  | WriteMessage
  | NewTask
  | { kind: 'text'; title: string; lines: readonly string[]; top: number }
  | { kind: 'engine'; top: number };

export interface NewTask {
  kind: 'new-task';
  field: number;
  /** Index into `whos` of the choices: agents, then templates. */
  who: number;
  project: number;
  title: Input;
  prompt: string;
  /** One per line. */
  criteria: string;
  context: string;
  ledger: Input;
}

/** A question that was opened. The row is that of the moment: what was read is what is answered. */
export interface AnswerAsk {
  kind: 'answer';
  ask: AskRow;
  input: Input;
  /** The first line that is shown. */
  top: number;
  openedAt: number;
}

/** A message that is being written. */
export interface WriteMessage {
  kind: 'write';
  /** The message that it answers. */
  parent: MessageRow | null;
  /** Who was here when it was begun. */
  targets: readonly { session: string; about: string }[];
  to: number;
  message: MessageRow['kind'];
  field: number;
  text: Input;
  /** From the editor, when it has several lines; it takes the place of `text`. */
  long: string | null;
}

export interface Message {
  text: string;
  tone: 'info' | 'good' | 'bad';
  /** What to do next. */
  hint?: string | undefined;
  at: number;
}

/** The connection: `lost` keeps the last data on screen. */
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

/** The whole dashboard. Changed by `update` only. */
export interface State {
  size: Size;
  now: number;
  link: Link;
  data: Data;
  lists: Readonly<Record<PaneId, ListView>>;
  focus: PaneId;
  /** `full`: the preview of the selected item fills the screen. */
  view: 'list' | 'full';
  /** Whether the preview of a worker shows its log or its work. */
  workers: 'log' | 'work';
  scroll: Scroll;
  search: Search | null;
  log: LogView;
  details: readonly Loaded[];
  overlay: Overlay | null;
  /** A row to go to as soon as its list has it. */
  jump: { pane: PaneId; id: string } | null;
  armed: Armed | null;
  message: Message | null;
  /** What was sent to the engine and is not answered, as ids of subjects. */
  busy: readonly string[];
  /** When the program itself last moved a selection. */
  movedAt: number;
  bell: boolean;
  /** There is no screen: changes are told as lines. */
  isPlain: boolean;
  /** Lines for the terminal after the dashboard has ended. */
  farewell: readonly string[];
}
