import { z } from 'zod';
import { findTaskSource, timeoutSec } from '../board/index.ts';
import { checkNotReplaced } from '../board/workflow/index.ts';
import { cursor } from '../core/api/cursor.ts';
import { by, checkOwnTask, type OwnWork, operation } from '../core/api/operation.ts';
import type {
  AgentCircuits,
  OpenCircuit,
  PlanEntry,
  ReadingTime,
  StreamFacts,
  StreamUsage,
} from '../workers/agents/index.ts';
import type { CommitResult } from '../workers/runner/runs/index.ts';
import type { Session, SessionFilter, Sessions } from '../workers/sessions/index.ts';
import type { LiveFacts } from './live-facts.ts';
import type { SessionActions } from './session-actions.ts';
import { LOG_FORMS, type SessionLogs } from './session-logs.ts';

function added(one: StreamUsage | null, other: StreamUsage | null): StreamUsage | null {
  if (one === null || other === null) return one ?? other;
  return {
    input: one.input + other.input,
    cached: one.cached + other.cached,
    output: one.output + other.output,
    costUsd:
      one.costUsd === null && other.costUsd === null ? null : (one.costUsd ?? 0) + (other.costUsd ?? 0),
  };
}

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
  /** Facts that its agent does not report, so that silence about them proves nothing; words that follow "it does not say". */
  untold: readonly string[];
  /** When it would read a message that is sent now. */
  readsMessages: ReadingTime;
  /** Estimated tokens that its context was spared because svc shortened outputs. */
  savedTokens: number;
  /** The pull request of its branch; null if none was opened. */
  pullRequest: KnownPullRequest | null;
}

/** A pull request, in a list. */
export interface KnownPullRequest {
  number: number | null;
  url: string | null;
  state: string | null;
  askedAt: string | null;
}

const pickKnown = (known: KnownPullRequest | undefined): KnownPullRequest | null => {
  if (known === undefined) return null;
  const { number, url, state, askedAt } = known;
  return { number, url, state, askedAt };
};

