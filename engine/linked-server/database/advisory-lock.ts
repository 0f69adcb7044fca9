import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { backoffMs } from '../../core/base/backoff.ts';
import { SvcError } from '../../core/base/errors.ts';

/** An arbitrary number that other programs of the same database do not use: "svc server" in ASCII, cut to 63 bits. */
const LOCK = 0x737663207365n.toString();
/** Interval for retrying while PostgreSQL is unavailable. */
const AGAIN = { firstMs: 250, longestMs: 5000, shortestMs: 100 };

/** The lock of the one server on a PostgreSQL database, held by a separate connection. */
export interface AdvisoryLock {
  /** The display name of the database. */
  name: string;
  /** Resolves when another server has it: PostgreSQL was unavailable, and the other one was back sooner. */
  lost: Promise<SvcError>;
  release(): Promise<void>;
}

/** Takes the lock; null if another server holds it, which is named then. */
async function tryLock(client: Client): Promise<{ holder: string } | null> {
  const { rows } = await client.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [LOCK]);
  if (rows[0]?.held === true) return null;
  const others = await client.query<{ application_name: string }>(
    `SELECT activity.application_name FROM pg_locks AS locks JOIN pg_stat_activity AS activity USING (pid)
     WHERE locks.locktype = 'advisory' AND locks.granted AND locks.objsubid = 1
       AND (locks.classid::bigint << 32 | locks.objid::bigint) = $1
       AND locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [LOCK],
  );
  return { holder: others.rows[0]?.application_name ?? 'at an unknown location' };
}

const heldError = (holder: string): SvcError =>
  new SvcError('already_running', `a server already runs on this database: ${holder}`, {
    hint: 'stop it first; commands such as svc server person add go through it',
  });

/**
 * Locks a database for this process. PostgreSQL releases the lock with the connection, so after a lost connection it
 * is taken again. Throws `already_running` with the holder.
 */
export async function holdDatabase(makeClient: () => Client): Promise<AdvisoryLock> {
  const closing = new AbortController();
  const { promise: lost, resolve: lose } = Promise.withResolvers<SvcError>();
  let client = await connect();
  const taken = await tryLock(client);
  if (taken !== null) {
    await client.end();
    throw heldError(taken.holder);
  }
  const { host, database } = client;
  let keeping = watchLock();

  async function connect(): Promise<Client> {
    const made = makeClient();
    // The end of a connection signals its loss.
    made.on('error', () => undefined);
    await made.connect();
    return made;
  }

  function watchLock(): Promise<void> {
    return new Promise((resolve) => {
      client.once('end', () => {
        if (!closing.signal.aborted) keeping = takeAgain();
        resolve();
      });
    });
  }

  async function takeAgain(): Promise<void> {
    for (let tries = 1; !closing.signal.aborted; tries += 1) {
      try {
        client = await connect();
        const other = await tryLock(client);
        if (other === null && !closing.signal.aborted) keeping = watchLock();
        else await client.end();
        if (other !== null) lose(heldError(other.holder));
        return;
      } catch {
        await delay(backoffMs(tries, AGAIN), undefined, { signal: closing.signal }).catch(() => undefined);
      }
    }
  }

  return {
    name: `PostgreSQL ${database ?? ''} on ${host}`,
    lost,
    async release() {
      closing.abort();
      const ending = keeping;
      await client.end();
      await ending;
    },
  };
}
