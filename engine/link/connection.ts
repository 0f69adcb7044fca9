import { randomUUID } from 'node:crypto';
import type { Decisions } from '../board/decisions/index.ts';
import type { Tasks } from '../board/tasks/index.ts';
import type { Clock } from '../core/base/clock.ts';
import type { Log } from '../core/base/log.ts';
import {
  type CommandOutcome,
  type DecisionsRequest,
  type LinkCommand,
  type LiveSession,
  MOST_DECISIONS,
  MOST_SESSIONS,
} from '../core/link-protocol/messages.ts';
import type { Sessions } from '../workers/sessions/index.ts';
import type { createCommandApplier } from './apply-command.ts';
import { createLinkClient, type LinkClient } from './client.ts';
import type { ServerConfig } from './config.ts';
import type { EventOutbox } from './event-outbox.ts';
import type { AccountLeases } from './leases.ts';
import {
  buildLiveSession,
  buildPendingDecision,
  type OutgoingPullRequest,
  outgoingName,
} from './outgoing.ts';
import type { LinkRow } from './rows.ts';
import { createServerCalls, type ServerCalls } from './server-calls.ts';
import type { LinkStanding } from './standing.ts';

export interface ConnectionDeps {
  clock: Clock;
  log: Log;
  config(): { server: ServerConfig; workspace: { name: string } };
  tasks: Pick<Tasks, 'get' | 'readOrigin'>;
  decisions: Pick<Decisions, 'list' | 'count'>;
  sessions: Pick<Sessions, 'listLive'>;
  /** Finds the pull request of a session; null for none. */
  findPullRequest(sessionId: string): OutgoingPullRequest | null;
  leases: Pick<AccountLeases, 'refresh'>;
  applier: ReturnType<typeof createCommandApplier>;
  outbox: EventOutbox;
  readToken(): string | null;
  rotateToken(calls: ServerCalls, signal: AbortSignal): Promise<void>;
  /** Called when the server no longer accepts the token of these calls. */
  onRevoked(of: ServerCalls): void;
  onConnected(): void;
}

/** The connection to the linked server, while it is to be used. */
export interface LinkConnection {
  /** Connects to the server of a row, or checks for something to send if it is connected there; null disconnects. */
  connect(wanted: LinkRow | null): void;
  disconnect(): Promise<void>;
  /** Called if there may be events to send, and with `hasDecisions` a changed list of decisions. */
  wake(hasDecisions: boolean): void;
  /** Returns null while it is not connected, and other calls for each connection. */
  calls(): ServerCalls | null;
  standing(): LinkStanding | null;
}

export function createLinkConnection(deps: ConnectionDeps): LinkConnection {
  const { clock, log, config, tasks, decisions, applier, outbox } = deps;
  const instance = randomUUID();
  let active: { row: LinkRow; client: LinkClient; calls: ServerCalls } | null = null;
  let closingClient: Promise<void> = Promise.resolve();

  function listSessions({ titles, events }: ServerConfig): LiveSession[] {
    if (events.length > 0 && !events.includes('dispatched')) return [];
    return deps.sessions
      .listLive()
      .slice(-MOST_SESSIONS)
      .map((each) =>
        buildLiveSession(
          each,
          tasks.get(each.taskId),
          tasks.readOrigin(each.taskId),
          deps.findPullRequest(each.sessionId),
          titles,
        ),
      );
  }

  function listPending(): DecisionsRequest {
    const { server, workspace } = config();
    const waiting = decisions.list({ state: 'pending', limit: MOST_DECISIONS });
    return {
      workspace: outgoingName(workspace.name),
      channels: [...new Set(Object.values(server.decide).flat())].sort(),
      decisions: waiting.map((each) =>
        buildPendingDecision(each, tasks.get(each.taskId), tasks.readOrigin(each.taskId), server),
      ),
      more: Math.max(0, decisions.count('pending') - waiting.length),
      sessions: listSessions(server),
    };
  }

  async function applyCommand(command: LinkCommand, offsetMs: number): Promise<CommandOutcome> {
    if (command.verb !== 'refresh') {
      const outcome = await applier.applyCommand(command, offsetMs);
      if (outcome.outcome === 'unknown_verb') log.warn({ verb: command.verb }, 'a command was refused');
      return outcome;
    }
    const { failure } = await deps.leases.refresh();
    return failure === null
      ? applier.keepOutcome(command.id, 'refreshed')
      : applier.keepOutcome(command.id, 'refused', { code: failure });
  }

  function startClient(row: LinkRow): void {
    const calls = createServerCalls({
      server: new URL(row.server),
      token: () => deps.readToken() ?? 'none',
    });
    const client = createLinkClient({
      calls,
      clock,
      log,
      instance,
      workspaceName: () => outgoingName(config().workspace.name),
      listPending,
      nextEvents: outbox.next,
      settleEvents: outbox.settle,
      apply: applyCommand,
      async prepare(signal) {
        await outbox.dropOld();
        await deps.rotateToken(calls, signal);
      },
      onRevoked: () => deps.onRevoked(calls),
      onConnected: deps.onConnected,
    });
    active = { row, client, calls };
  }

  async function disconnect(): Promise<void> {
    const before = active;
    active = null;
    if (before !== null) closingClient = closingClient.then(() => before.client.close());
    await closingClient;
  }

  return {
    connect(wanted) {
      if (
        active !== null &&
        active.row.server === wanted?.server &&
        active.row.linkedAt === wanted.linkedAt
      ) {
        active.client.wake(true);
        return;
      }
      if (active !== null) void disconnect();
      if (wanted !== null) startClient(wanted);
    },
    disconnect,
    wake: (hasDecisions) => active?.client.wake(hasDecisions),
    calls: () => active?.calls ?? null,
    standing: () => active?.client.standing() ?? null,
  };
}
