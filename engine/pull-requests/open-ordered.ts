import type { CallAuthor } from '../core/api/operation.ts';
import { renderWords } from '../core/api/words.ts';
import { backoffMs } from '../core/base/backoff.ts';
import type { Clock } from '../core/base/clock.ts';
import { createDueTimer } from '../core/base/due-timer.ts';
import { asSvcError, SvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { type Forge, type PullRequestPlace, readPlace, runPersonProgram } from '../forge/index.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import type { Session } from '../workers/sessions/index.ts';
import type { PullRequestOrders } from './orders.ts';
import { findFirstSession, type PreparationDeps, preparePullRequest } from './prepare.ts';
import { chooseRemote, type ToldPullRequest } from './programs.ts';
import { publishPullRequest } from './publish.ts';
import { appendPullRequest, type PullRequest, recordStateOfWork } from './records.ts';
import type { ForgeComments } from './send-comments.ts';

const SVC = { actor: 'svc', via: 'engine' } as const satisfies CallAuthor;
const BACKOFF = { firstMs: 30_000, longestMs: 1_800_000 };
/** After so many failures, about five minutes, the person is notified. */
const ALERT_AFTER = 4;
/** Interval of the check that svc has rerun the tests. */
const RERUN_LOOK_MS = 5000;

export interface AutomaticPullRequestDeps extends PreparationDeps {
  storage: Storage;
  events: Pick<EventLog, 'append'>;
  clock: Clock;
  log: Pick<Log, 'warn'>;
  orders: PullRequestOrders;
  comments: Pick<ForgeComments, 'pullRequestEnded'>;
  openForge(place: PullRequestPlace): Forge;
  /** The environment of the person's programs. */
  env(): NodeJS.ProcessEnv;
}

/** Pushes the branches of runs that ended well, and opens pull requests for them, as svc.yaml asks. */
export interface AutomaticPullRequests {
  /** Call inside the transaction that ends a session. */
  sessionEnded(session: Session, commits: number | null): void;
  start(): void;
  close(): Promise<void>;
}

export function createAutomaticPullRequests(deps: AutomaticPullRequestDeps): AutomaticPullRequests {
  const { storage, events, clock, log, sessions, records, orders } = deps;
  const timer = createDueTimer({ clock, onDue: openDue });
  let isClosed = false;
  let working: Promise<void> | null = null;

  const readPolicyOf = (session: Session) =>
    deps.readPolicy(deps.getTask(findFirstSession(sessions, session).taskId));

  /** Reports whether the work was settled in another way since then. */
  const isSettled = ({ branch, branchState }: Session): boolean => branch === null || branchState !== null;

  /** Opens one, unless that is not due any more. Throws why it cannot be opened now. */
  async function openOne(session: Session): Promise<void> {
    const { sessionId } = session;
    const material = await preparePullRequest(deps, sessionId);
    const { pullRequest, head, remotes } = material;
    const remote = chooseRemote(remotes);
    if (remote === null)
      throw new SvcError(
        'not_found',
        remotes.length === 0
          ? 'the repository has no remote'
          : 'the repository has several remotes, and none is called origin',
      );
    const env = deps.env();
    const program = pullRequest?.program ?? remote.program;
    if (program === null)
      throw new SvcError('not_found', `the address of ${remote.name} does not show whose code host it is`);
    const now = pullRequest?.state === 'open' ? await readNow(pullRequest, session) : pullRequest;
    if (now?.state === 'merged' || now?.state === 'closed') return dropLate(session, now);
    const published = await publishPullRequest(
      (tool, args) => runPersonProgram({ env }, material, tool, args),
      material,
      { remote, program, existing: pullRequest },
    );
    const { branch, number, url, state, isNew } = published;
    await storage.write(() => {
      records.add(sessionId, { program, remote: remote.name, branch, head, number, url, state }, SVC.actor);
      orders.drop(sessionId);
      appendPullRequest(events, session, records.find(sessionId) as PullRequest, isNew, SVC);
    });
  }

  /** Asks whether a pull request has ended while a follow-up worked. */
  async function readNow(pull: PullRequest, { base }: Session): Promise<ToldPullRequest> {
    const place = readPlace(pull.program, pull.url);
    if (place === null) return pull;
    const { repository, number } = place;
    const name = { repository, number, head: pull.head, base: base ?? '' };
    const { state } = await deps.openForge(place).readPullRequest(name);
    return { number, url: pull.url, state };
  }

  /** The pull request has ended while a follow-up worked: a person decides about its work. */
  async function dropLate(session: Session, told: ToldPullRequest): Promise<void> {
    await storage.write(() => {
      recordStateOfWork(deps, session, told);
      deps.comments.pullRequestEnded(session);
      orders.drop(session.sessionId);
      appendProblem(
        session,
        `#${told.number ?? '?'} is ${told.state}, and the work of ${session.sessionId} came after that`,
      );
    });
  }

  /** Explains what keeps a pull request waiting; null if nothing does. */
  async function findObstacle(
    session: Session,
  ): Promise<{ at: number | null; problem: string | null } | null> {
    const { rerunState, state } = await deps.readEvidence(session.sessionId);
    if (rerunState !== null) return { at: clock.now() + RERUN_LOOK_MS, problem: null };
    if (state === 'disagrees')
      return { at: null, problem: 'svc reran the tests, and they did not end as expected' };
    return null;
  }

  async function handleOrder(sessionId: string): Promise<void> {
    const session = sessions.get(sessionId);
    if (isSettled(session) || readPolicyOf(session).opening === 'off')
      return storage.write(() => orders.drop(sessionId));
    try {
      const obstacle = await findObstacle(session);
      if (obstacle === null) return await openOne(session);
      await storage.write(() => {
        orders.postpone(sessionId, { ...obstacle, isFailure: false });
        if (obstacle.at === null) appendProblem(session, obstacle.problem ?? '');
      });
    } catch (thrown) {
      const { message, hint } = asSvcError(thrown);
      const problem = hint === undefined ? message : `${message} (${renderWords(hint, 'commands')})`;
      const tries = (orders.find(sessionId)?.tries ?? 0) + 1;
      const at = clock.now() + backoffMs(tries, BACKOFF);
      log.warn({ session: sessionId, problem }, 'a pull request could not be opened');
      await storage.write(() => {
        orders.postpone(sessionId, { at, problem, isFailure: true });
        if (tries === ALERT_AFTER) appendProblem(session, problem);
      });
    }
  }

  /** Reports it to people, inside `storage.write`. */
  function appendProblem({ sessionId, taskId, title }: Session, problem: string): void {
    const reason = `its branch was not pushed: ${problem}`;
    const data = { title, code: 'program_failed', reason };
    events.append({ kind: 'alert', taskId, sessionId, ...SVC, data });
  }

  async function handleDue(): Promise<void> {
    for (;;) {
      const next = isClosed ? null : orders.findNext();
      if (next === null || next.at > clock.now()) return timer.sleepUntil(next?.at ?? null);
      await handleOrder(next.sessionId);
    }
  }

  function openDue(): void {
    working ??= handleDue()
      .catch((error: unknown) => {
        log.warn({ error: asSvcError(error).message }, 'the ordered pull requests were not opened');
        timer.sleepUntil(clock.now(), BACKOFF.firstMs);
      })
      .finally(() => {
        working = null;
      });
  }

  return {
    sessionEnded(session, commits) {
      const { failure, repository, branch, race, base } = session;
      const hasWork = failure === null && commits !== 0 && branch !== null && repository !== null;
      // A person chooses the winner of a race.
      if (!hasWork || race !== null || base === null || readPolicyOf(session).opening === 'off') return;
      orders.add(session.sessionId);
      storage.afterCommit(openDue);
    },
    start: openDue,
    async close() {
      isClosed = true;
      timer.close();
      await working;
    },
  };
}
