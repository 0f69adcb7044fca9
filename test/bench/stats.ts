import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createStats } from '../../engine/board/stats/index.ts';
import type { Db } from '../../engine/storage/index.ts';
import { fakeClock } from '../support/clock.ts';
import { readCallStatistics } from '../support/gateway/call-statistics.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { openSpine } from '../support/workspaces/spine.ts';
import { type Figure, figure, median } from './figure.ts';

const TASKS = 250_000;
const ROUNDS = 5;
const AGENTS = ['claude', 'codex', 'gemini'];
const DAY_MS = 86_400_000;

/** Reads every row behind the figures without computing anything. */
export const SCAN = `SELECT (SELECT sum(coalesce(ended_at, 0)) FROM task) + (SELECT sum(coalesce(tokens_in, 0) + ended_at) FROM session)
  + (SELECT sum(created_at) FROM decision) AS n`;

/** Compares the CPU time of `svc stats` for a year of 250,000 tasks with a scan of the same tables. */
export async function statsOfMany(): Promise<Figure[]> {
  const folder = temporaryFolder('svc-stats-');
  const clock = fakeClock();
  const { storage, events } = openSpine(join(folder, 'svc.db'), clock);
  try {
    fillYear(storage.db, clock.now());
    const scan = storage.db.prepare(SCAN);
    const open = () => createStats({ storage, events, clock, books: readCallStatistics(folder), cap: 4 });
    const stats = open();
    const [first, all, week, reference]: [number[], number[], number[], number[]] = [[], [], [], []];
    for (let round = 0; round < ROUNDS; round += 1) {
      reference.push(await measureCpu(() => scan.get()));
      const fresh = open();
      first.push(await measureCpu(() => fresh.read({ by: 'agent', from: 0 })));
      // Another grouping than before, so that no cached answer is used.
      all.push(await measureCpu(() => stats.read({ by: round % 2 === 0 ? 'agent' : 'day', from: 0 })));
      week.push(await measureCpu(() => stats.read({ by: 'day', from: clock.now() - 7 * DAY_MS - round })));
    }
    return [
      figure(
        'stats_250k, the first after a start, CPU p50 (reference: a scan of the tables)',
        median(first),
        'ms',
        median(reference),
      ),
      figure(
        'stats_250k, all, CPU p50 (reference: a scan of the tables)',
        median(all),
        'ms',
        median(reference),
      ),
      figure(
        'stats_250k, of a week, CPU p50 (reference: a scan of the tables)',
        median(week),
        'ms',
        median(reference),
      ),
    ];
  } finally {
    storage.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureCpu(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

export function fillYear(db: Db, now: number, tasks = TASKS): void {
  const task =
    db.prepare(`INSERT INTO task (title, body, agent, status, failure_code, source, created_at, ended_at)
    VALUES ('a task', 'what it is about', ?, ?, ?, 'cli', ?, ?)`);
  const decision =
    db.prepare(`INSERT INTO decision (task_id, kind, state, agent, hash, why, source, created_at, decided_at)
    VALUES (?, 'dispatch', 'approved', ?, 'h', 'asked', 'cli', ?, ?)`);
  const session =
    db.prepare(`INSERT INTO session (task_id, decision_id, worker_id, title, agent, state, timeout_sec,
      idle_timeout_sec, created_at, started_at, ended_at, runs, promoted_at, tokens_in, tokens_out)
    VALUES (?, ?, ?, 'a run', ?, 'ended', 600, 0, ?, ?, ?, 1, ?, 1000, 50)`);
  db.transaction(() => {
    const worker = db.prepare("INSERT INTO worker (name) VALUES ('w')").run().lastInsertRowid;
    for (let at = 0; at < tasks; at += 1) {
      const created = now - 365 * DAY_MS + Math.floor((365 * DAY_MS * at) / tasks);
      const agent = AGENTS[at % AGENTS.length];
      const hasFailed = at % 9 === 0;
      const end = created + 300_000 + (at % 1000) * 1000;
      const ended = [hasFailed ? 'failed' : 'done', hasFailed ? 'exit_code' : null, created, end];
      const id = task.run(agent, ...ended).lastInsertRowid;
      const approved = decision.run(id, agent, created, created + 1000).lastInsertRowid;
      const promoted = at % 3 === 0 ? end + 60_000 : null;
      session.run(id, approved, worker, agent, created, created + 2000, end, promoted);
    }
  })();
}
