import { rfc3339 } from '../../core/base/clock.ts';
import { formatId, formatIdOrNull } from '../../core/base/ids.ts';

export type TaskStatus = 'open' | 'assigned' | 'running' | 'done' | 'failed';
export const TASK_STATUSES = [
  'open',
  'assigned',
  'running',
  'done',
  'failed',
] as const satisfies TaskStatus[];

export type TaskSource = 'task' | 'codehost' | 'chat' | 'cli' | 'tool' | 'tui';

/** A task as clients see it; times are RFC 3339 UTC. */
export interface Task {
  taskId: string;
  title: string;
  body: string;
  /** The worker's prompt: body (or title), context, acceptance criteria and ledger. */
  prompt: string;
  agent: string | null;
  project: string | null;
  template: string | null;
  status: TaskStatus;
  acceptanceCriteria: string[];
  context: string | null;
  ledger: string | null;
  source: TaskSource;
  sourceRef: string | null;
  /** The page of the issue or comment that it came from, https; null if unknown. */
  sourceUrl: string | null;
  /** The handle of its author outside svc: `codehost:octocat`; null for a task of this machine. */
  author: string | null;
  /** The author's role in the repository by the code host, such as `owner` or `member`; null if it reports none. */
  authorRole: string | null;
  /** The reason why its author is not trusted, a clause; null for a trusted author. Such a task needs `strict`. */
  stranger: string | null;
  decisionId: string | null;
  sessionId: string | null;
  /** The race that is open on it; then no single session belongs to it. */
  race: number | null;
  /** True if its open race has no session left that works: a person chooses one. */
  raceReady: boolean;
  attempt: number;
  timeoutSec: number | null;
  /** When its paused session resumes. */
  resumeAt: string | null;
  /** When it was archived; null while lists show it. */
  archivedAt: string | null;
  /** Of the waiting tasks, the higher priority goes first. */
  priority: -1 | 0 | 1;
  /** The tasks that have to be finished before it starts. */
  after: string[];
  /** The first of them that is not finished, and why, a noun phrase; null if it waits for none. */
  waitsFor: string | null;
  createdAt: string;
  assignedAt: string | null;
  startedAt: string | null;
  endedAt: string | null;
  exitCode: number | null;
  failure: { code: string; text: string } | null;
  summary: string | null;
}

/** The tasks and times that a task waits for. */
export type TaskOrderView = Pick<Task, 'after' | 'waitsFor'>;

/** The known origin of a task, for recipients outside of this machine. */
export interface TaskOrigin {
  /** True if a person or an issue gave the title; otherwise it was made from the prompt. */
  isTitleGiven: boolean;
  /** The handle of its outside author; null for a task of this machine. */
  author: string | null;
  /** True if the code host reports its author as owner, member or collaborator. */
  isVouched: boolean;
}

/** A task in a list, which may have ten thousand: without its long texts. */
export interface ListedTask
  extends Omit<
    Task,
    'body' | 'prompt' | 'context' | 'acceptanceCriteria' | 'sourceUrl' | 'author' | 'authorRole'
  > {
  /** True if a decision of it is pending. */
  waits: boolean;
}

export interface TaskRow {
  id: number;
  title: string;
  body: string;
  agent: string | null;
  project: string | null;
  template: string | null;
  status: TaskStatus;
  acceptance_criteria: string;
  context: string | null;
  ledger: string | null;
  source: TaskSource;
  source_ref: string | null;
  source_url: string | null;
  stranger: string | null;
  title_given: 0 | 1;
  author: string | null;
  author_role: string | null;
  vouched: 0 | 1;
  decision_id: number | null;
  session_id: number | null;
  race: number | null;
  race_ready: 0 | 1;
  attempt: number;
  timeout_sec: number | null;
  priority: -1 | 0 | 1;
  resume_at: number | null;
  archived_at: number | null;
  created_at: number;
  assigned_at: number | null;
  started_at: number | null;
  ended_at: number | null;
  exit_code: number | null;
  failure_code: string | null;
  failure_text: string | null;
  summary: string | null;
}

