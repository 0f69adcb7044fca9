import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';
import { wall } from './commands.ts';
import { type Figure, figure, median } from './figure.ts';

const TASKS = 250_000;
const WARM_ROUNDS = 20;
const COLD_ROUNDS = 5;

const fileOf = (ws: TestWorkspace): string => join(ws.root, '.svc', 'svc.db');

/**
 * Compares `svc status` with 250,000 tasks that all wait for a decision, to an empty board. Cold is the first call
 * after the engine's start, with nothing of the database in the page cache.
 */
export async function statusOfMany(): Promise<Figure[]> {
  const many = await makeWorkspace();
  const empty = await makeWorkspace();
  const both = [many, empty] as const;
  try {
    await Promise.all(both.map((ws) => ws.connect()));
    await many.program(['down']);
    fillBoard(fileOf(many));
    const cold = both.map(() => [] as number[]);
    const warm = both.map(() => [] as number[]);
    for (let round = 0; round < COLD_ROUNDS; round += 1) {
      for (const [at, ws] of both.entries()) {
        await ws.program(['down']);
        (await ws.connect()).close();
        execFileSync('dd', [`if=${fileOf(ws)}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' });
        cold[at]?.push(await wall([SVC, 'status'], ws.root, ws.env));
      }
    }
    for (let round = 0; round < WARM_ROUNDS; round += 1)
      for (const [at, ws] of both.entries()) warm[at]?.push(await wall([SVC, 'status'], ws.root, ws.env));
    const beside = (when: string, [ours = [], reference = []]: number[][]): Figure =>
      figure(`status_250k, ${when}, p50 (reference: no tasks)`, median(ours), 'ms', median(reference));
    return [beside('warm', warm), beside('cold', cold)];
  } finally {
    await many.close();
    await empty.close();
  }
}

/** Rows as the receiver writes them, with prompts and inputs of a usual length. */
function fillBoard(file: string): void {
  const db = new Database(file);
  db.pragma('synchronous = OFF');
  const tasks = db.prepare(`INSERT INTO task (title, body, agent, status, source, created_at, assigned_at)
    VALUES ('an order', ?, 'scripted', 'assigned', 'task', ?, ?)`);
  const decisions = db.prepare(`INSERT INTO decision
    (task_id, kind, state, agent, hash, why, source, created_at, inputs, inputs_version)
    VALUES (?, 'dispatch', 'pending', 'scripted', ?, 'a signed request asks for it', 'task', ?, ?, 1)`);
  const body = 'Look into the order and write down what you find. '.repeat(10);
  const inputs = JSON.stringify({ prompt: body });
  const now = Date.now();
  db.transaction(() => {
    for (let count = 0; count < TASKS; count += 1) {
      const { lastInsertRowid } = tasks.run(body, now, now);
      decisions.run(lastInsertRowid, 'h'.repeat(64), now, inputs);
    }
  })();
  db.close();
}
