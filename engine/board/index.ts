import type { OperationPolicy, OperationsOf } from '../core/api/operation.ts';
import type { Clock } from '../core/base/clock.ts';
import type { CallerPaths } from '../core/workspace/caller-paths.ts';
import type { WorkspacePaths } from '../core/workspace/workspace-path.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import type { RunProcesses } from '../workers/runner/processes/index.ts';
import type { Worktrees } from '../workers/runner/worktrees/index.ts';
import type { Session, SessionPeers, Sessions } from '../workers/sessions/index.ts';
import { createDiffComments, type DiffComments } from './comments/index.ts';
import { commentOperations } from './comments/operations.ts';
import { createDecisions, type Decisions } from './decisions/index.ts';
import { agentOverrides } from './dispatch-options.ts';
import { createLedgerGate, createLedgers, type Ledgers } from './ledger/index.ts';
import { ledgerOperations } from './ledger/tools.ts';
import { createLocks, type Locks } from './locks/index.ts';
import { lockOperations } from './locks/tools.ts';
import type { BoardOperationsDeps } from './operations/deps.ts';
import { boardOperations } from './operations/index.ts';
import { type RaceOperationsDeps, raceOperations } from './operations/races.ts';
import { createTaskActions, type TaskWish } from './operations/task-actions.ts';
import { createPlans, type RunPlanner } from './plan.ts';
import { createRaces, type Races } from './races/index.ts';
import { createSchedules, type Schedules } from './schedules/index.ts';
import { scheduleOperations } from './schedules/operations.ts';
import { createTasks, type Tasks } from './tasks/index.ts';
import { createVerify, type Verification, type VerifyDeps, type VerifyService } from './verify/index.ts';
import { verifyTools } from './verify/tools.ts';
import { type ApprovalCheck, createWorkflow, type DispatchPort, type Workflow } from './workflow/index.ts';

export { type DispatchOptions, pickRepeatable, pickRequested, timeoutSec } from './dispatch-options.ts';
export { findTaskSource } from './operations/task-actions.ts';
export type { RunPlan, RunPlanner } from './plan.ts';
export type { Races } from './races/index.ts';

export interface BoardDeps<D extends DispatchPort & RunPlanner> {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  sessions: Sessions;
  agents: BoardOperationsDeps['agents'];
  templates: BoardOperationsDeps['templates'];
  policy(): OperationPolicy;
  peers: SessionPeers;
  followUps: BoardOperationsDeps['followUps'];
  paths: WorkspacePaths;
  callerPaths: CallerPaths;
  worktrees: Worktrees;
  processes: RunProcesses;
  workChecks: VerifyDeps['workChecks'];
  describeWork: VerifyDeps['describeWork'];
  findChecker: VerifyDeps['findChecker'];
  /** See `VerifyDeps.tell`. */
  tellOfEvidence: VerifyDeps['tell'];
  log: VerifyDeps['log'];
  checkWork: VerifyDeps['checkWork'];
  checks: VerifyDeps['checks'];
  rerunsFor: VerifyDeps['rerunsFor'];
  /** Throws `consent_missing` until someone has agreed to svc.yaml. */
  requireConsent(): void;
  /** The environment of a program that checks a worker's claims. */
  checkConfinement: BoardOperationsDeps['checkConfinement'];
  runsElsewhere: BoardOperationsDeps['runsElsewhere'];
  findHold: RaceOperationsDeps['findHold'];
  /** The dispatcher needs tasks and approvals, and the workflow needs the dispatcher. */
  createDispatch(tasks: Tasks, approvals: ApprovalCheck, races: Races): D;
}

export interface Board<D extends DispatchPort & RunPlanner> {
  tasks: Tasks;
  decisions: Decisions;
  races: Races;
  workflow: Workflow;
  dispatcher: D;
  locks: Locks;
  verify: VerifyService;
  comments: DiffComments;
  schedules: Schedules<TaskWish>;
  operations: OperationsOf<
    | typeof boardOperations
    | typeof commentOperations
    | typeof ledgerOperations
    | typeof raceOperations
    | typeof scheduleOperations
    | typeof lockOperations
    | typeof verifyTools
  >[];
  /** Lists ledger items that a session has claimed, oldest first. */
  claimsOf: Ledgers['claimsOf'];
  /** Releases an ended session's locks and claims. Call inside the transaction that ends it. */
  sessionEnded(sessionId: string): void;
  /**
   * Formats the state of an ended worker session's evidence, as a line for its handoff. Call inside the transaction
   * that ends it.
   */
  evidenceAtEnd(session: Session): string;
  /** Returns the current state of a session's evidence, judged against its branch. */
  evidence(sessionId: string): Promise<Verification>;
  /** Starts expiring locks and rerunning tests; call it once everything is composed. */
  start(): void;
  close(): Promise<void>;
}