/** Operations on sessions and their logs. */
export function sessionOperations(deps: {
  sessions: Sessions;
  logs: SessionLogs;
  actions: SessionActions;
  live: LiveFacts;
  /** Only for a running session; null otherwise. */
  facts(sessionId: string): StreamFacts | null;
  /** The permissions approved with a session; `agents.permissions` without one. */
  permissions(session: Pick<Session, 'agent' | 'decisionId'> | null): readonly string[];
  circuits: Pick<AgentCircuits, 'findCircuit'>;
  untold(session: Pick<Session, 'agent' | 'transport'>): readonly string[];
  findReadingTime(session: Session): ReadingTime;
  /** Estimated tokens that sessions were spared, only non-zero ones. */
  listSavedTokens(): ReadonlyMap<string, number>;
  /** Pull requests by session. */
  listPullRequests(): ReadonlyMap<string, KnownPullRequest>;
}) {
  const { sessions, logs, actions, permissions } = deps;

  /** Current facts about live sessions, by session. */
  interface Seen {
    logTimes: Readonly<Record<string, string>>;
    lastLines: Readonly<Record<string, string>>;
    committed: Readonly<Record<string, CommitResult>>;
  }

  async function lookAtLive(all: readonly Session[]): Promise<Seen> {
    const live = all.filter(({ state }) => state !== 'ended');
    const logTimes = await logs.listTimes(live.map(({ sessionId }) => sessionId));
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
    untoldBy = deps.untold,
    saved = deps.listSavedTokens(),
    pulls = deps.listPullRequests(),
  ): ListedSession {
    const { sessionId, state } = session;
    const quiet: Omit<ListedSession, keyof Session> = {
      activity: null,
      plan: [],
      // The silence of ended sessions is irrelevant, and most of a list has ended.
      logWrittenAt: state === 'ended' ? null : (seen.logTimes[sessionId] ?? null),
      lastLine: null,
      committed: null,
      held: state === 'queued' ? deps.circuits.findCircuit(session.agent) : null,
      untold: untoldBy(session),
      savedTokens: saved.get(sessionId) ?? 0,
      readsMessages: deps.findReadingTime(session),
      pullRequest: pickKnown(pulls.get(sessionId)),
    };
    // Facts of a run are recorded at its end, and must not be counted twice.
    const facts = state === 'queued' || state === 'ended' ? null : deps.facts(sessionId);
    if (facts === null) return { ...session, ...quiet };
    return {
      ...session,
      ...quiet,
      agentSession: facts.agentSession ?? session.agentSession,
      model: facts.model ?? session.model,
      usage: added(session.usage, facts.usage),
      toolCalls: (session.toolCalls ?? 0) + facts.toolCalls,
      activity: facts.activity,
      plan: facts.plan,
      lastLine: seen.lastLines[sessionId] || null,
      committed: seen.committed[sessionId] ?? null,
    };
  }

  /** A worker on a task from an untrusted author has that task's sessions on its only page. */
  function listSeen(input: SessionFilter, ownWork: OwnWork | null): Session[] {
    if (ownWork === null) return sessions.list(input);
    return input.cursor === undefined ? sessions.ofTask(ownWork.taskId) : [];
  }

  return [
    operation({
      name: 'session.list',
      about: 'Worker sessions, newest first, live ones in queue order; `ids` selects some.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        live: z.boolean().optional(),
        ids: z.array(z.string()).max(1000).optional(),
        limit: z.int().min(1).max(100_000).optional(),
        cursor,
      }),
      async run(input, { ownWork }): Promise<ListedSession[]> {
        const found = listSeen(input, ownWork ?? null);
        const seen = await lookAtLive(found);
        // Many rows, few agents.
        const known = new Map<string, readonly string[]>();
        const saved = deps.listSavedTokens();
        const pulls = deps.listPullRequests();
        const untoldBy = ({ agent, transport }: Pick<Session, 'agent' | 'transport'>) => {
          const key = `${transport} ${agent}`;
          const untold = known.get(key) ?? deps.untold({ agent, transport });
          known.set(key, untold);
          return untold;
        };
        return found.map((session) => describeSession(session, seen, untoldBy, saved, pulls));
      },
    }),
    operation({
      name: 'session.count',
      about: 'The number of worker sessions, in all or not yet ended.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({ live: z.boolean().optional() }),
      run: (input) => sessions.count(input),
    }),
    operation({
      name: 'session.show',
      about: 'One session, with the current activity of its agent.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ session: z.string() }),
      async run(input, caller): Promise<ListedSession> {
        const session = sessions.resolve(input.session);
        checkOwnTask(caller, session.taskId, session.sessionId);
        return describeSession(session, await lookAtLive([session]));
      },
    }),
    operation({
      name: 'worker.kill',
      about: 'Stops a session; its work stays on its branch.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ session: z.string() }),
      run: (input, caller, call) =>
        call.finish(() => actions.kill(sessions.resolve(input.session).sessionId, by(caller))),
    }),
    operation({
      name: 'worker.resume',
      about:
        'Resumes a paused session now, or a failed one in a new session, in the same worktree and conversation.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        session: z.string(),
        timeout_sec: timeoutSec,
        outside: z.boolean().optional(),
      }),
      run: (input, caller, call) => {
        const { sessionId } = sessions.resolve(input.session);
        const { timeout_sec, outside } = input;
        return actions.resume(
          sessionId,
          {
            parent: caller.sessionId ?? undefined,
            outside,
            ...(timeout_sec === undefined ? {} : { timeoutSec: timeout_sec }),
          },
          by(caller),
          call.begin,
        );
      },
    }),
    operation({
      name: 'worker.follow_up',
      about:
        'Gives an ended session more work: a new task in the same worktree and, if its agent can resume, the same conversation.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        session: z.string(),
        prompt: z.string().trim().min(1).max(4_000_000),
        title: z.string().trim().min(1).max(500).optional(),
        /** The comments that the prompt includes: they are used up with it. */
        comments: z.array(z.int().min(1)).max(1000).default([]),
        timeout_sec: timeoutSec,
        outside: z.boolean().optional(),
      }),
      async run(input, caller, call) {
        const { sessionId } = sessions.resolve(input.session);
        const { timeout_sec, outside, prompt, comments, title = null } = input;
        const submitted = await call.begin(() =>
          actions.followUp(
            sessionId,
            { prompt, title, comments, ...findTaskSource(caller) },
            { parent: caller.sessionId ?? undefined, outside, timeoutSec: timeout_sec },
            by(caller),
          ),
        );
        const { task } = checkNotReplaced(submitted);
        return { task, session: sessions.get((submitted.session as Session).sessionId) };
      },
    }),
    operation({
      name: 'worker.interrupt',
      about:
        'Makes a running worker read its messages now: its current turn is cancelled. Only on transport acp; others read them at a tool call.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ session: z.string() }),
      run: (input, caller, call) =>
        call.finish(() => actions.interrupt(sessions.resolve(input.session).sessionId, by(caller))),
    }),
    operation({
      name: 'worker.attach',
      about:
        'Lets a person into the worktree of a session that is not running; `pid` is the process that holds it. With `account` the agent uses its own login even if its runs went through the gateway.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        session: z.string(),
        pid: z.int().min(2),
        account: z.boolean().optional(),
      }),
      // The key of the gateway.
      isSecret: true,
      run: ({ session, pid, account }) =>
        actions.attach(sessions.resolve(session).sessionId, pid, { hasOwnLogin: account }),
    }),
    operation({
      name: 'worker.leave',
      about: 'Records that the person has left the session.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ session: z.string() }),
      async run(input) {
        const { sessionId } = sessions.resolve(input.session);
        await actions.leave(sessionId);
        return sessions.get(sessionId);
      },
    }),
    operation({
      name: 'session.log',
      about: 'A part of a session’s log, by byte offset or its last lines; readable unless `form` is raw.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        session: z.string(),
        from: z.int().min(0).optional(),
        lines: z.int().min(0).max(1_000_000).optional(),
        form: z.enum(LOG_FORMS).optional(),
        max_bytes: z
          .int()
          .min(4)
          .max(8 * 1024 * 1024)
          .optional(),
      }),
      async run(input, caller) {
        const { sessionId, state } = sessions.resolve(input.session);
        logs.checkReader(sessionId, caller);
        const ended = state === 'ended';
        const from = input.from ?? (await logs.findTail(sessionId, input.lines ?? 200));
        const read = logs.open(sessionId, input.form ?? 'readable');
        const maxBytes = input.max_bytes ?? 1024 * 1024;
        const { text, next, dropped, end } = await read({ from, maxBytes, ended });
        return { sessionId, text, next, dropped, end, ended };
      },
    }),
    operation({
      name: 'worker.permissions',
      about:
        'The tool calls that the calling worker may make without asking a person, and the folder that they are limited to.',
      seat: 'any',
      changes: false,
      input: z.strictObject({}),
      run(_input, { sessionId }) {
        const session = sessionId !== null && sessions.isKnown(sessionId) ? sessions.get(sessionId) : null;
        return { permissions: permissions(session), folder: session?.worktree ?? session?.cwd ?? null };
      },
    }),
  ];
}
