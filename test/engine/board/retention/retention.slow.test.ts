import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { RetentionAges } from '../../../../engine/board/retention/config.ts';
import { createDataRetention, type DataRetention } from '../../../../engine/board/retention/index.ts';
import { createEventLog, openStorage, type Storage } from '../../../../engine/storage/index.ts';
import { createWorktrees } from '../../../../engine/workers/runner/worktrees/index.ts';
import { gitEnvironment, makeRepository, type TestRepository } from '../../../support/workspaces/git.ts';

const DAY = 86_400_000;
const NOW = 1000 * DAY;
const ALL: RetentionAges = {
  events: 90 * DAY,
  tasks: 90 * DAY,
  logs: 90 * DAY,
  refs: 90 * DAY,
  discarded: 30 * DAY,
};

let repository: TestRepository;
let storage: Storage;
let agentsDir: string;
let ages: RetentionAges;
let retention: DataRetention;

beforeEach(() => {
  repository = makeRepository();
  agentsDir = join(repository.folder, 'agents');
  mkdirSync(agentsDir);
  storage = openStorage({ path: join(repository.folder, 'svc.db') });
  ages = { ...ALL };
  retention = open();
});
afterEach(async () => {
  await retention.close();
  storage.close();
  repository.remove();
});

const clock = { now: () => NOW, monotonic: () => 0 };
const open = (): DataRetention =>
  createDataRetention({
    storage,
    events: createEventLog({ storage, clock }),
    clock,
    worktrees: createWorktrees({ env: gitEnvironment(), agentsDir }),
    agentsDir,
    ages: () => ages,
    log: { warn: (data) => assert.fail(JSON.stringify(data)), info: () => undefined },
  });

interface Row {
  id: number;
  /** Days since it ended. */
  days: number;
  task?: Record<string, unknown>;
  session?: Record<string, unknown> | null;
}

const insert = (table: string, row: Record<string, unknown>): void =>
  void storage.db
    .prepare(
      `INSERT INTO ${table} (${Object.keys(row).join()}) VALUES (${Object.keys(row)
        .map(() => '?')
        .join()})`,
    )
    .run(...Object.values(row));

/** A task with its decision, session, events, log and evidence, all with the same id. */
function add({ id, days, task = {}, session = {} }: Row): void {
  const at = NOW - days * DAY;
  const common = { source: 'cli', created_at: at };
  insert('task', {
    id,
    title: 't',
    body: 'b',
    status: 'done',
    ended_at: at,
    session_id: id,
    ...common,
    ...task,
  });
  insert('event', { at: Math.min(at, NOW - Math.sign(days) * 100 * DAY), kind: 'task_created', task_id: id });
  insert('receipt', { key: `key ${id}`, fingerprint: '', task_id: id, expires_at: null });
  if (session === null) return;
  insert('decision', {
    ...{ id, task_id: id, kind: 'dispatch', state: 'approved', hash: '', why: '', consumed_at: at },
    ...common,
  });
  insert('worker', { id });
  insert('session', {
    ...{ id, task_id: id, decision_id: id, worker_id: id, title: 't', agent: 'a', state: 'ended' },
    ...{
      timeout_sec: 1,
      idle_timeout_sec: 1,
      created_at: at,
      ended_at: at,
      commits: 0,
      branch: `svc/s-${id}`,
    },
    ...{ repository: repository.root, ...session },
  });
  insert('verification', { session_id: `s-${id}`, task_id: id, reported_at: at, reported_by: 'x' });
  mkdirSync(join(agentsDir, `s-${id}/agent/deep`), { recursive: true });
  writeFileSync(join(agentsDir, `s-${id}/log`), 'x'.repeat(1000));
  writeFileSync(join(agentsDir, `s-${id}/agent/deep/file`), 'x'.repeat(500));
}

const ids = (table: string): number[] =>
  storage.db
    .prepare<unknown[], { id: number }>(`SELECT id FROM ${table} ORDER BY id`)
    .all()
    .map(({ id }) => id);
const folders = (): string[] => readdirSync(agentsDir).sort();
const clean = (isDryRun = false, olderMs?: number) =>
  retention.clean({ isDryRun, olderMs, actor: 'test', via: 'cli' });
const countsOf = (cleaning: Awaited<ReturnType<typeof clean>>) =>
  Object.fromEntries(cleaning.kinds.map(({ key, count }) => [key, count]));

