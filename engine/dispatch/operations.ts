import { z } from 'zod';
import { findTaskSource, timeoutSec } from '../board/index.ts';
import { checkNotReplaced } from '../board/workflow/index.ts';
import { cursor } from '../core/api/cursor.ts';
import { by, checkOwnTask, type OwnWork, operation } from '../core/api/operation.ts';
import { type Session, type SessionFilter, type Sessions, writeSitePath } from '../workers/sessions/index.ts';
import { createSessionDescriber, type DescriberDeps, type ListedSession } from './describe-sessions.ts';
import type { SessionActions } from './session-actions.ts';
import { LOG_FORMS, type SessionLogs } from './session-logs.ts';

interface SessionOperationsDeps extends DescriberDeps {
  sessions: Sessions;
  logs: SessionLogs;
  actions: SessionActions;
  /** The permissions approved with a session; `agents.permissions` without one. */
  permissions(session: Pick<Session, 'agent' | 'decisionId'> | null): readonly string[];
}

/** Operations on sessions and their logs. */
export function sessionOperations(deps: SessionOperationsDeps) {
  return [
    ...sessionReadOperations(deps),
    ...workerControlOperations(deps),
    ...workerVisitOperations(deps),
    workerPermissionsOperation(deps),
  ];
}

/** Operations that read sessions and their logs. */
function sessionReadOperations(deps: SessionOperationsDeps) {
  const { sessions, logs } = deps;
  const describeSessions = createSessionDescriber(deps);

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
      run: (input, { ownWork }): Promise<ListedSession[]> =>
        describeSessions(listSeen(input, ownWork ?? null)),
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
        const [described] = await describeSessions([session]);
        return described!;
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
  ];
}

/** Operations that stop, continue or interrupt a worker. */
function workerControlOperations({ sessions, actions }: SessionOperationsDeps) {
  return [
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
  ];
}

/** Operations with which a person enters and leaves the worktree of a worker. */
function workerVisitOperations({ sessions, actions }: SessionOperationsDeps) {
  return [
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
  ];
}

function workerPermissionsOperation({ sessions, permissions }: SessionOperationsDeps) {
  return operation({
    name: 'worker.permissions',
    about:
      'The tool calls that the calling worker may make without asking a person, and the folder that they are limited to.',
    seat: 'any',
    changes: false,
    input: z.strictObject({}),
    run(_input, { sessionId }) {
      const session = sessionId !== null && sessions.isKnown(sessionId) ? sessions.get(sessionId) : null;
      // The worker asks, on the machine of its run.
      const folder = writeSitePath(session?.worktree ?? session?.cwd ?? null);
      return { permissions: permissions(session), folder };
    },
  });
}
