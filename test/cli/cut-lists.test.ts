import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import type { Ran } from '../support/workspaces/command-line.ts';
import { engineHere } from '../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

const ROWS = 130;

/** Rows of every table that a list shows, as after a typical day. */
function fill(file: string): void {
  const db = new Database(file);
  const insert = (sql: string, ...values: unknown[]): unknown =>
    db.prepare(sql).run(...values).lastInsertRowid;
  db.transaction(() => {
    const worker = insert('INSERT INTO worker (name) VALUES (?)', 'w');
    for (let at = 0; at < ROWS; at += 1) {
      const task = insert(
        "INSERT INTO task (title, body, agent, status, source, created_at, ended_at) VALUES (?, '', 'scripted', 'done', 'cli', 1, 1)",
        `task ${at}`,
      );
      const decision = insert(
        `INSERT INTO decision (task_id, kind, state, agent, hash, why, source, created_at)
         VALUES (?, 'dispatch', 'pending', 'scripted', 'h', 'asked', 'cli', 1)`,
        task,
      );
      insert(
        `INSERT INTO session (task_id, decision_id, worker_id, title, agent, state, timeout_sec, idle_timeout_sec, created_at)
         VALUES (?, ?, ?, 'a run', 'scripted', 'ended', 600, 0, 1)`,
        task,
        decision,
        worker,
      );
      insert(
        `INSERT INTO ask (status, from_session, to_session, question, options, created_at, expires_at)
         VALUES ('answered', 's-1', 'chair', 'which?', '[]', 1, 2)`,
      );
      insert(
        `INSERT INTO message (kind, body, to_session, created_at, delivery, next_at, acked_at)
         VALUES ('note', 'hello', 'ada', 1, 'none', 1, ?)`,
        Date.now(),
      );
      insert(
        `INSERT INTO delivery (event_seq, event, message_id, url, body, state, created_at, first_at, next_at)
         VALUES (1, 'sealed', 'm', 'http://127.0.0.1:1', '{}', 'dead', ?, 1, 1)`,
        Date.now(),
      );
      insert(
        `INSERT INTO memory (id, type, title, title_key, text, tags, digest, unreviewed, actor, seat, via, created_at, changed_at)
         VALUES (?, 'gotcha', 'a trap', ?, 'a text', '[]', ?, 'a stranger wrote it', 'ada', 'chair', 'cli', 1, ?)`,
        ...[`m-${at}`, `a trap ${at}`, `digest ${at}`, Math.floor(at / 3)],
      );
      insert(
        `INSERT INTO stored_text (id, hash, bytes, lines, kind, created_at, used_at) VALUES (?, ?, 1, 1, 'text', 1, ?)`,
        ...[`c-${at}`, `${at}`, Date.now() - (at % 7)],
      );
      insert(
        "INSERT INTO lock (path, holder, fence, acquired_at, expires_at) VALUES (?, 'ada', ?, 1, ?)",
        ...[`src/${at}`, at + 1, Date.now() + 3_600_000],
      );
      insert("INSERT INTO event (at, kind, task_id) VALUES (1, 'task_changed', 1)");
      insert("INSERT INTO event (at, kind, task_id) VALUES (1, 'task_changed', 1)");
    }
  })();
  db.close();
}

/** Each list with its default number of rows. */
const LISTS: readonly (readonly [line: string, standard: number])[] = [
  ['task list', 100],
  ['task list --status done', 100],
  ['decision list', 100],
  ['decision list --state all', 100],
  ['worker list --all', 100],
  ['ask list --status answered', 50],
  ['ask list --status all', 50],
  ['msg list', 100],
  ['msg inbox ada --all', 50],
  ['memory list', 50],
  ['memory list --type gotcha', 50],
  ['memory review', 100],
  ['context list', 50],
  ['lock list', 100],
  ['lock list src', 100],
  ['notify deliveries', 50],
  ['notify deliveries --state dead', 50],
];

