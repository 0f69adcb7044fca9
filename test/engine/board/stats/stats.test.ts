import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createStats, type Stats } from '../../../../engine/board/stats/index.ts';
import { createEventLog, openStorage, type Storage } from '../../../../engine/storage/index.ts';
import { readCallStatistics } from '../../../support/gateway/call-statistics.ts';

const DAY = 86_400_000;
const MINUTE = 60_000;
const NOW = Date.parse('2026-03-10T12:00:00Z');

let folder: string;
let storage: Storage;
let stats: Stats;
const clock = { now: () => NOW, monotonic: () => 0 };

const openStats = (): Stats =>
  createStats({
    storage,
    events: createEventLog({ storage, clock }),
    clock,
    books: readCallStatistics(folder),
    cap: 2,
  });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-stats-'));
  storage = openStorage({ path: join(folder, 'svc.db') });
  stats = openStats();
});
afterEach(() => {
  storage.close();
  rmSync(folder, { recursive: true });
});

const insert = (table: string, row: Record<string, unknown>): void =>
  void storage.db
    .prepare(
      `INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${Object.keys(row)
        .map(() => '?')
        .join()})`,
    )
    .run(...Object.values(row));

interface Told {
  /** Minutes until its approval; 0 if it did not wait. */
  approved?: number;
  /** Minutes from the approval to the end; null while it is running. */
  took?: number | null;
  agent?: string;
  project?: string;
  /** Days since the request. */
  days?: number;
  task?: Record<string, unknown>;
  session?: Record<string, unknown> | null;
}

/** A task with its decision and its session, all with the same id. */
function add(
  id: number,
  { approved = 0, took = 10, agent = 'claude', project, days = 1, ...rows }: Told = {},
) {
  const asked = NOW - days * DAY;
  const decided = asked + approved * MINUTE;
  const ended = took === null ? null : decided + took * MINUTE;
  const common = { agent, project: project ?? null };
  insert('task', {
    ...{ id, title: 't', body: 'b', status: ended === null ? 'running' : 'done', source: 'cli', ...common },
    ...{ created_at: asked, ended_at: ended, session_id: rows.session === null ? null : id, ...rows.task },
  });
  insert('event', { at: asked, kind: 'task_created', task_id: id });
  if (rows.session === null) return;
  insert('decision', {
    ...{ id, task_id: id, kind: 'dispatch', state: 'approved', hash: '', why: '', source: 'cli' },
    ...{ created_at: asked, decided_at: decided, consumed_at: decided, session_id: id },
  });
  insert('worker', { id });
  insert('session', {
    ...{ id, task_id: id, decision_id: id, worker_id: id, title: 't', ...common, runs: 1 },
    ...{ state: ended === null ? 'running' : 'ended', timeout_sec: 1, idle_timeout_sec: 1 },
    ...{
      created_at: decided,
      started_at: decided,
      run_started_at: decided,
      ended_at: ended,
      ...rows.session,
    },
  });
}

const everything = { by: 'agent', from: 0 } as const;

describe('counting tasks', () => {
  test("every task counts by its end, and denied and cancelled ones are not an agent's failures", async () => {
    add(1);
    add(2, { task: { status: 'failed', failure_code: 'exit_code' } });
    add(3, { task: { status: 'failed', failure_code: 'denied' }, session: null });
    add(4, { task: { status: 'failed', failure_code: 'cancelled' } });
    add(5, { took: null });
    const { total } = await stats.read(everything);
    assert.deepEqual(total.outcomes, { done: 1, failed: 1, denied: 1, cancelled: 1, unfinished: 1 });
    assert.equal(total.tasks, 5);
  });

  test('times are counted where known: median and ninth decile are actual values', async () => {
    for (let id = 1; id <= 10; id += 1) add(id, { approved: id, took: id * 10 });
    // This task did not wait.
    add(11, { took: 5, session: { promoted_at: NOW - DAY + 65 * MINUTE } });
    const { total } = await stats.read(everything);
    assert.deepEqual(total.toApproval, { count: 10, medianSec: 5 * 60, p90Sec: 9 * 60 });
    assert.deepEqual(total.toEnd, { count: 11, medianSec: 50 * 60, p90Sec: 90 * 60 });
    assert.deepEqual(total.toPromotion, { count: 1, medianSec: 3600, p90Sec: 3600 });
    assert.equal(total.promoted, 1);
  });

  test('each repetition counts: retries, follow-ups, resumptions, and conflicts of a session once', async () => {
    add(1, { task: { attempt: 3 } });
    add(2);
    add(3, { session: { continues: 2 } });
    add(4, { session: { failure_code: 'timeout' } });
    add(5, { session: { continues: 4 } });
    add(6);
    for (const at of [NOW - 2, NOW - 1])
      insert('event', { at, kind: 'promote_conflict', task_id: 6, session_id: 6 });
    const { total } = await stats.read(everything);
    const { retries, followUps, resumed, conflicts, reworked } = total;
    assert.deepEqual(
      { retries, followUps, resumed, conflicts, reworked },
      { retries: 2, followUps: 1, resumed: 1, conflicts: 1, reworked: 4 },
    );
    insert('event', { at: NOW, kind: 'promote_conflict', task_id: 2, session_id: 2 });
    assert.equal((await stats.read(everything)).total.conflicts, 2, 'new log entries are read');
  });

  test('tokens and money are summed as reported, with the number of runs that reported none', async () => {
    add(1, { session: { tokens_in: 1000, tokens_cached: 400, tokens_out: 50, cost_usd: 0.5 } });
    add(2, { session: { tokens_in: 200, tokens_out: 5 } });
    add(3, { agent: 'codex' });
    add(4, { session: { runs: 0, started_at: null } });
    const { total, groups } = await stats.read(everything);
    assert.deepEqual(total.tokens, { input: 1200, cached: 400, output: 55 });
    assert.deepEqual([total.runs, total.untoldTokens, total.costUsd, total.untoldCost], [3, 1, 0.5, 2]);
    const codex = groups.find(({ key }) => key === 'codex');
    assert.deepEqual([codex?.untoldTokens, codex?.costUsd], [1, null]);
  });
});

