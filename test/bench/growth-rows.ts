import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { claimDataFolder } from '../../engine/core/workspace/data-folder.ts';
import { registerWorkspace } from '../../engine/core/workspace/registry.ts';
import type { CallRow } from '../../engine/gateway/books/schema.ts';
import { openBooks } from '../../engine/gateway/server/books.ts';
import { makeCallRow } from '../support/workspaces/call-row.ts';
import type { EngineHere } from '../support/workspaces/engine.ts';
import type { TestWorkspace } from '../support/workspaces/workspace.ts';

const DAY_MS = 86_400_000;
/** Decisions that wait, whatever the size of the board. */
const WAITING = 10;
const EVENTS_PER_TASK = 10;
const MOST_AT_ONCE = 200;

export const dataOf = ({ root }: TestWorkspace): string => join(root, '.svc');

/** Fills the tables of a stopped engine: `tasks` ended runs, most of them over a day old. */
export function fillTables(ws: TestWorkspace, tasks: number): void {
  const db = new Database(join(dataOf(ws), 'svc.db'));
  db.pragma('synchronous = OFF');
  db.transaction(() => {
    fillBoard(db, tasks);
    fillBus(db, tasks);
    fillDeliveries(db, tasks);
  })();
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}

function fillBoard(db: Database.Database, tasks: number): void {
  const task =
    db.prepare(`INSERT INTO task (id, title, body, agent, status, source, created_at, ended_at, session_id)
    VALUES (@id, 'an order', @body, @agent, @status, 'task', @at, @end, @id)`);
  const decision = db.prepare(`INSERT INTO decision
    (id, task_id, kind, state, agent, hash, why, source, created_at, decided_at, consumed_at, inputs, inputs_version)
    VALUES (@id, @id, 'dispatch', @state, @agent, @hash, 'asked for', 'task', @at, @at, @end, @inputs, 1)`);
  const worker = db.prepare('INSERT INTO worker (id) VALUES (@id)');
  const session = db.prepare(`INSERT INTO session
    (id, task_id, decision_id, worker_id, title, agent, state, timeout_sec, idle_timeout_sec, created_at, started_at,
     ended_at, runs, branch, commits, branch_state, tokens_in, tokens_out)
    VALUES (@id, @id, @id, @id, 'an order', @agent, 'ended', 600, 0, @at, @at, @end, 1, 'svc/s-' || @id, 1, 'merged',
     1000, 50)`);
  const event = db.prepare(
    `INSERT INTO event (at, kind, task_id, data) VALUES (@at, 'task_changed', @id, '{"title":"an order"}')`,
  );
  const body = 'Look into the order and write down what you find. '.repeat(10);
  const inputs = JSON.stringify({ prompt: body });
  const now = Date.now();
  for (let id = 1; id <= tasks; id += 1) {
    const at = now - (tasks - id + 1) * 60_000;
    const isWaiting = id > tasks - WAITING;
    const agent = id % 3 === 0 ? 'codex' : 'claude';
    const end = isWaiting ? null : at + 30_000;
    task.run({ id, body, agent, status: isWaiting ? 'assigned' : 'done', at, end });
    const state = isWaiting ? 'pending' : 'approved';
    decision.run({ id, agent, state, hash: `${id}`.padStart(64, '0'), at, end, inputs });
    if (isWaiting) continue;
    worker.run({ id });
    session.run({ id, agent, at, end });
    for (let count = 0; count < EVENTS_PER_TASK; count += 1) event.run({ id, at });
  }
}

/** Read messages of one reader, which are kept for a while, with ten unread ones, and answered asks. */
function fillBus(db: Database.Database, messages: number): void {
  const message = db.prepare(`INSERT INTO message
    (kind, body, from_session, to_session, created_at, acked_at, acked_by, delivery)
    VALUES ('note', 'a line of some length, as agents write to each other', 's-1', 'ada', @at, @acked, 'ada', 'delivered')`);
  const ask = db.prepare(`INSERT INTO ask
    (status, from_session, to_session, question, created_at, expires_at, answered_at, answered_by, answer)
    VALUES ('answered', 's-1', 'chair', 'which of the two?', @at, @at + 60000, @at, 'ada', 'the second')`);
  for (let count = 1; count <= messages; count += 1) {
    const at = Date.now() - (messages - count) * 100;
    message.run({ at, acked: count > messages - WAITING ? null : at });
    ask.run({ at });
  }
}

