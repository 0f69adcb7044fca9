import { type Clock, rfc3339 } from '../core/base/clock.ts';
import { SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import type { Storage } from '../storage/index.ts';
import { formatRunnerId, parseRunnerId } from '../workers/sessions/index.ts';

/** A machine that runs workers. */
export interface RunnerRecord {
  /** Such as `r-7`; never used again. */
  id: string;
  name: string;
  /** `[user@]host` for ssh; the name of its host for one that has joined over the broker. */
  host: string;
  /** The command that replaces ssh; null for ssh. */
  via: string | null;
  /** How svc is started there: words of a POSIX shell; empty for one that has joined. */
  command: string;
  /** The keys that prove its identity, if it has joined over the broker; null for one that is reached by ssh or a command. */
  joined: { certificate: string; nkey: string } | null;
  pool: string;
  /** The most workers at a time. */
  most: number;
  /** True if it gets no new run. */
  isDrained: boolean;
  /** True if it was cut off: nothing that it says counts any more. */
  isRevoked: boolean;
  /** How long its runs may continue without the engine, ms; null for ever. */
  leaseMs: number | null;
  addedAt: string;
}

export type NewRunner = Omit<RunnerRecord, 'id' | 'isDrained' | 'isRevoked' | 'leaseMs' | 'addedAt'>;

/** Names this machine where a pool or a machine is named. */
export const LOCAL_MACHINE = 'local';

interface RunnerRow {
  id: number;
  name: string;
  host: string;
  via: string | null;
  command: string;
  pool: string;
  most: number;
  drained_at: number | null;
  revoked_at: number | null;
  certificate: string | null;
  nkey: string | null;
  lease_ms: number | null;
  added_at: number;
}

const readRow = ({
  id,
  added_at: addedAt,
  drained_at: drainedAt,
  revoked_at: revokedAt,
  certificate,
  nkey,
  lease_ms: leaseMs,
  ...row
}: RunnerRow): RunnerRecord => ({
  ...row,
  joined: certificate === null || nkey === null ? null : { certificate, nkey },
  leaseMs,
  isDrained: drainedAt !== null,
  isRevoked: revokedAt !== null,
  id: formatRunnerId(id),
  addedAt: rfc3339(addedAt),
});

/** The register of machines that run workers. Methods that change it are called inside `storage.write`. */
export interface RunnerRecords {
  list(): RunnerRecord[];
  /** Finds a machine by its name or id; null for none. */
  find(name: string): RunnerRecord | null;
  /** Finds a machine as `find`. Throws `no_runner`. */
  resolve(name: string): RunnerRecord;
  /** Returns the name of a machine, also of one that was removed; the id itself for an unknown one. */
  findName(id: string): string;
  /** Returns a name like this one that no machine has. */
  findFreeName(wanted: string): string;
  add(runner: NewRunner): RunnerRecord;
  /** Lets a machine finish its runs without getting new ones, or use it again. */
  setDrained(id: string, isDrained: boolean): void;
  setLease(id: string, leaseMs: number | null): void;
  /** Cuts a machine off, for good. */
  revoke(id: string): void;
  /** Removes a machine; sessions that worked there keep its id. */
  remove(id: string): void;
  /** Lists sessions that have not ended, or have a worktree there. */
  listSessionsOn(id: string): string[];
}

export function createRunnerRecords({ db }: Pick<Storage, 'db'>, clock: Clock): RunnerRecords {
  const columns =
    'id, name, host, via, command, pool, most, drained_at, revoked_at, certificate, nkey, lease_ms, added_at';
  const all = db.prepare<unknown[], RunnerRow>(
    `SELECT ${columns} FROM runner WHERE removed_at IS NULL ORDER BY id`,
  );
  const nameOf = db.prepare<unknown[], { name: string }>('SELECT name FROM runner WHERE id = ?');
  const insert = db.prepare(
    'INSERT INTO runner (name, host, via, command, pool, most, certificate, nkey, added_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const setDrained = db.prepare('UPDATE runner SET drained_at = ? WHERE id = ?');
  const setLease = db.prepare('UPDATE runner SET lease_ms = ? WHERE id = ?');
  const setRevoked = db.prepare('UPDATE runner SET revoked_at = ? WHERE id = ?');
  // A later machine may have its name.
  const setRemoved = db.prepare(
    `UPDATE runner SET removed_at = ?, name = name || ' (r-' || id || ')' WHERE id = ?`,
  );
  const sessionsOn = db.prepare<unknown[], { id: number }>(
    `SELECT id FROM session WHERE runner = ? AND (state <> 'ended' OR worktree IS NOT NULL) ORDER BY id`,
  );
  /** Read at every turn of the queue, and changed here only. */
  let known: RunnerRecord[] | null = null;
  const list = (): RunnerRecord[] => (known ??= all.all().map(readRow));

  const find = (name: string): RunnerRecord | null =>
    list().find((each) => each.name === name || each.id === name) ?? null;

  return {
    list,
    find,
    resolve(name) {
      const found = find(name);
      if (found !== null) return found;
      throw new SvcError('no_runner', `there is no machine ${JSON.stringify(name)}`, {
        hint: sentence`{runner.list} lists them`,
      });
    },
    findName: (id) =>
      list().find((each) => each.id === id)?.name ?? nameOf.get(parseRunnerId(id))?.name ?? id,
    findFreeName(wanted) {
      const name =
        wanted
          .replace(/[^\w.-]/g, '-')
          .replace(/^[^A-Za-z0-9]+/, '')
          .slice(0, 58) || 'machine';
      const isFree = (each: string): boolean => each !== LOCAL_MACHINE && find(each) === null;
      for (let number = 1; ; number += 1) {
        const candidate = number === 1 ? name : `${name}-${number}`;
        if (isFree(candidate)) return candidate;
      }
    },
    add({ name, host, via, command, pool, most, joined }) {
      if (list().some((each) => each.name === name))
        throw new SvcError('exists', `there is a machine named ${name} already`);
      known = null;
      const { lastInsertRowid } = insert.run(
        ...[name, host, via, command, pool, most],
        ...[joined?.certificate ?? null, joined?.nkey ?? null, clock.now()],
      );
      return readRow({
        ...{ id: Number(lastInsertRowid), name, host, via, command, pool, most },
        certificate: joined?.certificate ?? null,
        nkey: joined?.nkey ?? null,
        lease_ms: null,
        drained_at: null,
        revoked_at: null,
        added_at: clock.now(),
      });
    },
    setDrained(id, isDrained) {
      known = null;
      setDrained.run(isDrained ? clock.now() : null, parseRunnerId(id));
    },
    setLease(id, leaseMs) {
      known = null;
      setLease.run(leaseMs, parseRunnerId(id));
    },
    revoke(id) {
      known = null;
      setRevoked.run(clock.now(), parseRunnerId(id));
    },
    remove(id) {
      known = null;
      setRemoved.run(clock.now(), parseRunnerId(id));
    },
    listSessionsOn: (id) => sessionsOn.all(parseRunnerId(id)).map((row) => `s-${row.id}`),
  };
}
