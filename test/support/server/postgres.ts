import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../wait.ts';
import { temporaryFolder } from '../workspaces/git.ts';

/** Returns the newest PostgreSQL that Debian has installed, or one on PATH; null if there is none. */
export function findPostgres(): string | null {
  const [newest] = globSync('/usr/lib/postgresql/*/bin').sort().reverse();
  if (newest !== undefined && existsSync(join(newest, 'initdb'))) return newest;
  return null;
}

/** A PostgreSQL for the test that listens only on a socket. */
export interface TestPostgres {
  /** Creates an empty database; returns its address. */
  createDatabase(name: string): Promise<string>;
  /** Kills its first process with SIGKILL; the others end by themselves. */
  crash(): Promise<void>;
  /** Starts it again on the remaining data after a crash. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** PostgreSQL refuses to run as root; the user `nobody` has the same ids on every Debian system. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export async function startPostgres(
  bin: string,
  /** True to survive a power cut, which slows every commit. */
  { isDurable = false }: { isDurable?: boolean } = {},
): Promise<TestPostgres> {
  const folder = temporaryFolder('postgres-');
  const [data, socket] = [join(folder, 'data'), join(folder, 'socket')];
  for (const each of [data, socket]) mkdirSync(each, { mode: 0o700 });
  if (NOBODY.uid !== undefined)
    for (const each of [folder, data, socket]) chownSync(each, NOBODY.uid, NOBODY.gid);
  const env = { PATH: process.env.PATH, LC_ALL: 'C' };
  execFileSync(
    join(bin, 'initdb'),
    ['--pgdata', data, '--username', 'svc', '--auth', 'trust', '--no-sync', '--encoding', 'UTF8'],
    { ...NOBODY, env, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const { default: pg } = await import('pg');
  const address = (name: string): string => `postgresql://svc@/${name}?host=${encodeURIComponent(socket)}`;
  const words = ['-D', data, '-k', socket];
  const settings = ['listen_addresses=', `fsync=${isDurable ? 'on' : 'off'}`, 'log_min_messages=warning'];
  const start = () =>
    spawn(join(bin, 'postgres'), [...words, ...settings.flatMap((each) => ['-c', each])], {
      ...NOBODY,
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  let server = start();

  /** PostgreSQL does not report when it is ready, so this polls. */
  const isReady = async (): Promise<boolean> => {
    const client = new pg.Client({ connectionString: address('postgres') });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return true;
    } catch {
      return false;
    }
  };
  await until(isReady, 'PostgreSQL');
  return {
    async createDatabase(name) {
      const client = new pg.Client({ connectionString: address('postgres') });
      await client.connect();
      await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
      await client.end();
      return address(name);
    },
    async crash() {
      const ended = once(server, 'exit');
      server.kill('SIGKILL');
      await ended;
    },
    async restart() {
      await until(async () => {
        // Orphaned processes hold its memory for a moment, and it does not start until they are gone.
        if (server.exitCode !== null || server.signalCode !== null) server = start();
        return isReady();
      }, 'PostgreSQL');
    },
    async stop() {
      if (server.exitCode !== null || server.signalCode !== null) return;
      const ended = once(server, 'exit');
      server.kill('SIGINT');
      await ended;
    },
  };
}
