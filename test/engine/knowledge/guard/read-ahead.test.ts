import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
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

test('the files of a worktree are read when its run starts, before any hook', async () => {
  const ws = await makeWorkspace();
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
    const worktree = await until(async () => {
      const [at] = await here.call('session.list', { ids: [session.session_id] });
      return at?.state === 'running' && at.worktree;
    });
    const file = join(ws.root, '.svc', 'guard.db');
    await until(() => {
      if (!existsSync(file)) return false;
      const db = new Database(file, { readonly: true });
      try {
        const read = db.prepare('SELECT file.path FROM file JOIN root ON root.id = root WHERE root.path = ?');
        return read
          .all(realpathSync(requireLocalPath(worktree)))
          .some((each) => (each as { path: string }).path === 'src/sums.js');
      } catch {
        // The index is being built.
        return false;
      } finally {
        db.close();
      }
    });
    const path = join(requireLocalPath(worktree), 'src/new.js');
    const text = SUMS.replaceAll('sumByDay', 'totals');
    await until(async () => {
      const { context } = await here.call('hook.look', {
        event: 'pre-write',
        agent: 'claude',
        cwd: requireLocalPath(worktree),
        paths: [path],
        tool: 'Write',
        writes: [{ path, text }],
      });
      return /src\/new\.js:1-10 \(totals\) repeats src\/sums\.js:1-10 \(sumByDay\)/.test(context.join('\n'));
    });
    writeFileSync(go, '');
  } finally {
    await here.end();
    await ws.close();
  }
});
