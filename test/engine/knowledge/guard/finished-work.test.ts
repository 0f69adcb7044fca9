import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../../support/wait.ts';
import { engineHere } from '../../../support/workspaces/engine.ts';
import { requireLocalPath } from '../../../support/workspaces/local-path.ts';
import { makeWorkspace } from '../../../support/workspaces/workspace.ts';

const SUMS = `export function sumByDay(entries, zone) {
  const sums = new Map();
  for (const entry of entries) {
    if (entry.amount <= 0 || entry.isVoid) continue;
    const day = formatDay(entry.at, zone);
    const before = sums.get(day) ?? 0;
    sums.set(day, before + entry.amount * (1 + entry.tax / 100));
  }
  return [...sums].sort(([one], [other]) => (one < other ? -1 : 1));
}
`;

test('a copy in finished work disagrees with its evidence where copies are refused', async () => {
  const ws = await makeWorkspace({ yaml: 'guard: { dup: { mode: block } }\n' });
  const here = await engineHere(ws);
  try {
    ws.repository.commit({ 'src/sums.js': SUMS }, 'Sums');
    const go = join(ws.repository.folder, 'go');
    const { task_id: id } = await here.call('task.add', {
      title: 'work',
      body: `#agent: wait-for ${go}\n#agent: no-change`,
      agent: 'scripted',
    });
    const { session } = await here.call('task.run', { id });
    const name = session.session_id;
    const look = async () => (await here.call('session.list', { ids: [name] }))[0];
    const worktree = await until(async () => {
      const at = await look();
      return at?.state === 'running' && at.worktree;
    });
    const copy = SUMS.replaceAll('sumByDay', 'totals').replaceAll('entry', 'row');
    ws.repository.commit({ 'src/totals.js': copy }, 'Totals', requireLocalPath(worktree));
    await here.call(
      'verify.report',
      { tests: [{ command: 'true', passed: true }], summary: 'totals' },
      { seat: 'worker', sessionId: name },
    );
    writeFileSync(go, '');
    await until(async () => (await look())?.state === 'ended');
    const { state, rerun } = await here.call('verify.rerun', { session: name });
    assert.equal(state, 'disagrees');
    const [ran, found] = rerun?.results ?? [];
    assert.equal(ran?.agrees, true);
    assert.deepEqual([found?.agrees, found?.exit_code], [false, 3]);
    assert.match(found?.command ?? '', /^svc guard check --range /);
    assert.match(
      found?.output ?? '',
      /src\/totals\.js:1-10 \(totals\) repeats src\/sums\.js:1-10 \(sumByDay\)/,
    );
  } finally {
    await here.end();
    await ws.close();
  }
});