describe('what retention removes', () => {
  test('old, settled and ended rows are removed: a dry run lists the same and removes nothing', async () => {
    const branch = { commits: 1 };
    add({ id: 1, days: 100 });
    add({ id: 2, days: 100, session: { ...branch, promoted_at: NOW - 100 * DAY } });
    add({ id: 3, days: 100, session: { ...branch, branch_state: 'merged' } });
    add({ id: 4, days: 100, session: null });
    const over = [1, 2, 3, 4];
    add({ id: 10, days: 100, session: branch }); // unmerged
    add({ id: 11, days: 100, session: { commits: null, cwd: '/somewhere' } }); // could not be read
    add({ id: 12, days: 100, session: { worktree: '/somewhere' } });
    add({ id: 13, days: 100, task: { status: 'failed' }, session: { state: 'running', ended_at: null } });
    add({ id: 14, days: 100, task: { status: 'open', ended_at: null }, session: null });
    add({ id: 15, days: 80 });
    add({ id: 16, days: 100, session: { branch_state: 'continued' } });
    add({ id: 17, days: 80, session: { continues: 16 } });
    add({ id: 18, days: 100, task: { status: 'failed' }, session: null });
    insert('decision', {
      ...{
        id: 180,
        task_id: 18,
        kind: 'dispatch',
        state: 'pending',
        hash: '',
        why: '',
        source: 'cli',
        created_at: 1,
      },
    });
    add({ id: 19, days: 100 });
    insert('ask', {
      ...{ id: 1, status: 'open', from_session: 's-19', task_id: 19, to_session: 'chair', question: '?' },
      ...{ created_at: 1, expires_at: NOW * 2 },
    });
    add({ id: 9, days: 100 }); // 14 waits for it
    insert('task_predecessor', { task_id: 14, after_id: 9 });
    insert('task_predecessor', { task_id: 2, after_id: 1 });
    add({ id: 20, days: 0 });
    const [tasks, sessions, events, logs] = [
      ids('task'),
      ids('session'),
      storage.db.prepare('SELECT count(*) FROM event').pluck().get(),
      folders(),
    ];

    const foretold = await clean(true);
    assert.deepEqual([ids('task'), ids('session'), folders()], [tasks, sessions, logs]);
    assert.equal(storage.db.prepare('SELECT count(*) FROM event').pluck().get(), events);
    const cleaned = await clean();
    assert.deepEqual(countsOf(cleaned), countsOf(foretold));
    assert.deepEqual(
      cleaned.kinds.map(({ bytes }) => bytes),
      foretold.kinds.map(({ bytes }) => bytes),
    );
    assert.deepEqual(
      ids('task'),
      tasks.filter((id) => !over.includes(id)),
    );
    assert.deepEqual(
      ids('session'),
      sessions.filter((id) => !over.includes(id)),
    );
    assert.deepEqual(storage.db.prepare('SELECT * FROM task_predecessor').all(), [
      { task_id: 14, after_id: 9 },
    ]);
    assert.deepEqual(
      storage.db
        .prepare("SELECT count(*) FROM verification WHERE session_id IN ('s-1','s-2','s-3')")
        .pluck()
        .get(),
      0,
    );
    // Logs are removed with the run, events by age; logs and events of unfinished tasks stay.
    assert.deepEqual(folders(), ['s-10', 's-11', 's-12', 's-13', 's-15', 's-17', 's-20']);
    const left = storage.db
      .prepare("SELECT task_id FROM event WHERE kind = 'task_created' ORDER BY 1")
      .pluck()
      .all();
    assert.deepEqual(left, [14, 20]);
    assert.deepEqual(countsOf(await clean()), { discarded: 0, refs: 0, logs: 0, tasks: 0, events: 0 });
    const board = storage.db.prepare("SELECT state, n FROM state_count WHERE of = 'task' AND n <> 0").all();
    assert.deepEqual(
      board,
      storage.db.prepare('SELECT status AS state, count(*) AS n FROM task GROUP BY 1').all(),
    );
  });

  test('an id is never used again', async () => {
    for (const id of [1, 2, 3]) add({ id, days: 100 });
    await clean();
    assert.deepEqual([ids('task'), ids('session'), ids('decision')], [[3], [3], [3]]);
    assert.ok((storage.db.prepare('SELECT max(seq) FROM event').pluck().get() as number) >= 3);
  });

  test('nothing is removed where the configuration says never; an age of the caller overrides it', async () => {
    for (const id of [1, 2]) add({ id, days: 100 });
    ages = { events: null, tasks: null, logs: null, refs: null, discarded: null };
    assert.deepEqual(countsOf(await clean()), { discarded: 0, refs: 0, logs: 0, tasks: 0, events: 0 });
    assert.deepEqual(countsOf(await clean(false, 120 * DAY)), {
      discarded: 0,
      refs: 0,
      logs: 0,
      tasks: 0,
      events: 0,
    });
    const { logs, tasks, events } = countsOf(await clean(false, 50 * DAY));
    assert.deepEqual([logs, tasks, events], [2, 1, 1]);
  });

  test('removal follows no link, and keeps files that may be work', async () => {
    for (const id of [1, 2]) add({ id, days: 100 });
    const outside = join(repository.folder, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'mine'), 'mine');
    symlinkSync(outside, join(agentsDir, 's-1/agent/link'));
    symlinkSync(outside, join(agentsDir, 's-77'));
    mkdirSync(join(agentsDir, 's-1/ignored'));
    writeFileSync(join(agentsDir, 's-1/ignored/.env'), 'kept');
    mkdirSync(join(agentsDir, 's-1/git.kept-1'));
    mkdirSync(join(agentsDir, 'mine'));
    for (const name of ['mine', 's-77']) utimesSync(join(agentsDir, name), 1, 1);
    await clean();
    assert.deepEqual(readdirSync(outside), ['mine']);
    assert.deepEqual(readdirSync(join(agentsDir, 's-1')).sort(), ['git.kept-1', 'ignored']);
    assert.deepEqual(folders(), ['mine', 's-1', 's-77']);
  });

  test('removal may be requested by several callers at once, and by one that is closed in the middle', async () => {
    for (let id = 1; id <= 100; id += 1) add({ id, days: 100 });
    const both = await Promise.all([clean(), clean()]);
    assert.deepEqual(
      both.map((each) => countsOf(each).tasks),
      [99, 0],
    );
    for (let id = 101; id <= 400; id += 1) add({ id, days: 100 });
    let closed: Promise<void> | undefined;
    storage.db.function('close_retention', () => {
      closed = retention.close();
      return 0;
    });
    storage.db.exec(`CREATE TEMP TRIGGER closed_in_the_middle AFTER DELETE ON task WHEN OLD.id = 150
      BEGIN SELECT close_retention(); END`);
    await clean();
    await closed;
    storage.db.exec('DROP TRIGGER closed_in_the_middle');
    const left = ids('task');
    assert.ok(left.length > 1);
    for (const table of ['session', 'decision'])
      assert.deepEqual(
        storage.db.prepare(`SELECT id FROM ${table} WHERE task_id NOT IN (SELECT id FROM task)`).all(),
        [],
      );
    retention = open();
    await clean();
    assert.deepEqual(ids('task'), [400]);
  });

  test('removal shrinks a new database', async () => {
    for (let id = 1; id <= 50; id += 1) add({ id, days: 100, task: { body: 'x'.repeat(20_000) } });
    const { database, shrinks } = await clean();
    assert.equal(shrinks, true);
    assert.ok(database !== null && database.after < database.before / 2, JSON.stringify(database));
    assert.equal(storage.db.pragma('integrity_check', { simple: true }), 'ok');
  });
});

