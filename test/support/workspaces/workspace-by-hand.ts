import type { Clock } from '../../../engine/core/base/clock.ts';
import { SCHEMES, signRequest } from '../../../engine/core/http/signature.ts';
import type {
  CommandOutcome,
  CommandsAnswer,
  LinkEvent,
  LiveSession,
  PendingDecision,
} from '../../../engine/core/link-protocol/messages.ts';
import { type Browser, logMachineIn, type Read, type TestServer } from '../server/linked-server.ts';
import { makePendingDecision } from './pending-decision.ts';

/** A simulated workspace: it links like a real one and sends what the test specifies. */
export interface WorkspaceByHand {
  id: string;
  token: string;
  call(method: string, path: string, body?: object): Promise<{ status: number; text: string }>;
  /** Reports the pending decisions. */
  tellPending(decisions: Partial<PendingDecision>[], channels?: readonly string[]): Promise<void>;
  /** Reports the sessions that have not ended. */
  tellSessions(sessions: Partial<LiveSession>[]): Promise<void>;
  tellEvents(events: Partial<LinkEvent>[]): Promise<void>;
  /** Waits for the next command and answers it. */
  obey(outcome: Partial<CommandOutcome>): Promise<CommandsAnswer['commands'][number]>;
}

export const HASH = 'ab'.repeat(32);

export async function linkByHand(
  server: TestServer,
  person: Browser,
  {
    name = 'web-shop',
    machine = 'laptop',
    key = name,
  }: { name?: string; machine?: string; key?: string } = {},
): Promise<WorkspaceByHand> {
  const bearer = await logMachineIn(server, person, machine);
  const { request } = await import('undici');
  const { host } = new URL(server.url);
  const ask = async (method: string, path: string, token: string, body?: object) => {
    const answer = await request(`http://127.0.0.1:${server.port}${path}`, {
      method: method as 'GET',
      body: body === undefined ? null : JSON.stringify(body),
      headers: {
        host,
        authorization: `Bearer ${token}`,
        'svc-protocol': '1',
        'content-type': 'application/json',
      },
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  const linked = await ask('POST', '/v1/workspaces', bearer, {
    key: key
      .padEnd(16, '-')
      .replace(/[^\w-]/g, '-')
      .slice(0, 64),
    name,
    version: '1.0.0',
  });
  if (linked.status !== 200) throw new Error(`${linked.status} ${linked.text}`);
  const { token, workspace: id } = JSON.parse(linked.text) as { token: string; workspace: string };
  const call = (method: string, path: string, body?: object) => ask(method, path, token, body);
  const tell = async (method: string, path: string, body: object): Promise<void> => {
    const { status, text } = await call(method, path, body);
    if (status !== 200) throw new Error(`${status} ${text}`);
  };
  const now = (): string => new Date(server.clock.now()).toISOString();
  let after = 0;
  return {
    id,
    token,
    call,
    tellPending: (decisions, channels = ['page', 'automation']) =>
      tell('PUT', '/v1/decisions', {
        workspace: name,
        channels,
        more: 0,
        decisions: decisions.map((each) => makePendingDecision({ hash: HASH, since: now(), ...each })),
      }),
    tellSessions: (sessions) =>
      tell('PUT', '/v1/decisions', {
        workspace: name,
        channels: ['page'],
        more: 0,
        decisions: [],
        sessions: sessions.map((each) => ({
          session_id: 's-1',
          state: 'running',
          reason: null,
          since: now(),
          title: 'Repair the login form',
          project: null,
          agent: 'claude',
          pull_request: null,
          ...each,
        })),
      }),
    tellEvents: (events) =>
      tell('POST', '/v1/events', {
        workspace: name,
        events: events.map((each, index) => ({
          id: `e-${index}`,
          event: 'needs_approval',
          at: now(),
          project: null,
          task_id: 't-42',
          decision_id: 'd-17',
          session_id: null,
          agent: 'claude',
          status: 'open',
          title: 'Repair the login form',
          reason: null,
          ...each,
        })),
      }),
    async obey(outcome) {
      for (;;) {
        const { status, text } = await call('GET', `/v1/commands?after=${after}&wait=25&instance=a`);
        if (status !== 200) throw new Error(`${status} ${text}`);
        const [command] = (JSON.parse(text) as CommandsAnswer).commands;
        if (command === undefined) continue;
        after = command.seq;
        const nothing = { session_id: null, decided_by: null, state: null, code: null };
        await call('POST', `/v1/commands/${command.id}`, { outcome: 'started', ...nothing, ...outcome });
        return command;
      }
    },
  };
}

/** Sends signed requests as an automation does, see docs/automate/receiver.md. */
export function openAutomation(
  server: Pick<TestServer, 'url' | 'port'> & { clock: Pick<Clock, 'now'> },
  secret: string,
) {
  const send = async (
    method: 'GET' | 'POST',
    path: string,
    body: string,
    headers: Record<string, string> = {},
  ): Promise<Read & { json: Record<string, unknown> }> => {
    const { request } = await import('undici');
    const timestamp = String(Math.floor(server.clock.now() / 1000));
    const answer = await request(`http://127.0.0.1:${server.port}${path}`, {
      method,
      body: method === 'GET' ? null : body,
      // A server that was restarted on the port is another one.
      reset: true,
      headers: {
        host: new URL(server.url).host,
        'x-svc-timestamp': timestamp,
        'x-svc-signature': signRequest(SCHEMES.svc, secret, timestamp, body),
        ...headers,
      },
    });
    const text = await answer.body.text();
    const read = new Headers();
    for (const [name, value] of Object.entries(answer.headers)) read.set(name, String(value));
    return {
      status: answer.statusCode,
      text,
      headers: read,
      location: null,
      json: text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {},
    };
  };
  let made = 0;
  return {
    send,
    /** A request with a fresh nonce. */
    post: (path: string, fields: object = {}, headers: Record<string, string> = {}) => {
      made += 1;
      return send('POST', path, JSON.stringify({ nonce: `n-${made}`, ...fields }), headers);
    },
    get: (path: string, headers: Record<string, string> = {}) => send('GET', path, '', headers),
  };
}
