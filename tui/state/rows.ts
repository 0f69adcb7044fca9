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

/** A task as `task.list` returns it. */
export type TaskRow = Wire<ListedTask>;
export type TaskView = Wire<Task>;
export type DecisionRow = Wire<ListedDecision>;
export type SessionRow = Wire<ListedSession>;
/** The facts about a session that all views share. */
export type SessionFacts = Wire<Session> & Pick<SessionRow, 'committed'>;
export type DeliveryRow = Wire<Delivery>;
export type EventRow = Wire<LoggedEvent>;
export type AskRow = Wire<Ask>;
export type MessageRow = Wire<BusMessage>;
export type LockRow = Wire<Lock>;
export type PeerRow = Wire<Peer>;
/** An agent whose circuit is open: it failed repeatedly and gets no work (`agent.held`). */
export type HeldRow = Wire<AgentCircuit>;
/** The result of `memory.browse`; `filter` is the query. */
export type Memories = Api['memory.browse']['output'] & { filter: string };
export type MemoryRow = Memories['memories'][number];
/** Statistics (`stats.read`). */
export type Stats = Api['stats.read']['output'];
/** A session's report about its work, and whether it still holds (`verify.show`). */
export type Evidence = Wire<Verification>;
export type Status = Wire<EngineStatus>;
/** Usage of one UTC day (`gateway.today`). */
export type UsageDay = Api['gateway.today']['output'];

/** The plan of a run of a task (`task.plan`). */
export type Plan = Wire<TaskPlan>;
/** The sessions of a race, side by side (`task.compare`). */
export type RaceView = Api['task.compare']['output'];
/** A person's comment on a line of a diff (`comment.list`). */
export type CommentRow = Api['comment.list']['output']['comments'][number];
/** Result of a trial merge (`worktree.trial`). */
export type Trial = Wire<SessionTrial>;
/** Agents, templates and projects that a new task may name (`task.choices`). */
export type Choices = Wire<TaskChoices>;

/** The changes of a session (`worktree.diff`) and whether they would merge (`worktree.trial`). */
export interface Work {
  branch: string | null;
  base: string | null;
  /** The commit that the patch ends at. */
  head: string;
  commits: { id: string; subject: string; author: string; at: string }[];
  files: { path: string; insertions: number; deletions: number }[];
  patch: { text: string; truncated: boolean };
  trial: Trial | { problem: string };
  /** When git was queried for all of this. */
  tried_at: string;
}

/** The impact of a session's changes (`impact`). */
export type Impact = Api['impact']['output'];

/** Counts of unacknowledged messages (`message.counts`). */
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

/** Data for previews beyond the row of the list. */
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

/** A fetched detail. When the stamp of its subject changes (`getSubjectStamp`), it is shown until it is fetched again. */
export interface LoadedDetail<K extends DetailKind = DetailKind> {
  kind: K;
  id: string;
  stamp: string;
  detail: Details[K] | null;
  problem: string | null;
  /** The engine's progress, while it is being fetched. */
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
  /** Null while it is unknown. */
  usage: UsageDay | null;
  status: Status | null;
  choices: Choices | null;
  /** Null until the list of memories has been opened. */
  memories: Memories | null;
  /** Null until they have been opened. */
  stats: Stats | null;
  /** False while older tasks are still being fetched. */
  complete: boolean;
}