/** Creates the dispatcher's check, which asks the workflow: it exists only once the dispatcher does. */
const createApprovalCheck = (decisions: Decisions, workflow: () => Workflow): ApprovalCheck => ({
  boundTo: decisions.boundTo,
  changesSince: (session) =>
    workflow().changesSince(session, session.race === null ? undefined : session.agent),
  lose: (session, why, changes) => workflow().loseApproval(session, why, changes),
});

/** Composes the board: tasks, decisions, and the workflow between them. */
export function createBoard<D extends DispatchPort & RunPlanner & Pick<RaceOperationsDeps, 'facts'>>(
  deps: BoardDeps<D>,
): Board<D> {
  const { storage, events, clock, sessions, agents, templates } = deps;
  const tasks = createTasks({ storage, events, clock });
  const decisions = createDecisions({ storage, events, clock });
  const races = createRaces({ storage, events, clock, tasks, sessions });
  const dispatcher = deps.createDispatch(
    tasks,
    createApprovalCheck(decisions, () => workflow),
    races,
  );
  const holding = { ...deps, rivalsOf: races.rivalsOf };
  const locks = createLocks(holding);
  const ledgers = createLedgers(holding);
  const gate = createLedgerGate(deps);
  const workflow: Workflow = createWorkflow({
    storage,
    tasks,
    decisions,
    dispatch: dispatcher,
    races,
    record: events.append,
    policy: deps.policy,
    gate,
  });
  const verify = createVerify({ ...deps, tasks, tell: deps.tellOfEvidence });
  const comments = createDiffComments(deps);
  const actions = createTaskActions({
    tasks,
    workflow,
    agents,
    templates,
    ledgerKey: (path) => deps.paths.resolveNamed(path).key,
  });
  const schedules = createSchedules<TaskWish>({
    ...{ storage, events, clock, tasks, workflow, log: deps.log, requireConsent: deps.requireConsent },
    hasLiveSession: (taskId) => sessions.ofTask(taskId).some(({ state }) => state !== 'ended'),
    buildTask(wish, caller) {
      const task = actions.newTask(wish, caller);
      const known = agents.withOverrides(agentOverrides(caller));
      return { ...task, agent: task.agent ?? known.requireDefaultAgent() };
    },
  });
  const operationsDeps = {
    storage,
    events,
    tasks,
    decisions,
    sessions,
    races,
    workflow,
    plans: createPlans({ tasks, inputsOf: workflow.inputsOf, planner: dispatcher, gate }),
    agents,
    peers: deps.peers,
    followUps: deps.followUps,
    requireConsent: deps.requireConsent,
    templates,
    actions,
    policy: deps.policy,
    checkConfinement: deps.checkConfinement,
    runsElsewhere: deps.runsElsewhere,
    verificationOf: verify.stateOf,
  };
  return {
    tasks,
    decisions,
    races,
    workflow,
    dispatcher,
    locks,
    verify,
    comments,
    schedules,
    operations: [
      ...boardOperations(operationsDeps),
      ...raceOperations({
        ...operationsDeps,
        evidence: verify.of,
        findHold: deps.findHold,
        facts: (sessionId) => dispatcher.facts(sessionId),
        now: () => clock.now(),
      }),
      ...scheduleOperations(schedules),
      ...commentOperations({ comments, sessions, worktrees: deps.worktrees }),
      ...lockOperations({ locks, peers: deps.peers }),
      ...ledgerOperations({ ledgers, peers: deps.peers, callerPaths: deps.callerPaths }),
      ...verifyTools({ verify, tasks, paths: deps.paths, callerPaths: deps.callerPaths }),
    ],
    claimsOf: ledgers.claimsOf,
    sessionEnded(sessionId) {
      locks.releaseAll(sessionId, 'its session has ended');
      ledgers.releaseAll(sessionId, 'its session has ended');
    },
    evidenceAtEnd(session) {
      verify.sessionEnded(session);
      return verify.sentenceOf(session);
    },
    evidence: verify.of,
    start() {
      locks.start();
      verify.start();
    },
    async close() {
      schedules.close();
      locks.close();
      await verify.close();
    },
  };
}