describe('removal of saved refs', () => {
  const refs = (): string[] =>
    repository.git('for-each-ref', '--format=%(refname)', 'refs/svc/').split('\n').filter(Boolean);

  test('the refs of merged work and of old discards are removed, and no others', async () => {
    const merged = repository.commit({ 'a.txt': 'a\n' });
    const commit = (text: string) => repository.git('commit-tree', 'main^{tree}', '-p', 'main', '-m', text);
    const [unmerged, old, fresh, foreign, squashed] = ['u', 'o', 'f', 'x', 's'].map(commit) as [
      string,
      string,
      string,
      string,
      string,
    ];
    const save = (id: number | string, commit: string, more = ''): string => {
      const ref = `refs/svc/pruned/svc/s-${id}/${commit.slice(0, 12)}${more}`;
      repository.git('update-ref', ref, commit);
      return ref;
    };
    const promoted_at = NOW - 100 * DAY;
    add({ id: 1, days: 100, session: { head_commit: merged, promoted_at, commits: 1 } });
    add({ id: 2, days: 100, session: { head_commit: squashed, branch_state: 'merged', commits: 1 } });
    add({ id: 3, days: 100, session: { head_commit: '0'.repeat(40), branch_state: 'merged', commits: 1 } });
    add({ id: 4, days: 100, session: { head_commit: old, branch_state: 'discarded', commits: 1 } });
    insert('discarded_work', { session_id: 4, at: NOW - 31 * DAY, actor: 'x', is_done: 1, head: old });
    add({ id: 5, days: 100, session: { head_commit: fresh, branch_state: 'discarded', commits: 1 } });
    insert('discarded_work', { session_id: 5, at: NOW - 29 * DAY, actor: 'x', is_done: 1, head: fresh });
    add({ id: 6, days: 10, session: { head_commit: merged, promoted_at: NOW - 10 * DAY, commits: 1 } });
    const gone = [save(1, merged), save(2, squashed), save(4, old)];
    const kept = [save(3, unmerged), save(5, fresh), save(6, merged), save('of-another', foreign)];
    repository.git('update-ref', 'refs/svc/s-1/head', foreign);
    assert.deepEqual(refs().length, gone.length + kept.length + 1);
    const { refs: ofMerged, discarded } = countsOf(await clean());
    assert.deepEqual([ofMerged, discarded], [2, 1]);
    assert.deepEqual(refs().sort(), [...kept, 'refs/svc/s-1/head'].sort());
    assert.deepEqual(storage.db.prepare('SELECT session_id FROM discarded_work').pluck().all(), [5]);
    assert.equal(countsOf(await clean(false, DAY)).discarded, 0, 'not before the promised time');
    assert.ok(existsSync(join(repository.root, '.git')));
    rmSync(join(repository.root, '.git'), { recursive: true });
    await clean();
  });
});
