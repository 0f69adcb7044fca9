import { rmSync } from 'node:fs';
import { pino } from 'pino';
import { Pool } from 'undici';
import type { RunningServer } from '../../../engine/linked-server/index.ts';
import { findPostgres, startPostgres, type TestPostgres } from '../../support/server/postgres.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';
import { CannotRun } from '../figure.ts';
import { authorizeLink, buildServerEvent, fillServer, openFilledServer } from '../server-rows.ts';
import type { GuardedOperation, GuardedRig } from './operation.ts';

const WORKSPACES = 400;
const IDLE_LINKS = 100;

/** A linked server in this process. */
export interface ServerRig {
  running: RunningServer;
  pool: Pool;
  /** Connections for long polls. */
  polls: Pool;
  folder: string;
  cookie: string;
  tokens: readonly string[];
  postgres: TestPostgres | null;
  counted: number;
}

async function open(postgres: TestPostgres | null): Promise<ServerRig> {
  const folder = temporaryFolder('svc-bench-');
  const env = postgres === null ? {} : { DATABASE_URL: await postgres.createDatabase('bench') };
  const running = await openFilledServer(folder, env, pino({ level: 'silent' }));
  const filled = await fillServer(running, { workspaces: WORKSPACES, deliveries: 1000, decisions: 100 });
  return {
    running,
    pool: new Pool(running.url, { connections: 1, pipelining: 1 }),
    polls: new Pool(running.url, { connections: IDLE_LINKS, pipelining: 1 }),
    folder,
    cookie: filled.cookie,
    tokens: filled.tokens,
    postgres,
    counted: 0,
  };
}

async function close({ running, pool, polls, folder, postgres }: ServerRig): Promise<void> {
  await pool.close();
  await polls.close();
  await running.close();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function ask(
  pool: Pool,
  path: string,
  options: Partial<Parameters<Pool['request']>[0]>,
): Promise<void> {
  const answer = await pool.request({ method: 'GET', ...options, path });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${path} was answered with ${answer.statusCode}: ${text}`);
}

/** Sends an event of the next workspace, because each may send only some a second. */
function sendEvent(rig: ServerRig): Promise<void> {
  rig.counted += 1;
  const at = rig.counted % rig.tokens.length;
  const event = buildServerEvent(`guard-${rig.counted}`);
  return ask(rig.pool, '/v1/events', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...authorizeLink(rig.tokens[at] ?? '') },
    body: JSON.stringify({ workspace: `workspace ${at}`, events: [event] }),
  });
}

const page = (path: string): GuardedOperation<ServerRig> => ({
  calls: 20,
  call: ({ pool, cookie }) => ask(pool, path, { headers: { cookie } }),
});

/** The server that people host, on SQLite. */
export const serverRig: GuardedRig<ServerRig> = {
  open: () => open(null),
  close,
  operations: {
    'POST /v1/events': { calls: 50, call: sendEvent },
    'page /app': page('/app'),
    'page /app/deliveries': page('/app/deliveries'),
    '100 polls of idle links': {
      calls: 1,
      warm: 1,
      call: ({ polls, tokens }) =>
        Promise.all(
          tokens
            .slice(0, IDLE_LINKS)
            .map((token) =>
              ask(polls, '/v1/commands?after=0&wait=1&instance=bench', { headers: authorizeLink(token) }),
            ),
        ),
    },
  },
};

/** The same on PostgreSQL. */
export const postgresRig: GuardedRig<ServerRig> = {
  async open() {
    const bin = findPostgres();
    if (bin === null) throw new CannotRun('PostgreSQL is not installed');
    return open(await startPostgres(bin));
  },
  close,
  operations: { 'POST /v1/events on PostgreSQL': { calls: 50, call: sendEvent } },
};
