import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';
import { type Figure, figure, percentile } from './figure.ts';

/** A twentieth of a busy year: 100,000 tasks with 20 events each, and a folder with a log for each run. */
const TASKS = 5_000;
const EVENTS_PER_TASK = 20;
const LOG_BYTES = 20_000;
const YEAR_MS = 365 * 86_400_000;
const SENDERS = 4;
const QUIET_MS = 8_000;

const fileOf = (ws: TestWorkspace): string => join(ws.root, '.svc', 'svc.db');
const agentsOf = (ws: TestWorkspace): string => join(ws.root, '.svc', 'agents');

/**
 * Measures `svc clean --older 90d` on a twentieth of a synthetic year: what remains, and the latency of signed
 * requests during the run, compared with the same requests just before.
 */
export async function retentionBench(): Promise<Figure[]> {
  const ws = await makeWorkspace();
  try {
    (await ws.connect()).close();
    await ws.program(['down']);
    fillYear(ws);
    const before = measure(ws);
    const client = await ws.connect();
    await ws.post('to begin with');
    const quiet = await sendUntil(ws, () => performance.now() > begin + QUIET_MS);
    const swept = performance.now();
    let isOver = false;
    const cleaning = client.call('data.clean', { older_sec: 90 * 86_400 }).finally(() => {
      isOver = true;
    });
    const meanwhile = await sendUntil(ws, () => isOver);
    const { kinds } = await cleaning;
    const seconds = (performance.now() - swept) / 1000;
    const after = measure(ws);
    const of = (key: string): number => kinds.find((each) => each.key === key)?.count ?? 0;
    return [
      figure(
        'clean: POST /task p50 meanwhile (reference: before)',
        percentile(meanwhile, 0.5),
        'ms',
        percentile(quiet, 0.5),
      ),
      figure(
        'clean: POST /task p99 meanwhile (reference: before)',
        percentile(meanwhile, 0.99),
        'ms',
        percentile(quiet, 0.99),
      ),
      figure('clean: tasks and events removed', of('tasks') + of('events'), 'rows', after.rows),
      figure('clean: folders of sessions left (reference: before)', after.folders, 'folders', before.folders),
      figure('clean: database after (reference: before)', after.bytes / 1e6, 'MB', before.bytes / 1e6),
      figure('clean: took', seconds, 's'),
    ];
  } finally {
    await ws.close();
  }
}

let begin = 0;

/** Sends signed requests one after another from several senders. Returns their durations in ms. */
async function sendUntil(ws: TestWorkspace, isOver: () => boolean): Promise<number[]> {
  begin = performance.now();
  const took: number[] = [];
  const send = async (): Promise<void> => {
    do {
      const sent = performance.now();
      await ws.post('an order');
      took.push(performance.now() - sent);
    } while (!isOver());
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  return took;
}

function measure(ws: TestWorkspace): { rows: number; folders: number; bytes: number } {
  const db = new Database(fileOf(ws), { readonly: true });
  const count = (table: string): number =>
    db.prepare<unknown[], { n: number }>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? 0;
  const rows = count('task') + count('event');
  db.close();
  const folders = readdirSync(agentsOf(ws)).filter((name) => /^s-\d+$/.test(name)).length;
  return { rows, folders, bytes: statSync(fileOf(ws)).size };
}

/** Ended runs, spread evenly over a year; one in a hundred left unmerged work. */
function fillYear(ws: TestWorkspace): void {
  const db = new Database(fileOf(ws));
  db.pragma('synchronous = OFF');
  const first = Date.now() - YEAR_MS;
  const task =
    db.prepare(`INSERT INTO task (id, title, body, agent, status, source, created_at, ended_at, session_id)
    VALUES (@id, 'an order', @body, 'scripted', 'done', 'task', @at, @at, @id)`);
  const decision = db.prepare(`INSERT INTO decision
    (id, task_id, kind, state, agent, hash, why, source, created_at, consumed_at, inputs, inputs_version)
    VALUES (@id, @id, 'dispatch', 'approved', 'scripted', '', 'asked for', 'task', @at, @at, @body, 1)`);
  const worker = db.prepare('INSERT INTO worker (id) VALUES (@id)');
  const session = db.prepare(`INSERT INTO session
    (id, task_id, decision_id, worker_id, title, agent, state, timeout_sec, idle_timeout_sec, created_at, ended_at,
     branch, commits, branch_state)
    VALUES (@id, @id, @id, @id, 'an order', 'scripted', 'ended', 1, 1, @at, @at, 'svc/s-' || @id, 1, @state)`);
  const event = db.prepare(
    `INSERT INTO event (at, kind, task_id, data) VALUES (@at, 'task_changed', @id, @data)`,
  );
  const body = 'Look into the order and write down what you find. '.repeat(20);
  const data = JSON.stringify({ title: 'an order', detail: 'x'.repeat(200) });
  db.transaction(() => {
    for (let id = 1; id <= TASKS; id += 1) {
      const at = Math.round(first + (id / TASKS) * YEAR_MS);
      const state = id % 100 === 0 ? null : 'merged';
      task.run({ id, body, at });
      decision.run({ id, body, at });
      worker.run({ id });
      session.run({ id, at, state });
      for (let count = 0; count < EVENTS_PER_TASK; count += 1) event.run({ id, at, data });
    }
  })();
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  const log = 'x'.repeat(LOG_BYTES);
  for (let id = 1; id <= TASKS; id += 1) {
    mkdirSync(join(agentsOf(ws), `s-${id}`), { mode: 0o700 });
    writeFileSync(join(agentsOf(ws), `s-${id}`, 'log'), log);
  }
}
