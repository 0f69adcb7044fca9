import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findLocalPath } from '../../engine/index.ts';
import { until } from '../support/wait.ts';
import { engineHere } from '../support/workspaces/engine.ts';
import { makeWorkspace } from '../support/workspaces/workspace.ts';

/** `npm run bench -- scale` sets SVC_SCALE_TASKS=50. */
const TASKS = Number(process.env.SVC_SCALE_TASKS ?? 12);
const SLOTS = 8;
const BOUND_BYTES = 150 * 1024 * 1024;

test(`${TASKS} tasks through ${SLOTS} slots: never more at once, nothing of them left, memory bounded`, async (t) => {
  // Each prints 2 MB, commits a file, and leaves a process in a separate session behind.
  const work =
    'head -c 2000000 /dev/zero | tr "\\\\0" x; echo "$SVC_SESSION" >done.txt; git add done.txt; git commit -qm done; setsid sleep 300 & exit 0';
  const ws = await makeWorkspace({ commands: { shell: `sh -c '${work}' {{prompt}}` } });
  const here = await engineHere(ws, { workerCap: SLOTS, graceMs: 300 });
  let most = 0;
  let peak = 0;
  const before = process.memoryUsage.rss();
  const stop = here.engine.onCommit(() => {
    most = Math.max(most, here.engine.sessionCounts().running);
    peak = Math.max(peak, process.memoryUsage.rss() - before);
  });
  t.after(async () => {
    stop();
    await here.close();
    await ws.close();
  });
  const sessions = await Promise.all(
    Array.from({ length: TASKS }, async (_, at) => {
      const task = await here.call('task.add', { body: `task ${at}`, agent: 'shell' });
      return (await here.call('task.run', { id: task.task_id })).session.session_id;
    }),
  );
  await until(
    () => here.engine.sessionCounts().running + here.engine.sessionCounts().queued === 0,
    'the end of all',
  );
  const ended = await here.call('session.list', { ids: sessions });
  assert.deepEqual(
    ended
      .filter(({ failure, commits }) => failure !== null || commits !== 1)
      .map(({ session_id, failure }) => [session_id, failure]),
    [],
  );
  console.log(
    `at most ${most} of ${SLOTS} at once, memory grew by at most ${Math.round(peak / 1024 / 1024)} MiB`,
  );
  assert.ok(most <= SLOTS && most > SLOTS / 2, `${most} at the same time`);
  assert.ok(peak < BOUND_BYTES, `memory grew by ${peak} bytes`);
  assert.deepEqual(ws.survivors(), []);
  // Each run's own folder is gone; its worktree exists, is clean, and is listed.
  for (const id of sessions)
    await until(
      () => readdirSync(join(ws.root, '.svc', 'agents', id)).join() === 'log',
      `the folder of ${id}`,
    );
  const known = new Set(ended.map(({ worktree }) => findLocalPath(worktree)?.split('/').at(-1)));
  assert.deepEqual(
    readdirSync(join(ws.root, '.svc', 'agents', 'worktrees')).filter((name) => !known.has(name)),
    [],
  );
});