describe('grouping statistics', () => {
  test('an agent has its sessions, even of a task that another one ended', async () => {
    add(1, { session: { agent: 'codex', tokens_in: 7 } });
    add(2);
    const { groups } = await stats.read(everything);
    assert.deepEqual(
      groups.map(({ key, tasks, runs }) => [key, tasks, runs]),
      [
        ['claude', 2, 1],
        ['codex', 0, 1],
      ],
    );
  });

  test("a project has its own, and work without a project is the workspace's", async () => {
    add(1, { project: 'api' });
    add(2);
    add(3);
    const { groups } = await stats.read({ by: 'project', from: 0 });
    assert.deepEqual(
      groups.map(({ key, tasks }) => [key, tasks]),
      [
        [null, 2],
        ['api', 1],
      ],
    );
  });

  test('a day is the UTC day of the end, and days without any are in the chart', async () => {
    add(1, { days: 3 });
    add(2, { days: 1 });
    add(3, { days: 1, task: { status: 'failed', failure_code: 'timeout' } });
    add(4, { days: 1, took: null });
    const { groups, days, total } = await stats.read({ by: 'day', from: 0 });
    assert.deepEqual(
      groups.map(({ key, tasks }) => [key, tasks]),
      [
        ['2026-03-07', 1],
        ['2026-03-09', 2],
      ],
    );
    assert.equal(total.tasks, 4);
    assert.deepEqual(
      days.map(({ day, created, ended }) => [day, created, ended.done, ended.failed]),
      [
        ['2026-03-07', 1, 1, 0],
        ['2026-03-08', 0, 0, 0],
        ['2026-03-09', 3, 1, 1],
      ],
    );
  });
});

describe('the range of statistics', () => {
  test('archived tasks are included, removed ones are reported, and so is the start of the event log', async () => {
    add(1, { days: 9 });
    add(2, { days: 8 });
    add(3, { days: 7, task: { archived_at: NOW } });
    storage.db.exec('DELETE FROM event WHERE task_id < 3; DELETE FROM session WHERE id = 1');
    storage.db.exec('DELETE FROM decision WHERE id = 1; DELETE FROM task WHERE id = 1');
    const { since, removed, archived, total, eventsSince } = await stats.read(everything);
    assert.deepEqual([removed, archived, total.tasks], [1, 1, 2]);
    assert.equal(since, '2026-03-02T12:00:00.000Z');
    assert.equal(eventsSince, '2026-03-03T12:00:00.000Z');
  });

  test('a start time includes only later events', async () => {
    add(1, { days: 9 });
    add(2, { days: 1 });
    const { total, since } = await stats.read({ by: 'agent', from: NOW - 2 * DAY });
    assert.deepEqual([total.tasks, since], [1, '2026-03-09T12:00:00.000Z']);
  });

  test('an empty result is not an error', async () => {
    const { total, groups, days, since, queue } = await stats.read(everything);
    assert.deepEqual([total.tasks, groups, days, since, queue.endsAt], [0, [], [], null, null]);
    assert.deepEqual(total.toEnd, { count: 0, medianSec: null, p90Sec: null });
  });
});