function fillDeliveries(db: Database.Database, tasks: number): void {
  const delivery = db.prepare(`INSERT INTO delivery
    (event_seq, event, message_id, url, body, state, attempts, created_at, first_at, next_at, delivered_at, last_status)
    VALUES (@id, 'sealed', 'm-' || @id, 'http://127.0.0.1:9/', @body, 'delivered', 1, @at, @at, @at, @at, 200)`);
  const body = JSON.stringify({ event: 'sealed', title: 'an order', detail: 'x'.repeat(300) });
  for (let id = 1; id <= EVENTS_PER_TASK * tasks; id += 1)
    delivery.run({ id, body, at: Date.now() - id * 1000 });
}

/** Calls of the last 30 days; a hundred are of today. */
export function fillUsage(ws: TestWorkspace, calls: number): void {
  const books = openBooks(dataOf(ws), { now: Date.now, isAlone: true });
  for (let count = 0; count < calls; count += 1) {
    const at = Date.now() - (count < 100 ? 0 : (1 + (count % 29)) * DAY_MS);
    const day = new Date(at).toISOString().slice(0, 10);
    const row: Pick<CallRow, 'id' | 'started_at' | 'ended_at' | 'day'> = {
      id: books.nextId(),
      started_at: at,
      ended_at: at + 5,
      day,
    };
    books.note(makeCallRow({ ...row, person: 'ada', provider: 'paid', model: 'm' }));
  }
  books.save();
  books.close();
}

/** Calls of an engine, many at the same time, so that they share commits. */
async function inGroups(count: number, call: (at: number) => Promise<unknown>): Promise<void> {
  for (let first = 0; first < count; first += MOST_AT_ONCE) {
    const size = Math.min(MOST_AT_ONCE, count - first);
    await Promise.all(Array.from({ length: size }, (_, at) => call(first + at)));
  }
}

const AREAS = ['parser', 'cache', 'queue', 'socket', 'index', 'worker', 'schema', 'budget'];
const nameArea = (at: number): string => AREAS[at % AREAS.length] ?? '';

export const fillMemories = ({ call }: EngineHere, count: number): Promise<void> =>
  inGroups(count, (at) =>
    call('memory.remember', {
      title: `The ${nameArea(at)} of module ${at}`,
      text: `Module ${at} keeps its ${nameArea(at)} because of decision ${at * 7}; ask before changing it.`,
    }),
  );

export const fillTexts = ({ call }: EngineHere, count: number): Promise<void> =>
  inGroups(count, (at) =>
    call('context.externalize', {
      text: Array.from(
        { length: 30 },
        (_, line) => `run ${at}: ${nameArea(line)} step ${line} took 13 ms`,
      ).join('\n'),
    }),
  );

/** Files in chains of calls of ten, so that the answer about one symbol does not grow. */
export function fillCode(ws: TestWorkspace, files: number): void {
  const code: Record<string, string> = {};
  for (let at = 0; at < files; at += 1) {
    const next = at % 10 === 9 ? null : at + 1;
    const [head, call] =
      next === null ? ['', '1'] : [`import { run${next} } from './module-${next}.ts';\n`, `run${next}()`];
    code[`app/module-${at}.ts`] = `${head}export function run${at}(): number {\n  return ${call};\n}\n`;
  }
  for (const [path, text] of Object.entries(code)) ws.repository.write(path, text);
  ws.repository.git('add', 'app');
  ws.repository.git('commit', '-qm', 'code');
}

/** Registers stopped workspaces on the machine of this one. */
export function fillRegistry(ws: TestWorkspace, count: number): void {
  for (let at = 0; at < count; at += 1) {
    const root = join(ws.repository.folder, 'others', `workspace-${at}`);
    mkdirSync(root, { recursive: true });
    const place = { root, file: join(root, 'svc.yaml'), data: join(root, '.svc') };
    writeFileSync(place.file, `workspace: { name: workspace ${at} }\n`);
    const id = claimDataFolder(place, ws.env);
    registerWorkspace(ws.env, { ...place, id, name: `workspace ${at}`, startedAt: new Date().toISOString() });
  }
}
