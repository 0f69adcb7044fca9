import { chmodSync, lstatSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type Database from 'better-sqlite3';
import { randomName, syncFolder } from '../core/base/atomic-file.ts';
import { rfc3339, systemClock } from '../core/base/clock.ts';
import { SvcError } from '../core/base/errors.ts';
import { isInsideFolder } from '../core/base/paths.ts';
import { replacePrivate } from '../core/base/private-files.ts';
import {
  forgetDataFolder,
  type KeptPaths,
  listDatabaseFiles,
  readDataFolderId,
  readRecordedPath,
  recordDataFolder,
} from '../core/workspace/data-folder.ts';
import { findMovedFolder, followMove, type MovedFolder } from '../core/workspace/moved-folder.ts';
import { copyDatabase, copyPrivate, openCopy } from './database-copy.ts';
import { bindDatabase } from './database-file.ts';
import { holdHostLock } from './host-lock.ts';
import { type AdoptPlace, describeHostHolder, inspectDataFolder } from './inspect-data-folder.ts';
import { toStorageError } from './sqlite-errors.ts';

/** The outcome for the folders of sessions. */
interface PlacedSessions {
  /** Sessions whose folders are valid. */
  kept: { worktree: string; repository: string }[];
  /** Sessions whose folders are not valid: their work is on the branch. */
  unplaced: { session: string; branch: string }[];
}

export interface AdoptedDataFolder extends PlacedSessions {
  /** The folder with the originals; null if there were none. */
  before: string | null;
  /** The folder that was moved with all its content; null for a copy and anything else. */
  moved: MovedFolder | null;
}

/**
 * Suspends everything that would start automatically: approvals expire, sessions end, nothing is delivered; marks,
 * keys and seats become invalid. Paths are only valid at their current place in the workspace.
 */
function holdEverything(
  db: Database.Database,
  dataId: string,
  { root, paths }: AdoptPlace,
  moved: MovedFolder | null,
): PlacedSessions {
  const placed: PlacedSessions = { kept: [], unplaced: [] };
  const now = systemClock.now();
  const why = 'held when the data folder was taken over; nothing was started';
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
    // Answers given there are not answers of anyone here.
    runSql('DELETE FROM call');
    const places = db.prepare<
      unknown[],
      {
        id: number;
        worktree: string | null;
        cwd: string | null;
        repository: string | null;
        branch: string | null;
      }
    >(
      'SELECT id, worktree, cwd, repository, branch FROM session WHERE worktree IS NOT NULL OR cwd IS NOT NULL OR repository IS NOT NULL',
    );
    const followFolder = (path: string | null): string | null =>
      path === null ? null : followMove(path, moved);
    for (const session of places.all()) {
      const { id, branch } = session;
      const [worktree, cwd, repository] = [session.worktree, session.cwd, session.repository].map(
        followFolder,
      ) as [string | null, string | null, string | null];
      const isPlace =
        worktree === null
          ? moved !== null && isInsideFolder(root, cwd ?? root)
          : dirname(worktree) === paths.worktrees && isInsideFolder(worktree, cwd ?? '/');
      const isOurs =
        isPlace &&
        (repository === null || isInsideFolder(root, repository) || isInsideFolder(repository, root));
      const now = isOurs ? { worktree, cwd, repository } : { worktree: null, cwd: null, repository: null };
      runSql(
        'UPDATE session SET worktree = ?, cwd = ?, repository = ? WHERE id = ?',
        now.worktree,
        now.cwd,
        now.repository,
        id,
      );
      if (now.worktree !== null && now.repository !== null)
        placed.kept.push({ worktree: now.worktree, repository: now.repository });
      else if (branch !== null && worktree !== null) placed.unplaced.push({ session: `s-${id}`, branch });
    }
    runSql(
      'UPDATE seat SET closed_at = ?, pid = NULL, pid_start = NULL, notify_base = NULL WHERE closed_at IS NULL',
      now,
    );
    runSql("UPDATE delivery SET state = 'dead', last_error = ? WHERE state = 'pending'", why);
    runSql("UPDATE message SET delivery = 'none', next_at = NULL WHERE delivery = 'pending'");
    runSql("UPDATE ask SET status = 'timeout' WHERE status = 'open'");
    runSql('UPDATE verification SET rerun_mark = NULL, rerun_due = NULL');
    for (const table of ['virtual_key', 'person_key'])
      runSql(`UPDATE ${table} SET revoked_at = ? WHERE revoked_at IS NULL`, now);
    // A memory influences later workers, so a person reads it first.
    runSql(
      "UPDATE memory SET unreviewed = ? WHERE state = 'active'",
      'it came with a data folder that was taken over',
    );
    for (const table of ['discarded_work', 'promotion']) {
      // Their folders and commits belong to another machine, unless everything was moved on this one.
      if (moved === null) runSql(`DELETE FROM ${table}`);
      const rows = db.prepare<unknown[], { session_id: number; path: string | null }>(
        `SELECT session_id, path FROM ${table}`,
      );
      for (const { session_id: session, path } of rows.all())
        runSql(`UPDATE ${table} SET path = ? WHERE session_id = ?`, followFolder(path), session);
    }
    // No one here has named the owner of that server.
    for (const table of ['link', 'link_event', 'link_command', 'link_code', 'telemetry', 'telemetry_day'])
      runSql(`DELETE FROM ${table}`);
    for (const table of ['lock', 'claim', 'circuit']) runSql(`DELETE FROM ${table}`);
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
  return placed;
}

const formatStamp = (): string => rfc3339(systemClock.now()).replace(/\D/g, '').slice(0, 14);

/** Finds an unused name next to a path. */
function findFreeNameBeside(path: string, word: string): string {
  const name = `${path}.${word}-${formatStamp()}`;
  for (let number = 1; ; number += 1) {
    const each = number === 1 ? name : `${name}.${number}`;
    if (lstatSync(each, { throwIfNoEntry: false }) === undefined) return each;
  }
}

/**
 * Adopts a data folder from elsewhere. The inspected copy of the database, with everything suspended, replaces the
 * original; the original and the agents' own files are kept next to it. The record is written last, so an
 * interruption leaves the folder unadopted. Throws `conflict`, `already_running`, `storage_failed`.
 */
export function adoptDataFolder(place: AdoptPlace, tracked: readonly string[]): AdoptedDataFolder {
  const { paths, env } = place;
  const report = inspectDataFolder(place, tracked);
  if (report.state !== 'strange')
    throw new SvcError('conflict', `${paths.data} already belongs to svc on this machine`);
  if (report.obstacle !== null)
    throw new SvcError('conflict', report.obstacle, {
      hint: 'svc adopt --fresh starts with a new folder next to it',
    });
  tightenModes(paths);
  const lock = holdHostLock(paths.data);
  const copy = copyDatabase(paths.db, env);
  const former = readDataFolderId(paths.data);
  const recorded = former === null ? null : readRecordedPath(env, former);
  const moved = findMovedFolder(recorded, realpathSync(paths.data));
  let placed: PlacedSessions = { kept: [], unplaced: [] };
  const before = findFreeNameBeside(join(paths.data, 'before'), 'adopt');
  const id = randomName(16);
  try {
    rmSync(join(paths.data, 'id'), { force: true });
    if (copy !== null) {
      const db = openCopy(copy.file, paths.db);
      try {
        placed = holdEverything(db, id, place, moved);
        db.pragma('wal_checkpoint(TRUNCATE)');
      } finally {
        db.close();
      }
      const draft = `${paths.db}.${randomName()}.new`;
      copyPrivate(copy.file, draft);
      mkdirSync(before, { mode: 0o700 });
      for (const file of listDatabaseFiles(paths.db).reverse())
        if (lstatSync(file, { throwIfNoEntry: false }) !== undefined)
          moveFile(file, join(before, basename(file)));
      renameSync(draft, paths.db);
      syncFolder(dirname(paths.db));
    }
    setAgentFoldersAside(paths.agents);
    setBooksAside(paths.data);
    for (const name of ['daemon.json', 'gateway.json', 'starting'])
      rmSync(join(paths.data, name), { force: true });
    const isGone = recorded !== null && lstatSync(recorded, { throwIfNoEntry: false }) === undefined;
    // The record of a copy stays with the folder that it was copied from.
    if (former !== null && (recorded === paths.data || isGone)) forgetDataFolder(env, former);
    recordDataFolder(env, id, paths.data);
    replacePrivate(join(paths.data, 'id'), `${id}\n`, { isDurable: true });
    return { before: copy === null ? null : before, moved, ...placed };
  } catch (error) {
    throw error instanceof SvcError ? error : toStorageError(error, `cannot take over ${paths.data}`);
  } finally {
    copy?.remove();
    lock.release();
  }
}

/** Moves a file; a database elsewhere may be on a different disk than its data folder. */
function moveFile(file: string, to: string): void {
  try {
    renameSync(file, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    copyPrivate(file, to);
    rmSync(file);
  }
}

/** Tightens modes, which a backup may have lost; files that others could have written were reported before. */
function tightenModes({ data, db, agents, worktrees }: KeptPaths): void {
  const own = readdirSync(data).map((name) => join(data, name));
  for (const path of [data, ...own, agents, worktrees, ...listDatabaseFiles(db)]) {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isFile() || found?.isDirectory()) chmodSync(path, found.mode & 0o700);
  }
}

/** Moves agents' own files aside: they may name programs that an agent starts, so no run may use them again. */
function setAgentFoldersAside(agents: string): void {
  if (!lstatSync(agents, { throwIfNoEntry: false })?.isDirectory()) return;
  for (const entry of readdirSync(agents, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const own = entry.name === '.teardown' ? join(agents, entry.name) : join(agents, entry.name, 'agent');
    if (lstatSync(own, { throwIfNoEntry: false }) !== undefined)
      renameSync(own, findFreeNameBeside(own, 'before-adopt'));
  }
}

/** Moves the gateway's books aside, because they are a database that was not inspected. */
function setBooksAside(data: string): void {
  for (const name of readdirSync(data))
    if (/^gateway\.db(?:-wal|-shm)?$/.test(name))
      renameSync(join(data, name), findFreeNameBeside(join(data, name), 'before-adopt'));
}

/** Entries that identify a data folder of ours. */
const OURS =
  /^(?:id(?:\..*)?|svc\.db.*|svc\.sock.*|host\.(?:lock|pid).*|daemon\.json.*|gateway\.(?:json|db).*|starting|log|agents|notices|context|memory|home|before\.adopt-.*|doctor-.*)$/;

/**
 * Moves an unknown data folder aside unchanged, and an unknown database stored elsewhere. Returns the moves. Throws
 * `conflict` for a folder that does not look like svc's, `already_running`.
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
    throw new SvcError(
      'conflict',
      `${paths.data} contains files that svc did not create, and stays where it is`,
      {
        hint: 'set paths.data to another folder',
      },
    );
  const held = found?.isDirectory() && report.reason !== 'owner' ? describeHostHolder(paths.data) : null;
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
