import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { CommandOutcome, LinkCommand } from '../../../engine/core/link-protocol/messages.ts';
import { until } from '../wait.ts';
import { type EngineHere, engineHere } from '../workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../workspaces/workspace.ts';

/** A request from a workspace, with its raw bytes. */
export interface Received {
  method: string;
  path: string;
  authorization: string;
  text: string;
}

/** A server that links every workspace and then attacks it as the test specifies. */
export interface HostileServer {
  url: string;
  received: Received[];
  outcomes: Map<string, CommandOutcome>;
  /** Answers of the next polls. */
  commands: Partial<LinkCommand>[];
  /** Answers a request instead of a well-behaved server; returns false to leave it to that server. */
  misbehave: ((request: Received, response: ServerResponse) => boolean) | null;
  /** Sends a command and waits for its outcome. */
  give(command: Partial<LinkCommand>): Promise<CommandOutcome>;
  close(): Promise<void>;
}

export async function startHostileServer(): Promise<HostileServer> {
  const open = new Set<() => void>();
  let seq = 0;
  const send = (response: ServerResponse, status: number, body: unknown): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const time = (): string => new Date().toISOString();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    const seen: Received = {
      method: request.method ?? '',
      path: request.url ?? '',
      authorization: request.headers.authorization ?? '',
      text: JSON.stringify([request.rawHeaders, request.url, Buffer.concat(chunks).toString('utf8')]),
    };
    self.received.push(seen);
    if (self.misbehave?.(seen, response) === true) return;
    if (pathname === '/v1/workspaces')
      return send(response, 200, {
        workspace: 'w_hostile',
        token: `svcw_${'h'.repeat(43)}`,
        account: 'home',
        person: 'ann',
        lease_key: 'h'.repeat(43),
        server_time: time(),
      });
    if (pathname === '/v1/events') return send(response, 200, { kept: 1, server_time: time() });
    if (pathname === '/v1/decisions') return send(response, 200, { server_time: time() });
    if (pathname === '/v1/lease') return send(response, 200, { lease: 'e30.e30.e30' });
    if (pathname === '/v1/workspace') return void response.writeHead(204).end();
    const outcomeOf = /^\/v1\/commands\/(.+)$/.exec(pathname)?.[1];
    if (outcomeOf !== undefined) {
      self.outcomes.set(outcomeOf, JSON.parse(Buffer.concat(chunks).toString('utf8')) as CommandOutcome);
      return void response.writeHead(204).end();
    }
    if (pathname.startsWith('/v1/usage')) return send(response, 200, { server_time: time() });
    // Only requests that ask for commands receive them.
    if (pathname !== '/v1/commands') return send(response, 404, { code: 'not_found' });
    const query = new URL(request.url ?? '/', 'http://x').searchParams;
    if (self.commands.length === 0 && query.get('wait') !== '0') {
      const { promise, resolve } = Promise.withResolvers<void>();
      open.add(resolve);
      response.on('close', resolve);
      await promise;
      open.delete(resolve);
    }
    return send(response, 200, {
      commands: self.commands.splice(0),
      contested: false,
      server_time: time(),
    });
  }

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const self: HostileServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received: [],
    outcomes: new Map(),
    commands: [],
    misbehave: null,
    async give(command) {
      seq += 1;
      const id = command.id ?? `k_command${seq}`;
      self.outcomes.delete(id);
      self.commands.push({
        id,
        seq,
        at: time(),
        verb: 'approve',
        decision_id: null,
        hash: null,
        person: 'ann',
        channel: 'page',
        code: null,
        ...command,
      });
      for (const wake of open) wake();
      return until(() => self.outcomes.get(id) ?? null, `the outcome of ${id}`);
    },
    async close() {
      for (const wake of open) wake();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return self;
}

/** Creates an unlinked workspace with its engine, and a hostile server; all of it ends with the test. */
export async function openBesideHostileServer(
  t: TestContext,
  options: Parameters<typeof engineHere>[1] = {},
): Promise<{ server: HostileServer; ws: TestWorkspace; here: EngineHere }> {
  const server = await startHostileServer();
  const ws = await makeWorkspace();
  const here = await engineHere(ws, options);
  t.after(async () => {
    await here.end();
    await server.close();
    await ws.close();
  });
  return { server, ws, here };
}
