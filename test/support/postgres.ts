import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './git.ts';

/** The newest PostgreSQL that Debian installs, or one on the path; null when there is none. */
export function findPostgres(): string | null {
  const [newest] = globSync('/usr/lib/postgresql/*/bin').sort().reverse();
  if (newest !== undefined && existsSync(join(newest, 'initdb'))) return newest;
  return null;
}

/** A PostgreSQL of the test's own that listens on a socket only. */
export interface TestPostgres {
  /** Makes an empty database; its address. */
  createDatabase(name: string): Promise<string>;
  stop(): Promise<void>;
}

/** PostgreSQL does not run as root; nobody's numbers are the same everywhere on Debian. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export async function startPostgres(
  bin: string,
  /** Durable where a power cut is what counts, which costs every commit its time. */
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
  const server = spawn(
    join(bin, 'postgres'),
    [
      '-D',
      data,
      '-k',
      socket,
      '-c',
      'listen_addresses=',
      '-c',
      `fsync=${isDurable ? 'on' : 'off'}`,
      '-c',
      'log_min_messages=warning',
    ],
    { ...NOBODY, env, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = once(server, 'exit');
  const { default: pg } = await import('pg');
  const address = (name: string): string => `postgresql://svc@/${name}?host=${encodeURIComponent(socket)}`;
  for (;;) {
    const client = new pg.Client({ connectionString: address('postgres') });
    try {
      await client.connect();
      await client.end();
      break;
    } catch (error) {
      if (server.exitCode !== null) throw error;
      // It tells nobody when it is ready; the next try finds out.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  return {
    async createDatabase(name) {
      const client = new pg.Client({ connectionString: address('postgres') });
      await client.connect();
      await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
      await client.end();
      return address(name);
    },
    async stop() {
      server.kill('SIGINT');
      await ended;
    },
  };
}
