import type {
  AgentCircuit,
  Api,
  Ask,
  Message as BusMessage,
  Decision,
  EngineStatus,
  EventDelivery,
  ListedDecision,
  ListedRunner,
  ListedSession,
  ListedTask,
  Lock,
  LoggedEvent,
  Session,
  SessionPeer,
  SessionTrial,
  Task,
  TaskChoices,
  TaskPlan,
  Verification,
  WireValue,
} from '../../engine/index.ts';

/** A task as `task.list` returns it. */
export type ShownTask = WireValue<ListedTask>;
export type TaskView = WireValue<Task>;
export type ShownDecision = WireValue<ListedDecision>;
export type ShownSession = WireValue<ListedSession>;
/** The facts about a session that all views share. */
export type SessionFacts = WireValue<Session> & Pick<ShownSession, 'committed'>;
export type ListedDelivery = WireValue<EventDelivery>;
export type EventRow = WireValue<LoggedEvent>;
export type ListedAsk = WireValue<Ask>;
export type ListedMessage = WireValue<BusMessage>;
export type ListedLock = WireValue<Lock>;
export type PeerRow = WireValue<SessionPeer>;
/** Another machine that runs workers (`runner.list`). */
export type RunnerRow = WireValue<ListedRunner>;
/** An agent whose circuit is open: it failed repeatedly and gets no work (`agent.held`). */
export type HeldRow = WireValue<AgentCircuit>;
/** The result of `memory.browse`; `filter` is the query. */
export type ListedMemories = Api['memory.browse']['output'] & { filter: string };
export type ListedMemory = ListedMemories['memories'][number];
/** Statistics (`stats.read`). */
export type ListedStats = Api['stats.read']['output'];
/** A session's report about its work, and whether it still holds (`verify.show`). */
export type ListedEvidence = WireValue<Verification>;
export type StatusRow = WireValue<EngineStatus>;
/** Usage of one UTC day (`gateway.today`). */
export type ListedUsageDay = Api['gateway.today']['output'];

/** The plan of a run of a task (`task.plan`). */
export type ListedPlan = WireValue<TaskPlan>;
/** The sessions of a race, side by side (`task.compare`). */
export type RaceView = Api['task.compare']['output'];
/** A person's comment on a line of a diff (`comment.list`). */
export type CommentRow = Api['comment.list']['output']['comments'][number];
/** Result of a trial merge (`worktree.trial`). */
export type ListedTrial = WireValue<SessionTrial>;
/** Agents, templates and projects that a new task may name (`task.choices`). */
export type ChoiceRows = WireValue<TaskChoices>;

/** The changes of a session (`worktree.diff`) and whether they would merge (`worktree.trial`). */
export interface ListedWork {
  branch: string | null;
  base: string | null;
  /** The commit that the patch ends at. */
  head: string;
  commits: { id: string; subject: string; author: string; at: string }[];
  files: { path: string; insertions: number; deletions: number }[];
  patch: { text: string; truncated: boolean };
  trial: ListedTrial | { problem: string };
  /** When git was queried for all of this. */
  tried_at: string;
}

/** The impact of a session's changes (`impact`). */
export type ListedImpact = Api['impact']['output'];

/** Counts of unacknowledged messages (`message.counts`). */
export interface UnreadCounts {
  unread: number;
  alerts: number;
}

/** A notice from `.svc/notices`. */
export interface ListedNotice {
  id: string;
  session: string;
  at: string;
  text: string;
}

/** Data for previews beyond the row of the list. */
export interface RowDetails {
  task: {
    task: TaskView;
    decision: WireValue<Decision> | null;
    sessions: WireValue<Session>[];
    timeline: EventRow[];
    plan: ListedPlan;
  };
  /** `changes` are inputs that have changed, for which an approval would be refused. */
  decision: {
    decision: WireValue<Decision>;
    task: TaskView;
    plan: ListedPlan;
    changes: ShownDecision['changes'];
  };
  work: ListedWork;
  evidence: ListedEvidence;
  impact: ListedImpact;
  /** By file and line. */
  comments: readonly CommentRow[];
  /** The newest race of a task. */
  race: RaceView;
}

export type DetailKind = keyof RowDetails;

/** A fetched detail. When the stamp of its subject changes (`getSubjectStamp`), it is shown until it is fetched again. */
export interface LoadedDetail<K extends DetailKind = DetailKind> {
  kind: K;
  id: string;
  stamp: string;
  detail: RowDetails[K] | null;
  problem: string | null;
  /** The engine's progress, while it is being fetched. */
  progress?: string;
}

/** Everything known from the engine. Maps are replaced, never mutated. */
export interface DashboardData {
  tasks: ReadonlyMap<string, ShownTask>;
  decisions: ReadonlyMap<string, ShownDecision>;
  sessions: ReadonlyMap<string, ShownSession>;
  deliveries: ReadonlyMap<string, ListedDelivery>;
  /** By number, as text. */
  asks: ReadonlyMap<string, ListedAsk>;
  /** By number, as text. */
  messages: ReadonlyMap<string, ListedMessage>;
  unread: UnreadCounts;
  peers: readonly PeerRow[];
  locks: readonly ListedLock[];
  /** Agents that get no work. */
  held: readonly HeldRow[];
  /** For each session, the number of the newest event about its evidence. */
  reports: ReadonlyMap<string, number>;
  /** Number of the newest event about comments on diffs. */
  commented: number;
  /** Oldest first. */
  events: readonly EventRow[];
  notices: readonly ListedNotice[];
  /** Null while it is unknown. */
  usage: ListedUsageDay | null;
  status: StatusRow | null;
  choices: ChoiceRows | null;
  /** Null until the list of memories has been opened. */
  memories: ListedMemories | null;
  /** Null until they have been opened. */
  stats: ListedStats | null;
  /** Null until the list of machines has been opened, or an event has told about one. */
  runners: readonly RunnerRow[] | null;
  /** False while older tasks are still being fetched. */
  complete: boolean;
}
