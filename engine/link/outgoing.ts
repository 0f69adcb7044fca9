import type { Decision } from '../board/decisions/index.ts';
import type { Task, TaskOrigin } from '../board/tasks/index.ts';
import { countUnseen, describeUnseen, toPrintable } from '../core/base/text.ts';
import {
  type LinkEvent,
  type LiveSession,
  linkPullRequest,
  type PendingDecision,
} from '../core/link-protocol/messages.ts';
import type { LoggedEvent } from '../storage/index.ts';
import type { Session } from '../workers/sessions/index.ts';
import type { ServerConfig } from './config.ts';
import { describeCode, describeWait } from './own-words.ts';

// Data that leaves this machine for the linked server: ids, states, names and counts. No prompt, file, diff, path, branch or ask.

const LONGEST_NAME = 200;

/** Returns a name in the form that the server accepts; null if there is none. */
export const shortName = (text: unknown): string | null => {
  if (typeof text !== 'string') return null;
  const plain = toPrintable(text).replace(/\s+/g, ' ').trim();
  return plain === ''
    ? null
    : Array.from(plain)
        .slice(0, LONGEST_NAME / 2)
        .join('')
        .slice(0, LONGEST_NAME);
};

/** Returns `workspace.name` in the form that the server accepts. */
export const outgoingName = (name: string): string => shortName(name) ?? 'unnamed';

/** Returns a title as `server.titles` allows; the template or agent instead of one derived from the prompt. */
export function outgoingTitle(
  { title, template, agent }: Pick<Task, 'title' | 'template' | 'agent'>,
  { isTitleGiven }: Pick<TaskOrigin, 'isTitleGiven'>,
  titles: ServerConfig['titles'],
): string | null {
  const mayLeave = titles === 'all' || (titles !== 'none' && isTitleGiven);
  return shortName(mayLeave ? title : (template ?? agent));
}

/** A pull request, and the state of its checks, as a session has it. */
export interface OutgoingPullRequest {
  number: number | null;
  url: string | null;
  state: string | null;
  checks: { state: string; failed: string | null } | null;
}

/** Returns a pull request in the form for the server; null for one without a page. The name of a check is a title. */
function buildPullRequest(
  { number, url, state, checks }: Partial<OutgoingPullRequest>,
  titles: ServerConfig['titles'],
): LiveSession['pull_request'] {
  const failed = titles === 'none' ? null : shortName(checks?.failed);
  const told = checks ? { checks: { state: checks.state, failed } } : {};
  return linkPullRequest.safeParse({ number, url, state, ...told }).data ?? null;
}

/** Reduces an outbound event: `task` is its state inside the event's transaction. */
export function buildLinkEvent(
  event: LoggedEvent,
  task: Task | null,
  origin: TaskOrigin | null,
  { id, titles }: { id: string; titles: ServerConfig['titles'] },
): LinkEvent {
  const { kind, at, taskId, decisionId, sessionId, data } = event;
  const reason =
    kind === 'needs_approval'
      ? describeWait(String(data.why ?? ''), task?.stranger ?? null)
      : describeCode(data.code);
  const pull = kind === 'pull_request' ? buildPullRequest(data, titles) : null;
  return {
    id,
    event: kind,
    at,
    project: shortName(data.project ?? task?.project),
    task_id: taskId,
    decision_id: decisionId,
    session_id: sessionId ?? task?.sessionId ?? null,
    agent: shortName(data.agent ?? task?.agent),
    status: task?.status ?? null,
    title: task === null || origin === null ? null : outgoingTitle(task, origin, titles),
    reason,
    ...(pull === null ? {} : { pull_request: pull }),
  };
}

/** Returns a session that has not ended in the form for the server. */
export function buildLiveSession(
  session: Session,
  task: Task,
  origin: TaskOrigin,
  pull: OutgoingPullRequest | null,
  titles: ServerConfig['titles'],
): LiveSession {
  const { sessionId, state, resumeAt, pause, createdAt, project, agent } = session;
  const isPaused = state === 'queued' && resumeAt !== null;
  return {
    session_id: sessionId,
    state: isPaused ? 'paused' : state === 'queued' ? 'queued' : 'running',
    reason: isPaused ? describeCode(pause?.code) : null,
    since: createdAt,
    title: outgoingTitle(task, origin, titles),
    project: shortName(project),
    agent: shortName(agent),
    pull_request: pull === null ? null : buildPullRequest(pull, titles),
  };
}

/** Reports whether a person outside can know what they approve. */
export const isVouchedFor = (
  { source, stranger }: Pick<Task, 'source' | 'stranger'>,
  { isVouched }: Pick<TaskOrigin, 'isVouched'>,
): boolean => stranger === null && (source !== 'codehost' || isVouched);

/** Warns of a prompt with invisible characters; null for any other. The server never has the prompt itself. */
function warnOfUnseen({ prompt }: Pick<Task, 'prompt'>): string | null {
  const holds = describeUnseen(countUnseen(prompt));
  return holds === null ? null : `its prompt ${holds}`;
}

/** Returns a pending decision in the form for the server. */
export function buildPendingDecision(
  decision: Decision,
  task: Task,
  origin: TaskOrigin,
  { titles, decide, decide_code }: Pick<ServerConfig, 'titles' | 'decide' | 'decide_code'>,
): PendingDecision {
  const approval =
    Object.keys(decide).length === 0
      ? 'off'
      : !isVouchedFor(task, origin)
        ? 'untrusted'
        : decide_code
          ? 'code'
          : 'yes';
  return {
    decision_id: decision.decisionId,
    task_id: decision.taskId,
    hash: decision.hash,
    agent: shortName(decision.race?.join(', ') ?? decision.agent),
    project: shortName(decision.project),
    title: outgoingTitle(task, origin, titles),
    source: task.source,
    author: shortName(origin.author),
    author_role: task.authorRole,
    reference: task.source === 'codehost' ? shortName(task.sourceRef) : null,
    url: task.sourceUrl,
    prompt_length: task.prompt.length,
    why: [describeWait(decision.why, task.stranger), warnOfUnseen(task)].filter(Boolean).join('; '),
    since: decision.createdAt,
    approval,
  };
}