/** Columns of a new task; the others have defaults. */
export const NEW_TASK_COLUMNS = [
  'title',
  'body',
  'agent',
  'project',
  'template',
  'status',
  'acceptance_criteria',
  'context',
  'ledger',
  'source',
  'source_ref',
  'source_url',
  'stranger',
  'title_given',
  'author',
  'author_role',
  'vouched',
  'timeout_sec',
  'priority',
  'created_at',
  'assigned_at',
] as const satisfies (keyof TaskRow)[];

/** Columns of a task in a list, in addition to `decision_id`, `waits` and `race_ready`. */
export const LISTED_COLUMNS = [
  'id',
  'title',
  'agent',
  'project',
  'template',
  'status',
  'ledger',
  'source',
  'source_ref',
  'stranger',
  'session_id',
  'race',
  'attempt',
  'timeout_sec',
  'resume_at',
  'archived_at',
  'priority',
  'created_at',
  'assigned_at',
  'started_at',
  'ended_at',
  'exit_code',
  'failure_code',
  'failure_text',
  'summary',
] as const satisfies (keyof TaskRow)[];

type ListedFieldsRow = Pick<TaskRow, (typeof LISTED_COLUMNS)[number] | 'decision_id' | 'race_ready'>;
export type ListedTaskRow = ListedFieldsRow & { waits: 0 | 1 };

/** Builds the prompt of a task; with only a body it is that body, byte for byte. All agents see it, but not all see the brief. */
function buildPrompt(row: TaskRow, criteria: string[]): string {
  const parts = [row.body === '' ? row.title : row.body];
  if (row.context) parts.push(`Context:\n${row.context}`);
  if (criteria.length > 0)
    parts.push(
      `Acceptance criteria:\n${criteria.map((each, at) => `${at + 1}. ${each}`).join('\n')}\n\nBefore you finish, report on each: the tool verify_report, or svc verify report.`,
    );
  if (row.ledger)
    parts.push(
      `Checklist: ${row.ledger}\nClaim an item before you start it: the tool task_claim, or svc ledger claim.`,
    );
  return parts.length === 1 ? (parts[0] as string) : `${parts.map((part) => part.trimEnd()).join('\n\n')}\n`;
}

const formatTime = (ms: number | null): string | null => (ms === null ? null : rfc3339(ms));

export function toTask(row: TaskRow, order: TaskOrderView): Task {
  const acceptanceCriteria = JSON.parse(row.acceptance_criteria) as string[];
  return {
    ...toListedFields(row),
    ...order,
    sourceUrl: row.source_url,
    author: row.author,
    authorRole: row.author_role,
    acceptanceCriteria,
    body: row.body,
    prompt: buildPrompt(row, acceptanceCriteria),
    context: row.context,
  };
}

function toListedFields(row: ListedFieldsRow): Omit<ListedTask, 'waits' | keyof TaskOrderView> {
  return {
    taskId: formatId('t', row.id),
    title: row.title,
    agent: row.agent,
    project: row.project,
    template: row.template,
    status: row.status,
    ledger: row.ledger,
    source: row.source,
    sourceRef: row.source_ref,
    stranger: row.stranger,
    decisionId: formatIdOrNull('d', row.decision_id),
    sessionId: formatIdOrNull('s', row.session_id),
    race: row.race,
    raceReady: row.race_ready === 1,
    attempt: row.attempt,
    timeoutSec: row.timeout_sec,
    resumeAt: formatTime(row.resume_at),
    archivedAt: formatTime(row.archived_at),
    priority: row.priority,
    createdAt: rfc3339(row.created_at),
    assignedAt: formatTime(row.assigned_at),
    startedAt: formatTime(row.started_at),
    endedAt: formatTime(row.ended_at),
    exitCode: row.exit_code,
    failure: row.failure_code === null ? null : { code: row.failure_code, text: row.failure_text ?? '' },
    summary: row.summary,
  };
}

export const toListedTask = (row: ListedTaskRow, order: TaskOrderView): ListedTask => ({
  ...toListedFields(row),
  ...order,
  waits: row.waits === 1,
});
