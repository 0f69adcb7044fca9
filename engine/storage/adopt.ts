import {
  chmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { randomName, syncFolder } from '../base/atomic-file.ts';
import { rfc3339, systemClock } from '../base/clock.ts';
import { asSvcError, SvcError } from '../base/errors.ts';
import { isInsideFolder } from '../base/paths.ts';
import { readPrivate, replacePrivate, withPrivate } from '../base/private-files.ts';
import {
  checkKeptPaths,
  type DataFolderFault,
  forgetDataFolder,
  inspectOwnDataFolder,
  type KeptPaths,
  listDatabaseFiles,
  readDataFolderId,
  recordDataFolder,
} from '../workspace/data-folder.ts';
import { resolveMachineHome } from '../workspace/machine-home.ts';
import { bindDatabase, isDatabaseOf } from './database-file.ts';
import { holdHostLock } from './host-lock.ts';
import { migrateDatabase } from './migrate.ts';
import { migrations } from './migrations/index.ts';
import { toStorageError } from './sqlite-errors.ts';

/** A workspace's folder and where it keeps things. */
export interface AdoptPlace {
  root: string;
  paths: KeptPaths;
  env: NodeJS.ProcessEnv;
}

/** What a strange data folder holds, counted. */
export interface DataFolderHolding {
  tasks: number;
  decisionsPending: number;
  /** Approved, and not used yet. */
  approvalsUnused: number;
  sessions: number;
  sessionsQueued: number;
  sessionsRunning: number;
  deliveriesPending: number;
  messagesPending: number;
  /** Keys of the gateway that still hold. */
  tokens: number;
}

export interface DataFolderReport {
  path: string;
  /** `strange`: not this machine's own, or with a database that is not its own. */
  state: 'absent' | 'empty' | 'ours' | 'strange';
  /** Why it is strange; null when it is not. */
  reason: DataFolderFault | null;
  why: string | null;
  /** Null where there is no database. */
  holds: DataFolderHolding | null;
  /** Why `svc adopt` does not take it over; null when it does, or need not. */
  obstacle: string | null;
}

/** A larger database is not inspected. Ten years of a busy workspace have a tenth of it. */
const MOST_BYTES = 8 * 1024 ** 3;
const PART_BYTES = 1024 * 1024;

const readReason = (error: SvcError): DataFolderFault =>
  (error.data.reason as DataFolderFault | undefined) ?? 'content';

/** Finds whether an engine holds the folder, without writing anything. */
function findHolder(data: string): number | null | false {
  const file = join(data, 'host.lock');
  const lock = lstatSync(file, { throwIfNoEntry: false });
  // Only the lock that svc makes, an empty file, is handed to SQLite.
  if (!lock?.isFile() || lock.size > 0) return false;
  const db = new Database(file, { readonly: true, timeout: 0 });
  try {
    db.prepare('SELECT count(*) FROM sqlite_master').get();
    return false;
  } catch (error) {
    if (!String((error as { code?: string }).code).startsWith('SQLITE_BUSY')) throw error;
    const pid = Number(readPrivate(join(data, 'host.pid'), 32)?.trim());
    return Number.isInteger(pid) && pid > 0 ? pid : null;
  } finally {
    db.close();
  }
}

/** Copies a file without following a link or waiting for a pipe. */
function copyPrivate(from: string, to: string): void {
  withPrivate(from, 'read', (source) => {
    const { size } = fstatSync(source);
    if (size > MOST_BYTES)
      throw new SvcError('storage_unsafe', `${from} has ${size} bytes, and is not looked at`, {
        hint: 'svc adopt --fresh starts anew beside it',
      });
    withPrivate(to, 'new', (target) => {
      const part = Buffer.alloc(PART_BYTES);
      for (let at = 0; ; ) {
        const read = readSync(source, part, 0, PART_BYTES, at);
        if (read === 0) break;
        writeSync(target, part, 0, read);
        at += read;
      }
      fsyncSync(target);
    });
  });
}

/** Copies the database into a private folder of the machine home, where everything is tried first. */
function copyDatabase(db: string, env: NodeJS.ProcessEnv): { file: string; remove(): void } | null {
  if ((lstatSync(db, { throwIfNoEntry: false })?.size ?? 0) === 0) return null;
  mkdirSync(resolveMachineHome(env), { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(join(resolveMachineHome(env), 'adopt-'));
  const removeCopy = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const file = join(folder, 'svc.db');
    copyPrivate(db, file);
    if ((lstatSync(`${db}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
      copyPrivate(`${db}-wal`, `${file}-wal`);
    return { file, remove: removeCopy };
  } catch (error) {
    removeCopy();
    throw error;
  }
}

interface SchemaRow {
  type: string;
  name: string;
  tbl_name: string;
  sql: string | null;
}

const readSchema = (db: Database.Database): string =>
  JSON.stringify(
    db
      .prepare<unknown[], SchemaRow>(
        'SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name',
      )
      .all()
      .map(({ type, name, tbl_name, sql }) => [type, name, tbl_name, sql]),
  );

/** The schema of a database of that version when svc has made it. */
function buildExpectedSchema(version: number): string {
  const db = new Database(':memory:');
  try {
    for (const sql of migrations.slice(0, version)) db.exec(sql);
    return readSchema(db);
  } finally {
    db.close();
  }
}

/**
 * Opens a copy and verifies that it is an intact database of svc's with nothing else in its schema. Nothing in it has
 * run by then: triggers and views only run when used. Throws `storage_failed`, `storage_newer`.
 */
function openCopy(file: string, path: string): Database.Database {
  const db = new Database(file, { timeout: 0 });
  const refuseCopy = (why: string): never => {
    throw new SvcError('storage_failed', `${path} ${why}`, {
      hint: 'svc adopt --fresh starts anew beside it',
    });
  };
  try {
    db.pragma('trusted_schema = OFF');
    db.pragma('cell_size_check = ON');
    const version = db.pragma('user_version', { simple: true }) as number;
    if (version > migrations.length)
      throw new SvcError('storage_newer', `${path} was written by a newer svc (schema ${version})`, {
        hint: 'update svc',
      });
    if (version < 1 || readSchema(db) !== buildExpectedSchema(version))
      refuseCopy('has tables, triggers or views that svc does not make');
    const [found] = db.pragma('integrity_check(1)') as { integrity_check: string }[];
    if (found?.integrity_check !== 'ok') refuseCopy(`is damaged: ${found?.integrity_check ?? 'no answer'}`);
    migrateDatabase(db, path);
    return db;
  } catch (error) {
    db.close();
    if (error instanceof SvcError) throw error;
    throw toStorageError(error, `cannot read ${path}`);
  }
}

function countHolding(db: Database.Database): DataFolderHolding {
  const countRows = (from: string): number =>
    db.prepare<unknown[], { count: number }>(`SELECT count(*) AS count FROM ${from}`).get()?.count ?? 0;
  return {
    tasks: countRows('task'),
    decisionsPending: countRows("decision WHERE state = 'pending'"),
    approvalsUnused: countRows("decision WHERE state = 'approved' AND consumed_at IS NULL"),
    sessions: countRows('session'),
    sessionsQueued: countRows("session WHERE state = 'queued'"),
    sessionsRunning: countRows("session WHERE state IN ('starting', 'running')"),
    deliveriesPending: countRows("delivery WHERE state = 'pending'"),
    messagesPending: countRows("message WHERE delivery = 'pending'"),
    tokens: countRows('virtual_key WHERE revoked_at IS NULL'),
  };
}

/**
 * Holds everything that would start by itself: approvals expire, sessions end, nothing is delivered; marks, keys and
 * seats belong to nobody. Paths only count where the workspace has them now.
 */
function holdEverything(db: Database.Database, dataId: string, { root, paths }: AdoptPlace): void {
  const now = systemClock.now();
  const why = 'held when the data folder was taken over; nothing of it was started';
  const runSql = (sql: string, ...values: unknown[]): void => void db.prepare(sql).run(...values);
  db.transaction(() => {
    runSql(
      "UPDATE decision SET state = 'expired', decided_at = ?, decided_via = 'engine', reason = ? WHERE state = 'approved' AND consumed_at IS NULL",
      now,
      why,
    );
    runSql(
      "UPDATE task SET status = 'failed', ended_at = ?, failure_code = 'lost', failure_text = ?, resume_at = NULL WHERE status IN ('assigned', 'running')",
      now,
      why,
    );
    runSql(
      "UPDATE session SET state = 'ended', ended_at = ?, failure_code = 'lost', failure_text = ?, resume_at = NULL WHERE state <> 'ended'",
      now,
      why,
    );
    runSql(
      'UPDATE session SET run_id = NULL, pid = NULL, pid_start = NULL, attach_pid = NULL, attach_start = NULL, agent_session = NULL',
    );
    // What was answered there is no answer to anybody here.
    runSql('DELETE FROM call');
    const places = db.prepare<
      unknown[],
      { id: number; worktree: string | null; cwd: string | null; repository: string | null }
    >(
      'SELECT id, worktree, cwd, repository FROM session WHERE worktree IS NOT NULL OR cwd IS NOT NULL OR repository IS NOT NULL',
    );
    for (const { id, worktree, cwd, repository } of places.all()) {
      const isOurs =
        worktree !== null &&
        dirname(worktree) === paths.worktrees &&
        isInsideFolder(worktree, cwd ?? '/') &&
        (repository === null || isInsideFolder(root, repository) || isInsideFolder(repository, root));
      if (!isOurs)
        runSql('UPDATE session SET worktree = NULL, cwd = NULL, repository = NULL WHERE id = ?', id);
    }
    runSql(
      'UPDATE seat SET closed_at = ?, pid = NULL, pid_start = NULL, notify_base = NULL WHERE closed_at IS NULL',
      now,
    );
    runSql("UPDATE delivery SET state = 'dead', last_error = ? WHERE state = 'pending'", why);
    runSql("UPDATE message SET delivery = 'none', next_at = NULL WHERE delivery = 'pending'");
    runSql("UPDATE ask SET status = 'timeout' WHERE status = 'open'");
    runSql('UPDATE verification SET rerun_mark = NULL, rerun_due = NULL');
    runSql('UPDATE virtual_key SET revoked_at = ? WHERE revoked_at IS NULL', now);
    for (const table of ['lock', 'claim', 'answered', 'circuit']) runSql(`DELETE FROM ${table}`);
    runSql(
      "INSERT INTO meta (key, value) VALUES ('log_id', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
      randomName(16),
    );
    runSql(
      "INSERT INTO event (at, kind, via, data) VALUES (?, 'alert', 'engine', ?)",
      now,
      JSON.stringify({ code: 'data_folder_adopted', reason: why }),
    );
    bindDatabase(db, dataId);
  })();
}

/** Says why a fault of what is inside is one; loose modes are put right when the folder is taken over. */
function findKeptFault(paths: KeptPaths): SvcError | null {
  try {
    checkKeptPaths(paths, { modes: false });
    return null;
  } catch (thrown) {
    return asSvcError(thrown);
  }
}

function describeHolder(data: string): string | null {
  const held = findHolder(data);
  if (held === false) return null;
  return held === null
    ? 'an engine has it open; end that one first'
    : `the engine of pid ${held} has it open; end it first: kill ${held}`;
}

/** The state of the folder, or why it is refused. */
function findState({ root, paths, env }: AdoptPlace): 'absent' | 'empty' | 'ours' | SvcError {
  try {
    return inspectOwnDataFolder({ root, data: paths.data }, env).state;
  } catch (thrown) {
    const error = asSvcError(thrown);
    if (error.code === 'data_folder_unknown') return error;
    throw error;
  }
}

/** Whether nothing below it is inspected, because it is not a folder of ours at all. */
const isUnreadable = (error: SvcError): boolean =>
  ['link', 'not_a_folder', 'owner'].includes(readReason(error));

/**
 * Inspects the data folder without changing, running or following anything in it.
 * @param tracked the files there that git tracks
 */
export function inspectDataFolder(place: AdoptPlace, tracked: readonly string[]): DataFolderReport {
  const { paths } = place;
  const found = findState(place);
  const error = found instanceof SvcError ? found : null;
  const report: DataFolderReport = {
    path: paths.data,
    state: 'strange',
    reason: error === null ? null : readReason(error),
    why: error === null ? null : error.message,
    holds: null,
    obstacle: null,
  };
  if (tracked[0] !== undefined) {
    const why = `git tracks ${tracked[0]}, and may replace it at any time`;
    return { ...report, reason: 'tracked', why, obstacle: why };
  }
  if (found === 'absent' || found === 'empty') return { ...report, state: found };
  if (error !== null && isUnreadable(error)) return { ...report, obstacle: error.message };
  const fault = findKeptFault(paths);
  if (fault !== null)
    return {
      ...report,
      reason: report.reason ?? readReason(fault),
      why: report.why ?? fault.message,
      obstacle: fault.message,
    };
  const held = describeHolder(paths.data);
  if (held !== null) return error === null ? { ...report, state: 'ours' } : { ...report, obstacle: held };
  return withHolding(place, report);
}

/** Adds what the database holds to the report; one that is not the folder's own makes it strange. */
function withHolding({ paths, env }: AdoptPlace, report: DataFolderReport): DataFolderReport {
  const state = report.reason === null ? 'ours' : 'strange';
  try {
    const copy = copyDatabase(paths.db, env);
    if (copy === null) return { ...report, state };
    try {
      const db = openCopy(copy.file, paths.db);
      try {
        const id = readDataFolderId(paths.data);
        const isBound = id !== null && isDatabaseOf(db, id);
        const holds = countHolding(db);
        if (state === 'strange' || isBound) return { ...report, state, holds };
        return {
          ...report,
          reason: 'database',
          why: `${paths.db} is not the database of this folder`,
          holds,
        };
      } finally {
        db.close();
      }
    } finally {
      copy.remove();
    }
  } catch (thrown) {
    const { message } = asSvcError(thrown);
    return { ...report, reason: report.reason ?? 'database', why: report.why ?? message, obstacle: message };
  }
}

const formatStamp = (): string => rfc3339(systemClock.now()).replace(/\D/g, '').slice(0, 14);

/** Finds an unused name beside a path. */
function findFreeNameBeside(path: string, word: string): string {
  const name = `${path}.${word}-${formatStamp()}`;
  for (let number = 1; ; number += 1) {
    const each = number === 1 ? name : `${name}.${number}`;
    if (lstatSync(each, { throwIfNoEntry: false }) === undefined) return each;
  }
}

/**
 * Adopts a strange data folder. The inspected database is the one that is used: a copy, held and bound, replaces the
 * original; that, and the agents' own files, stay beside it. The record is written last, so an interruption leaves
 * the folder strange. Returns the folder with the originals; null when there were none. Throws `conflict`,
 * `already_running`, `storage_failed`.
 */
export function adoptDataFolder(place: AdoptPlace, tracked: readonly string[]): { before: string | null } {
  const { paths, env } = place;
  const report = inspectDataFolder(place, tracked);
  if (report.state !== 'strange') throw new SvcError('conflict', `${paths.data} is not strange any more`);
  if (report.obstacle !== null)
    throw new SvcError('conflict', report.obstacle, { hint: 'svc adopt --fresh starts anew beside it' });
  tightenModes(paths);
  const lock = holdHostLock(paths.data);
  const copy = copyDatabase(paths.db, env);
  const former = readDataFolderId(paths.data);
  const before = findFreeNameBeside(join(paths.data, 'before'), 'adopt');
  const id = randomName(16);
  try {
    rmSync(join(paths.data, 'id'), { force: true });
    if (copy !== null) {
      const db = openCopy(copy.file, paths.db);
      try {
        holdEverything(db, id, place);
        db.pragma('wal_checkpoint(TRUNCATE)');
      } finally {
        db.close();
      }
      const draft = `${paths.db}.${randomName()}.new`;
      copyPrivate(copy.file, draft);
      mkdirSync(before, { mode: 0o700 });
      for (const file of listDatabaseFiles(paths.db).reverse())
        if (lstatSync(file, { throwIfNoEntry: false }) !== undefined)
          moveTo(file, join(before, basename(file)));
      renameSync(draft, paths.db);
      syncFolder(dirname(paths.db));
    }
    setAgentFoldersAside(paths.agents);
    for (const name of ['daemon.json', 'starting']) rmSync(join(paths.data, name), { force: true });
    if (former !== null) forgetMoved(former, env, paths.data);
    recordDataFolder(env, id, paths.data);
    replacePrivate(join(paths.data, 'id'), `${id}\n`, { isDurable: true });
    return { before: copy === null ? null : before };
  } catch (error) {
    throw error instanceof SvcError ? error : toStorageError(error, `cannot take ${paths.data} over`);
  } finally {
    copy?.remove();
    lock.release();
  }
}

/** A database elsewhere may lie on another disk than its data folder. */
function moveTo(file: string, to: string): void {
  try {
    renameSync(file, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    copyPrivate(file, to);
    rmSync(file);
  }
}

/** The record of where it was made; that of a copy stays with the folder that it was copied from. */
function forgetMoved(id: string, env: NodeJS.ProcessEnv, data: string): void {
  const text = readPrivate(join(resolveMachineHome(env), 'data-folders', `${id}.json`), PART_BYTES);
  const { path } = JSON.parse(text ?? '{}') as { path?: string };
  if (path !== undefined && (path === data || lstatSync(path, { throwIfNoEntry: false }) === undefined))
    forgetDataFolder(env, id);
}

/** A backup may have lost the rights; what others could have written was shown before. */
function tightenModes({ data, db, agents, worktrees }: KeptPaths): void {
  const own = readdirSync(data).map((name) => join(data, name));
  for (const path of [data, ...own, agents, worktrees, ...listDatabaseFiles(db)]) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isFile() || found?.isDirectory()) chmodSync(path, found.mode & 0o700);
  }
}

/** An agent's own files may name programs that it starts, so no run may use them again. */
function setAgentFoldersAside(agents: string): void {
  if (!lstatSync(agents, { throwIfNoEntry: false })?.isDirectory()) return;
  for (const entry of readdirSync(agents, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const own = entry.name === '.teardown' ? join(agents, entry.name) : join(agents, entry.name, 'agent');
    if (lstatSync(own, { throwIfNoEntry: false }) !== undefined)
      renameSync(own, findFreeNameBeside(own, 'before-adopt'));
  }
}

/** What a data folder of ours has in it, so that no other folder is taken for one. */
const OURS =
  /^(?:id(?:\..*)?|svc\.db.*|svc\.sock.*|host\.(?:lock|pid).*|daemon\.json.*|starting|log|agents|notices|context|memory|home|before\.adopt-.*|doctor-.*)$/;

/**
 * Moves a strange data folder aside as it is, whatever it is, and a strange database that lies elsewhere. Returns the moves.
 * Throws `conflict` for what does not look like svc's, `already_running`.
 */
export function setDataFolderAside(
  place: AdoptPlace,
  tracked: readonly string[],
): { from: string; to: string }[] {
  const { root, paths } = place;
  const report = inspectDataFolder(place, tracked);
  if (report.state !== 'strange') return [];
  const found = lstatSync(paths.data, { throwIfNoEntry: false });
  const isDefault = paths.data === join(root, '.svc');
  if (found?.isDirectory() && !isDefault && !readdirSync(paths.data).every((name) => OURS.test(name)))
    throw new SvcError('conflict', `${paths.data} holds what svc has not made, and is left where it is`, {
      hint: 'set paths.data to another folder',
    });
  const held = found?.isDirectory() && report.reason !== 'owner' ? describeHolder(paths.data) : null;
  if (held !== null) throw new SvcError('already_running', `${paths.data} stays where it is: ${held}`);
  const elsewhere = dirname(paths.db) === paths.data ? [] : listDatabaseFiles(paths.db);
  const moves: { from: string; to: string }[] = [];
  for (const from of [paths.data, ...elsewhere]) {
    if (lstatSync(from, { throwIfNoEntry: false }) === undefined) continue;
    const to = findFreeNameBeside(from, 'strange');
    renameSync(from, to);
    moves.push({ from, to });
  }
  return moves;
}
