import type {
  AgentCircuits,
  OpenCircuit,
  PlanEntry,
  ReadingTime,
  StreamFacts,
} from '../workers/agents/index.ts';
import type { CommitResult } from '../workers/runner/runs/index.ts';
import { addClaim, type Session } from '../workers/sessions/index.ts';
import type { LiveFacts } from './live-facts.ts';
import type { SessionLogs } from './session-logs.ts';

/** A session in a list. */
export interface ListedSession extends Session {
  /** The current activity of its running agent, as far as it reports it. */
  activity: string | null;
  plan: PlanEntry[];
  /** When its log last grew, RFC 3339; null if it has none yet or the session has ended. */
  logWrittenAt: string | null;
  /** The last readable line of its log, while it runs. */
  lastLine: string | null;
  /** Its commits so far, while it runs; some seconds old, and null until they have been counted. */
  committed: CommitResult | null;
  /** The suspension of its agent, if it waits for that; null otherwise. */
  held: OpenCircuit | null;
  /** Why no machine of its pool takes it, a clause, if it waits for that; null otherwise. */
  waitsFor: string | null;
  /** The task that has to be finished first, and why it is not, a noun phrase; null if it waits for none. */
  waitsForTask: string | null;
  /** The name of the machine that it is on; null for this one. */
  machine: string | null;
  /** Facts that its agent does not report, so that silence about them proves nothing; words that follow "it does not say". */
  untold: readonly string[];
  /** When it would read a message that is sent now. */
  readsMessages: ReadingTime;
  /** Estimated tokens that its context was spared because svc shortened outputs. */
  savedTokens: number;
  /** The pull request of its branch; null if none was opened. */
  pullRequest: KnownPullRequest | null;
  /** Why its branch is not pushed yet, though svc.yaml asks for a pull request; null if it does not, or it is done. */
  pullRequestOrder: KnownPullRequestOrder | null;
}

/** A branch that svc pushes, and opens a pull request for; see `PullRequestOrder`. */
export interface KnownPullRequestOrder {
  nextAt: string | null;
  problem: string | null;
}

/** A pull request, in a list. */
export interface KnownPullRequest {
  number: number | null;
  url: string | null;
  state: string | null;
  askedAt: string | null;
  /** Why svc could not ask about its checks; null if it could, or does not ask. */
  problem: string | null;
}

/** Current facts about live sessions, by session. */
interface Seen {
  logTimes: Readonly<Record<string, string>>;
  lastLines: Readonly<Record<string, string>>;
  committed: Readonly<Record<string, CommitResult>>;
}

export interface DescriberDeps {
  logs: Pick<SessionLogs, 'listTimes'>;
  live: LiveFacts;
  /** Only for a running session; null otherwise. */
  facts(sessionId: string): StreamFacts | null;
  circuits: Pick<AgentCircuits, 'findCircuit'>;
  /** Returns a function that explains why no machine takes a session that waits, a clause; null if that is not why. */
  startExplaining(): (session: Session) => string | null;
  /** See `Task.waitsFor`. */
  findTaskWait(taskId: string): string | null;
  /** Returns the name of a machine by its id. */
  nameMachine(runner: string): string;
  untold(session: Pick<Session, 'agent' | 'transport'>): readonly string[];
  findReadingTime(session: Session): ReadingTime;
  /** Estimated tokens that sessions were spared, only non-zero ones. */
  listSavedTokens(): ReadonlyMap<string, number>;
  /** Pull requests by session. */
  listPullRequests(): ReadonlyMap<string, KnownPullRequest>;
  listPullRequestOrders(): ReadonlyMap<string, KnownPullRequestOrder>;
}

const pickKnown = (known: KnownPullRequest | undefined): KnownPullRequest | null => {
  if (known === undefined) return null;
  const { number, url, state, askedAt, problem } = known;
  return { number, url, state, askedAt, problem };
};

const pickOrder = (known: KnownPullRequestOrder | undefined): KnownPullRequestOrder | null => {
  if (known === undefined) return null;
  const { nextAt, problem } = known;
  return { nextAt, problem };
};

/** Returns a function that adds the current activity of their agents to sessions. */
export function createSessionDescriber(deps: DescriberDeps) {
  async function lookAtLive(all: readonly Session[]): Promise<Seen> {
    const live = all.filter(({ state }) => state !== 'ended');
    const logTimes = await deps.logs.listTimes(live.map(({ sessionId }) => sessionId));
    return {
      logTimes,
      lastLines: await deps.live.listLastLines(logTimes),
      committed: deps.live.listCommitted(live),
    };
  }

  /** Adds the reported usage of the current run, which is recorded at its end. */
  function describeSession(
    session: Session,
    seen: Seen,
    explainWait: (session: Session) => string | null,
    untoldBy: DescriberDeps['untold'],
    saved: ReadonlyMap<string, number>,
    {
      pulls,
      orders,
    }: {
      pulls: ReadonlyMap<string, KnownPullRequest>;
      orders: ReadonlyMap<string, KnownPullRequestOrder>;
    },
  ): ListedSession {
    const { sessionId, state, runs } = session;
    const quiet: Omit<ListedSession, keyof Session> = {
      activity: null,
      plan: [],
      // The silence of ended sessions is irrelevant, and most of a list has ended.
      logWrittenAt: state === 'ended' ? null : (seen.logTimes[sessionId] ?? null),
      lastLine: null,
      committed: null,
      held: state === 'queued' ? deps.circuits.findCircuit(session.agent) : null,
      waitsFor: state === 'queued' && session.pool !== null ? explainWait(session) : null,
      waitsForTask: state === 'queued' && runs === 0 ? deps.findTaskWait(session.taskId) : null,
      machine: session.runner === null ? null : deps.nameMachine(session.runner),
      untold: untoldBy(session),
      savedTokens: saved.get(sessionId) ?? 0,
      readsMessages: deps.findReadingTime(session),
      pullRequest: pickKnown(pulls.get(sessionId)),
      pullRequestOrder: pickOrder(orders.get(sessionId)),
    };
    const facts = deps.facts(sessionId);
    if (facts === null) return { ...session, ...quiet };
    return {
      ...session,
      ...quiet,
      agentSession: facts.agentSession ?? session.agentSession,
      model: facts.model ?? session.model,
      usage: addClaim(session.usage, facts.usage),
      toolCalls: (session.toolCalls ?? 0) + facts.toolCalls,
      activity: facts.activity,
      plan: facts.plan,
      lastLine: seen.lastLines[sessionId] || null,
      committed: seen.committed[sessionId] ?? null,
    };
  }

  return async (all: readonly Session[]): Promise<ListedSession[]> => {
    const seen = await lookAtLive(all);
    // Many rows, few agents.
    const known = new Map<string, readonly string[]>();
    const saved = deps.listSavedTokens();
    const pulls = deps.listPullRequests();
    const orders = deps.listPullRequestOrders();
    const untoldBy = ({ agent, transport }: Pick<Session, 'agent' | 'transport'>) => {
      const key = `${transport} ${agent}`;
      const untold = known.get(key) ?? deps.untold({ agent, transport });
      known.set(key, untold);
      return untold;
    };
    // Most lists have none that waits for a machine.
    let explain: ReturnType<DescriberDeps['startExplaining']> | null = null;
    const explainWait = (session: Session): string | null => {
      explain ??= deps.startExplaining();
      return explain(session);
    };
    return all.map((session) =>
      describeSession(session, seen, explainWait, untoldBy, saved, { pulls, orders }),
    );
  };
}