describe('a list that shows a part of its rows', () => {
  let ws: TestWorkspace;
  const run = (line: string): Promise<Ran> => ws.svc(line.split(' '));
  const rowsOf = (ran: Ran): unknown[] => {
    const shown = ran.json<unknown[] | { messages: unknown[] }>();
    return Array.isArray(shown) ? shown : shown.messages;
  };

  before(async () => {
    ws = await makeWorkspace({ hosted: true });
    await (await engineHere(ws)).close();
    fill(join(ws.root, '.svc', 'svc.db'));
    await ws.connect();
  });
  after(() => ws.close());

  for (const [line, standard] of LISTS) {
    test(`the list says so, and how to see all: svc ${line}`, async () => {
      const note = new RegExp(
        `^note: ${standard} of ${ROWS} are shown; --limit ${ROWS} shows all(?:, --cursor \\S+ continues)?$`,
        'm',
      );
      const cut = await run(`${line} --json`);
      assert.equal(rowsOf(cut).length, standard);
      assert.match(cut.stderr, note);
      assert.match((await run(line)).stderr, note);
      const whole = await run(`${line} --json --limit ${ROWS}`);
      assert.equal(rowsOf(whole).length, ROWS);
      assert.equal(whole.stderr, '');
    });
  }

  for (const [line] of LISTS) {
    test(`the list continues page by page, each row once and in the same order: svc ${line}`, async () => {
      const whole = rowsOf(await run(`${line} --json --limit ${ROWS}`));
      const rows: unknown[] = [];
      let cursor: string | null = 'start';
      for (let pages = 0; cursor !== null && pages < 4; pages += 1) {
        const ran: Ran = await run(`${line} --json --limit 65 --cursor ${cursor}`);
        const page = ran.json<{ rows: unknown[]; next_cursor: string | null }>();
        rows.push(...page.rows);
        cursor = page.next_cursor;
      }
      assert.equal(cursor, null);
      assert.deepEqual(rows, whole);
    });
  }

  test('the list prints the next cursor for people as well, and says when there is nothing more', async () => {
    const first = await run('task list --limit 65');
    const cursor = /--cursor (t-\d+) continues/.exec(first.stderr)?.[1];
    assert.equal(cursor, `t-${ROWS - 64}`);
    const second = await run(`task list --limit 65 --cursor ${cursor}`);
    assert.equal(second.stdout.trim().split('\n').length, 65);
    assert.equal(second.stderr, '');
    assert.match((await run('task list --cursor t-1')).stderr, /^nothing more$/m);
    for (const list of [
      ...['msg list', 'msg inbox ada', 'memory list', 'memory review', 'context list', 'project list'],
      ...['worktree list', 'lock list', 'notify deliveries', 'ask list'],
    ]) {
      const wrong = await run(`${list} --cursor x`);
      assert.deepEqual([list, wrong.code], [list, 2]);
      assert.match(wrong.stderr, /invalid cursor "x"/);
    }
  });

  test('the list is silent when nothing is left out', async () => {
    for (const line of ['worker list', 'ask list', 'task list --status open', 'msg list --unread'])
      assert.doesNotMatch((await run(line)).stderr, /shown/);
  });

  test('the list reports to an agent how many more rows there are', async () => {
    const more = async (name: string, input: object): Promise<unknown> =>
      (await ws.svc(['tool', 'call', name, '--args', JSON.stringify(input)])).json<{ more: number }>().more;
    assert.equal(await more('task_list', {}), ROWS - 50);
    assert.equal(await more('task_list', { status: 'done', limit: 1000 }), 0);
    assert.equal(await more('ask_list', { status: 'all' }), ROWS - 50);
    assert.equal(await more('ask_list', {}), 0);
    assert.equal(await more('msg_inbox', { session: 'ada', unread: false }), ROWS - 50);
    assert.equal(await more('msg_inbox', { session: 'ada', unread: false, limit: 500 }), 0);
    assert.equal(await more('msg_stale', {}), 0);
  });

  test('a nested list says that it is only a part', async () => {
    assert.match((await run('task show t-1')).stdout, /timeline \(the newest 200 of 260 events\)/);
    assert.match((await run('task show t-2')).stdout, /^timeline$/m);
  });
});
