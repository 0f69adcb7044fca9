import { z } from 'zod';
import type { Circuit, Circuits, PlanEntry, StreamFacts, Usage } from '../agents/index.ts';
import { by, operation } from '../api/operation.ts';
import { findTaskSource, timeoutSec } from '../board/index.ts';
import { checkNotReplaced } from '../board/workflow/index.ts';
import type { Session, Sessions } from '../sessions/index.ts';
import type { SessionActions } from './session-actions.ts';
import { LOG_FORMS, type SessionLogs } from './session-logs.ts';

function added(one: Usage | null, other: Usage | null): Usage | null {
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
  /** What its agent does at this moment, as far as it says so; of one that runs. */
  activity: string | null;
  plan: PlanEntry[];
  /** When its log last grew, RFC 3339; null when it has none yet or the session has ended. */
  logWrittenAt: string | null;
  /** It waits because its agent is given no work; null of one that waits for something else, or for nothing. */
  held: Circuit | null;
  /** What its agent does not say, so that nothing of it is no sign that all is well; words that follow "it does not say". */
  untold: readonly string[];
  /** Tokens that outputs have not taken in its context because svc has shortened them, estimated. */
  savedTokens: number;
}

/** What clients may ask about sessions and their logs. */
export function sessionOperations(deps: {
  sessions: Sessions;
  logs: SessionLogs;
  actions: SessionActions;
  /** Of a session that runs; null of any other. */
  facts(sessionId: string): StreamFacts | null;
  /** What was approved with a session; without one `agents.permissions`. */
  permissions(session: Pick<Session, 'decisionId'> | null): readonly string[];
  circuits: Pick<Circuits, 'findCircuit'>;
  untold(session: Pick<Session, 'agent' | 'transport'>): readonly string[];
  /** Estimated tokens that sessions were spared, of those that were. */
  listSavedTokens(): ReadonlyMap<string, number>;
}) {
  const { sessions, logs, actions, permissions } = deps;

  /** With what it has said in the run that is under way, which is recorded at its end. */
  function describeSession(
    session: Session,
    logTimes: Readonly<Record<string, string>>,
    untoldBy = deps.untold,
    saved = deps.listSavedTokens(),
  ): ListedSession {
    const { sessionId, state } = session;
    const untold = untoldBy(session);
    const savedTokens = saved.get(sessionId) ?? 0;
    // Nobody asks how quiet an ended one is, and most of a list has ended.
    if (state === 'ended')
      return { ...session, activity: null, plan: [], logWrittenAt: null, held: null, untold, savedTokens };
    // What a run has said is recorded at its end, and is not to be told twice.
    const facts = state === 'queued' ? null : deps.facts(sessionId);
    const logWrittenAt = logTimes[sessionId] ?? null;
    const held = state === 'queued' ? deps.circuits.findCircuit(session.agent) : null;
    if (facts === null)
      return { ...session, activity: null, plan: [], logWrittenAt, held, untold, savedTokens };
    return {
      ...session,
      agentSession: facts.agentSession ?? session.agentSession,
      model: facts.model ?? session.model,
      usage: added(session.usage, facts.usage),
      toolCalls: (session.toolCalls ?? 0) + facts.toolCalls,
      activity: facts.activity,
      plan: facts.plan,
      logWrittenAt,
      held,
      untold,
      savedTokens,
    };
  }

  return [
    operation({
      name: 'session.list',
      about:
        'Worker sessions, newest first, live ones in the order of their turn; `ids` names the wanted ones.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        live: z.boolean().optional(),
        ids: z.array(z.string()).max(1000).optional(),
        limit: z.int().min(1).max(100_000).optional(),
      }),
      async run(input): Promise<ListedSession[]> {
        const found = sessions.list(input);
        const live = found.filter(({ state }) => state !== 'ended').map(({ sessionId }) => sessionId);
        const logTimes = await logs.listTimes(live);
        // Many rows, few agents.
        const known = new Map<string, readonly string[]>();
        const saved = deps.listSavedTokens();
        const untoldBy = ({ agent, transport }: Pick<Session, 'agent' | 'transport'>) => {
          const key = `${transport} ${agent}`;
          const untold = known.get(key) ?? deps.untold({ agent, transport });
          known.set(key, untold);
          return untold;
        };
        return found.map((session) => describeSession(session, logTimes, untoldBy, saved));
      },
    }),
    operation({
      name: 'session.count',
      about: 'How many worker sessions there are, or how many have not ended.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ live: z.boolean().optional() }),
      run: (input) => sessions.count(input),
    }),
    operation({
      name: 'session.show',
      about: 'One session, with what its agent does at this moment.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ session: z.string() }),
      async run(input): Promise<ListedSession> {
        const session = sessions.resolve(input.session);
        return describeSession(session, await logs.listTimes([session.sessionId]));
      },
    }),
    operation({
      name: 'worker.kill',
      about: 'Stops a session; what it did stays on its branch.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ session: z.string() }),
      run: (input, caller, call) =>
        call.finish(() => actions.kill(sessions.resolve(input.session).sessionId, by(caller))),
    }),
    operation({
      name: 'worker.resume',
      about:
        'Lets a paused session go on now, and one that failed go on in a new session, in the same worktree and conversation.',
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
        'Sends an ended session on with more to do: a new task in the same worktree and, where its agent can resume, the same conversation.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        session: z.string(),
        prompt: z.string().trim().min(1).max(4_000_000),
        title: z.string().trim().min(1).max(500).optional(),
        timeout_sec: timeoutSec,
        outside: z.boolean().optional(),
      }),
      async run(input, caller, call) {
        const { sessionId } = sessions.resolve(input.session);
        const { timeout_sec, outside, prompt, title = null } = input;
        const submitted = await call.begin(() =>
          actions.followUp(
            sessionId,
            { prompt, title, ...findTaskSource(caller) },
            { parent: caller.sessionId ?? undefined, outside, timeoutSec: timeout_sec },
            by(caller),
          ),
        );
        const { task } = checkNotReplaced(submitted);
        return { task, session: sessions.get((submitted.session as Session).sessionId) };
      },
    }),
    operation({
      name: 'worker.attach',
      about:
        'Lets a person into the worktree of a session that does not run; `pid` is the process that holds it. With `account` the agent has its own login also where its runs went through the gateway.',
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
      about: 'The person has left the session.',
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
      about:
        'A part of a session’s log, from a byte offset or its last lines; readable unless `form` is raw.',
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
      about: 'What the calling worker may do without a person, and the folder in which.',
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
