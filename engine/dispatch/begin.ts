import type { Task } from '../board/tasks/index.ts';
import { SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import {
  type AgentCommand,
  canResumeSession,
  checkRoutable,
  findCommandOfSession,
  findPresetOfCommand,
} from '../workers/agents/index.ts';
import type { GatewayRoute } from '../workers/agents/presets/index.ts';
import type { PreparedRun, RunName, RunOrigin, RunTexts } from '../workers/runner/runs/index.ts';
import {
  findLocalPath,
  findPlacement,
  type RunProcess,
  type Session,
  type SessionPlacement,
} from '../workers/sessions/index.ts';
import { checkApproved, checkBase, chooseProfile } from './approval.ts';
import { checkBudget, describeKeyHolder } from './budget.ts';
import type { DispatchDeps } from './context.ts';
import { mayHoldEarlierWork } from './earlier-work.ts';
import { changesHome, findFormerSession } from './former-session.ts';
import { enforceLimits } from './limits.ts';
import type { PersistRun } from './persist.ts';
import { withStopSignal } from './stop-signal.ts';
import { composeText } from './texts/index.ts';

/** A run that is being started. */
interface Beginning {
  deps: DispatchDeps;
  persist: PersistRun;
  looks: Set<() => void>;
  run: RunName;
  /** The id of the machine that it starts on; null for this one. */
  machine: string | null;
  /** Aborts when the engine closes. */
  closing: AbortSignal;
}

const cancelledError = (): SvcError => new SvcError('conflict', 'cancelled before it started');

/**
 * Brings a queued session to its running process: checks, record, place, setup, start. Throws the obstacle; then
 * nothing of it runs. A start that is interrupted with its host is repeated.
 */
export async function beginRun(beginning: Beginning): Promise<RunProcess> {
  const { deps, run } = beginning;
  const queued = deps.sessions.get(run.sessionId);
  if (queued.stopReason !== null) throw cancelledError();
  checkApproved(deps, queued);
  checkBudget(deps, queued);
  deps.projects.checkConsent(queued);
  const gateway = await recordStart(beginning, queued);
  // They depend on the task only, and git takes longer.
  const notes = writeNotes(deps, deps.tasks.get(queued.taskId), run.sessionId);
  const placement = await placeSession(beginning, queued);
  const prepared = await prepareSession(beginning, placement);
  const session = deps.sessions.get(run.sessionId);
  if (session.stopReason !== null) throw cancelledError();
  // The setup may have taken minutes; the command is read once, now.
  checkApproved(deps, session);
  const command = findCommandOfSession(deps, session);
  const task = deps.tasks.get(session.taskId);
  const { agentSession, texts } = await composeTexts(deps, {
    session,
    task,
    command,
    placement,
    prepared,
    notes: await notes,
    interruption: queued.pause?.text ?? null,
  });
  const process = await deps.runner.start({
    run,
    profile: session.profile,
    placement,
    agent: session.agent,
    command,
    worker: session.workerId,
    texts,
    agentSession,
    author: await findAuthor(deps, placement),
    variables: {
      SVC_TASK: task.taskId,
      SVC_SESSION: session.sessionId,
      SVC_ROLE: 'worker',
      SVC_AGENT: session.agent,
      SVC_NAME: session.workerId,
      SVC_SESSION_NAME: session.title,
      ...(placement.port === null ? {} : { SVC_PORT: String(placement.port) }),
    },
    timeoutSec: session.timeoutSec,
    gateway,
  });
  deps.atStart(placement);
  return process;
}

/** Records how the run is started, with its key. */
async function recordStart(
  { deps, persist, run: { sessionId, runId }, machine }: Beginning,
  queued: Session,
): Promise<GatewayRoute | null> {
  const { sessions, keys } = deps;
  const { transport, template } = findCommandOfSession(deps, queued);
  const { bypassesGateway } = sessions.private(sessionId);
  const auth = bypassesGateway ? 'account' : deps.agents.findAuth(queued.agent);
  if (auth === 'gateway') checkRoutable(template, queued.agent);
  const route = auth === 'gateway' ? await keys.findRoute() : null;
  return persist(`the start of ${sessionId}`, () => {
    // In the transaction that starts: nothing can come in between.
    checkApproved(deps, queued);
    const profile = chooseProfile(deps, queued);
    sessions.starting(sessionId, { runId, transport, auth, profile, runner: machine });
    if (changesHome(queued, profile)) sessions.forgetConversation(sessionId);
    return route === null ? null : { ...route, key: keys.issueKey(describeKeyHolder(sessions, queued)) };
  });
}

/** Finds or creates its folder, and records it. A checkout whose filters hang ends when a stop is requested. */
function placeSession(beginning: Beginning, queued: Session): Promise<SessionPlacement> {
  const { deps, looks, closing } = beginning;
  return withStopSignal(deps, looks, queued.sessionId, (stopping) =>
    placeUntil(beginning, queued, AbortSignal.any([closing, stopping])),
  );
}

async function placeUntil(
  { deps, persist, machine }: Beginning,
  queued: Session,
  signal: AbortSignal,
): Promise<SessionPlacement> {
  const { sessions, runner } = deps;
  const { sessionId, inplace, continues, runs, pause, state } = queued;
  const own = findPlacement(queued);
  const begun = own === null ? findBegunWork(deps, queued) : null;
  const former = begun !== null && begun.runner === machine ? begun : null;
  const isNew = own === null && begun === null && !inplace;
  const { placement, outputFrom } = await runner.place({
    sessionId,
    origin:
      own !== null || former !== null
        ? null
        : begun === null
          ? await findOrigin({ deps, persist }, queued)
          : await findOriginOf(deps, queued, begun),
    placement: own,
    former,
    takenPorts: isNew ? sessions.listPorts() : [],
    isQuiet: sessions.isOnlyWorker(sessionId),
    // A repeated start already has its line.
    note: state === 'queued' && pause !== null ? `[svc: run ${runs + 1}, after ${pause.code}]` : null,
    signal,
  });
  if (own === null && begun === null) checkBase(deps, queued, placement);
  await persist(`the worktree of ${sessionId}`, () => {
    sessions.place(sessionId, placement);
    sessions.outputFrom(sessionId, outputFrom);
    if (continues === null || own !== null || queued.branch !== null) return;
    // Its machine still has the worktree.
    if (former === null) sessions.recordLostRun(sessions.get(continues));
    sessions.handedOn(continues);
  });
  return placement;
}

/**
 * Finds where a new session starts. The sessions of a race have one common commit: that of the base when the first one
 * starts, even for later ones.
 */
async function findOrigin(
  { deps, persist }: Pick<Beginning, 'deps' | 'persist'>,
  { project, baseWanted, inplace, race }: Session,
): Promise<RunOrigin> {
  const origin = await deps.projects.findOrigin({ project, base: baseWanted, inplace });
  const { baseCommit } = origin;
  if (race === null || inplace || baseCommit === null) return origin;
  const fixed =
    deps.races.get(race).baseCommit ??
    (await persist(`the base of race ${race}`, () => deps.races.fixBase(race, baseCommit)));
  return { ...origin, baseCommit: fixed };
}

/**
 * Finds the work that a session without a place continues: its own, from a machine that it has left, or that of the
 * session before it. Null for a session that starts from its base.
 */
function findBegunWork(
  { sessions }: Pick<DispatchDeps, 'sessions'>,
  queued: Session,
): SessionPlacement | null {
  const { continues, branch, repository, base, baseCommit } = queued;
  if (branch === null) return continues === null ? null : findFormerPlacement(sessions, continues);
  return { runner: null, repository, worktree: null, cwd: '', branch, base, baseCommit, port: null };
}

/** Finds where a session starts on another machine than that of its earlier work: at the end of its branch. */
async function findOriginOf(
  { projects }: Pick<DispatchDeps, 'projects'>,
  { project }: Session,
  { repository, branch, base, baseCommit }: SessionPlacement,
): Promise<RunOrigin> {
  const origin = await projects.findOrigin({ project, base: baseCommit, inplace: false });
  return { ...origin, repository, base, baseCommit, ...(branch === null ? {} : { branch }) };
}

/** The author of its commits is the person of this machine, as configured for the repository. */
const findAuthor = (
  { projects }: Pick<DispatchDeps, 'projects'>,
  { repository, cwd }: SessionPlacement,
): Promise<Record<string, string>> => {
  const folder = repository ?? findLocalPath(cwd);
  return folder === null ? Promise.resolve({}) : projects.findAuthor(folder);
};

/** Takes over the worktree of the session that this one continues. Throws `conflict`. */
function findFormerPlacement(sessions: DispatchDeps['sessions'], sessionId: string): SessionPlacement | null {
  const former = sessions.get(sessionId);
  if (former.worktree !== null || former.inplace) return findPlacement(former);
  throw new SvcError('conflict', `the worktree of ${sessionId} no longer exists`, {
    hint: sentence`dispatch the task again: {task.run}`,
  });
}

/** Prepares a new worktree, under the limits of the session: it can be cancelled, and has the agent's time limit. */
async function prepareSession(
  { deps, looks, run }: Beginning,
  placement: SessionPlacement,
): Promise<PreparedRun> {
  const { sessions, clock, storage } = deps;
  const session = sessions.get(run.sessionId);
  const { value: prepared } = await enforceLimits(deps, {
    run,
    startedAt: clock.monotonic(),
    activity: null,
    looks,
    over: deps.runner.prepare({
      run,
      taskId: session.taskId,
      project: session.project,
      setup: deps.projects.readSetup(session.project),
      profile: session.profile,
      placement,
      mayHoldWork: mayHoldEarlierWork(sessions, session),
      agentFolderOf: findFormerSession(deps, session)?.sessionId ?? null,
    }),
  });
  const { outputFrom } = prepared;
  if (outputFrom !== null) await storage.write(() => sessions.outputFrom(run.sessionId, outputFrom));
  return prepared;
}

/** Finds the agent's own session that a run may resume; null for a new one. */
export const findConversation = (deps: Pick<DispatchDeps, 'sessions'>, session: Session): string | null =>
  // A later run without one has lost it.
  session.agentSession ?? findFormerSession(deps, session)?.agentSession ?? null;

/** A person's own prompt may be a command of the agent on purpose; one from outside is plain text. */
function wordPrompt({ prompt, source }: Task, command: AgentCommand, agent: string): string {
  const isOfPerson = source === 'cli' || source === 'tui';
  return isOfPerson ? prompt : (findPresetOfCommand(command, agent)?.literal?.(prompt) ?? prompt);
}

/** A run starts without them rather than not at all. */
async function writeNotes(
  deps: Pick<DispatchDeps, 'writeNotes' | 'log'>,
  task: Task,
  sessionId: string,
): Promise<string | null> {
  try {
    return await deps.writeNotes(task, sessionId);
  } catch (error) {
    deps.log.warn({ taskId: task.taskId, error }, 'remembered facts were omitted');
    return null;
  }
}

async function composeTexts(
  deps: DispatchDeps,
  {
    session,
    task,
    command,
    placement,
    prepared,
    notes,
    interruption,
  }: {
    session: Session;
    task: Task;
    command: AgentCommand;
    placement: SessionPlacement;
    prepared: PreparedRun;
    /** The memories for the task; null for none. */
    notes: string | null;
    /** Explains why the previous run was interrupted, a clause; null for a first run, or if that is unknown. */
    interruption: string | null;
  },
): Promise<{ texts: RunTexts; agentSession: string | null }> {
  const source = { session, task, placement, svc: prepared.svc, hasNotes: notes !== null, earlier: null };
  const prompt = wordPrompt(task, command, session.agent);
  const brief = composeText(deps, 'brief', source);
  if (session.runs <= 1 && session.continues === null)
    return { texts: { prompt, brief, notes, resumption: null }, agentSession: null };
  const former = session.continues === null ? null : deps.sessions.get(session.continues);
  const conversation = findConversation(deps, session);
  const agentSession = canResumeSession(command, session.agent) ? conversation : null;
  const isRemembered = agentSession !== null;
  const commits = isRemembered ? null : await deps.runner.listCommits(placement);
  const cause = interruption ?? former?.failure?.text ?? null;
  const followed =
    former === null || session.runs > 1 || former.taskId === task.taskId
      ? null
      : { taskId: former.taskId, title: former.title };
  const earlier = { cause, isRemembered, commits, followed };
  const resumption = composeText(deps, 'resumption', { ...source, earlier });
  return { texts: { prompt, brief, notes, resumption }, agentSession };
}