describe('counting again', () => {
  /** Compares with a count of all rows, without kept sums. */
  async function assertSame(what: string): Promise<void> {
    for (const by of ['agent', 'project', 'day'] as const)
      for (const from of [0, NOW - 1.5 * DAY]) {
        const counted = await stats.read({ by, from });
        storage.db.exec('DELETE FROM stats_range');
        const fresh = openStats();
        assert.deepEqual(counted, await fresh.read({ by, from }), `${what}, by ${by}`);
      }
  }

  const listKept = () => storage.db.prepare('SELECT range FROM stats_range ORDER BY range').pluck().all();

  test('a count after changes, removals and conflicts is the same as a first one', async () => {
    const agents = ['claude', 'codex'];
    storage.db.transaction(() => {
      for (let id = 1; id <= 700; id += 1)
        add(id, {
          agent: agents[id % 2] ?? '',
          days: id <= 400 ? 2 : 1,
          took: id === 650 ? null : (id % 50) + 1,
        });
    })();
    await assertSame('at first');

    storage.db.exec(`UPDATE task SET archived_at = 1 WHERE id = 10`);
    insert('event', { at: NOW, kind: 'task_archived', task_id: 10 });
    await assertSame('a task was archived');

    storage.db.exec(`UPDATE session SET promoted_at = ended_at + 60000 WHERE id = 350`);
    insert('event', { at: NOW, kind: 'worktree_promoted', session_id: 350 });
    await assertSame('a session was promoted');

    insert('event', { at: NOW, kind: 'promote_conflict', task_id: 500, session_id: 500 });
    await assertSame('a conflict');

    storage.db.exec(`UPDATE session SET state = 'ended', ended_at = ${NOW} WHERE id = 650;
      UPDATE task SET status = 'failed', failure_code = 'timeout', ended_at = ${NOW} WHERE id = 650`);
    insert('event', { at: NOW, kind: 'failed', task_id: 650 });
    add(701, { agent: 'codex', days: 0 });
    await assertSame('a task ended, and one was added');

    storage.db.exec(`DELETE FROM session WHERE id < 320; DELETE FROM decision WHERE id < 320;
      DELETE FROM task WHERE id < 320`);
    insert('event', { at: NOW, kind: 'data_cleaned' });
    await assertSame('old tasks were removed');
    assert.equal((await stats.read(everything)).total.tasks, 382);
  });

  test('the sums of ranges in which everything has ended are kept over a restart, and go with any change', async () => {
    storage.db.transaction(() => {
      for (let id = 1; id <= 950; id += 1) add(id, { took: id === 700 ? null : (id % 50) + 1 });
    })();
    const before = await stats.read(everything);
    assert.deepEqual(listKept(), [0, 1, 3], 'a task runs in the range 2');
    storage.close();
    storage = openStorage({ path: join(folder, 'svc.db') });
    stats = openStats();
    // A row that no trigger sees shows that the sums are used.
    storage.db.exec(`DROP TRIGGER stats_session_update; UPDATE session SET tokens_in = 7 WHERE id = 1`);
    assert.deepEqual(await stats.read(everything), before);
    storage.db.exec(`UPDATE decision SET decided_at = decided_at + 1 WHERE id = 1`);
    assert.deepEqual(listKept(), [1, 3]);
    insert('event', { at: NOW, kind: 'promote_conflict', task_id: 300, session_id: 300 });
    assert.deepEqual(listKept(), [3]);
    add(951);
    assert.deepEqual(listKept(), []);
    const { total } = await stats.read(everything);
    assert.deepEqual([total.tasks, total.conflicts, total.tokens.input], [951, 1, 7]);
  });
});

describe('estimating the end of the queue', () => {
  const started = { started_at: NOW - 4 * MINUTE, run_started_at: NOW - 4 * MINUTE };
  const queued = { state: 'queued', runs: 0, started_at: null, run_started_at: null };

  test('the queue ends when its tasks have taken the median time of their agents in the available slots', async () => {
    for (const id of [1, 2, 3]) add(id, { took: 10 });
    add(4, { took: null, session: started });
    for (const id of [5, 6]) add(id, { took: null, session: queued });
    const { queue } = await stats.read(everything);
    // One slot is free now, the other in six minutes: 10 and 16.
    assert.deepEqual(queue, {
      ...{ running: 1, waiting: 2, paused: 0, cap: 2 },
      endsAt: new Date(NOW + 16 * MINUTE).toISOString(),
    });
  });

  test('the end is unknown where no run of an agent has ended, and paused sessions are not included', async () => {
    add(1);
    add(2, { took: null, session: { ...queued, resume_at: NOW + DAY } });
    assert.deepEqual((await stats.read(everything)).queue, {
      ...{ running: 0, waiting: 0, paused: 1, cap: 2 },
      endsAt: null,
    });
    add(3, { took: null, agent: 'codex', session: queued });
    assert.equal((await stats.read(everything)).queue.endsAt, null);
  });
});
