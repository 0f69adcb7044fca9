import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import type { EngineClient, Session, Task, WireValue } from '../../../../engine/index.ts';
import { until } from '../../../support/wait.ts';
import { requireLocalPath } from '../../../support/workspaces/local-path.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('discarding the work of a session, and restoring it', () => {
  let ws: TestWorkspace;
  let client: EngineClient;
  before(async () => {
    ws = await makeWorkspace();
    client = await ws.connect();
  });
  after(() => ws.close());

  async function ran(prompt = '#agent: edit made.txt by the worker'): Promise<WireValue<Session>> {
    const added = await ws.svc(['task', 'add', '-p', prompt, '--run', '-f', '--json']);
    assert.equal(added.code, 0, added.stderr);
    return show(added.json<{ task: WireValue<Task> }>().task.session_id ?? assert.fail());
  }
  const show = async (session: string): Promise<WireValue<Session>> => {
    const [row] = await client.call('session.list', { ids: [session] });
    return row ?? assert.fail();
  };
  const fails = (code: string, message: RegExp) => (error: unknown) => {
    const { code: found, message: text } = error as { code: string; message: string };
    assert.deepEqual([found, message.test(text)], [code, true], text);
    return true;
  };
  const kinds = async (task: string): Promise<string[]> =>
    (await client.call('task.show', { id: task })).timeline.map(({ kind }) => kind);
  const hasBranch = ({ branch }: WireValue<Session>) =>
    ws.repository.git('for-each-ref', `refs/heads/${branch}`) !== '';

  test('discarding removes branch and worktree, and restoring returns both with every file', async () => {
    const session = await ran();
    const { session_id: id, worktree, head_commit: head } = session;
    const file = join(requireLocalPath(worktree), 'later.txt');
    writeFileSync(file, 'written after the run\n');
    const discarded = await client.call('worktree.discard', { session: id });
    assert.deepEqual([discarded.head, discarded.has_files, discarded.worktree], [head, true, worktree]);
    const row = await show(id);
    assert.deepEqual([row.branch_state, row.worktree], ['discarded', null]);
    assert.deepEqual([hasBranch(session), existsSync(requireLocalPath(worktree))], [false, false]);
    assert.ok((await kinds(session.task_id)).includes('worktree_discarded'));
    const again = await client.call('worktree.discard', { session: id });
    assert.deepEqual(
      { ...again, warnings: [] },
      { ...discarded, warnings: [], saved_refs: again.saved_refs },
    );

    const branchOnly = await client.call('worktree.restore', { session: id });
    assert.deepEqual([branchOnly.worktree, branchOnly.files_wait], [null, true]);
    const restored = await client.call('worktree.restore', { session: id, worktree: true });
    assert.deepEqual([restored.head, restored.worktree], [head, worktree]);
    assert.equal(readFileSync(file, 'utf8'), 'written after the run\n');
    const back = await show(id);
    assert.deepEqual([back.branch_state, back.worktree], [null, worktree]);
    assert.ok((await kinds(session.task_id)).includes('worktree_restored'));
    const promoted = await ws.svc(['worktree', 'promote', id, '--json']);
    assert.equal(promoted.code, 0, promoted.stderr);
  });

  test('discarding refuses running work, a worktree with a process, one that a later run has, and workers', async () => {
    const added = await ws.svc(['task', 'add', '-p', '#agent: hang', '--run', '--json']);
    const live = added.json<{ session: WireValue<Session> }>().session;
    await assert.rejects(
      client.call('worktree.discard', { session: live.session_id }),
      fails('conflict', /is still/),
    );
    await ws.svc(['task', 'cancel', live.task_id]);

    const session = await ran();
    const child = spawn('sleep', ['600'], { cwd: requireLocalPath(session.worktree), stdio: 'ignore' });
    try {
      await assert.rejects(
        client.call('worktree.discard', { session: session.session_id }),
        fails('worktree_unsafe', /process \d+ works in it/),
      );
    } finally {
      child.kill('SIGKILL');
    }
    assert.deepEqual([(await show(session.session_id)).branch_state, hasBranch(session)], [null, true]);

    const sent = await client.call('worker.follow_up', {
      session: session.session_id,
      prompt: '#agent: edit more.txt more',
    });
    const next = await until(async () => {
      const task = await client.call('task.show', { id: sent.task.task_id });
      const last = task.sessions.at(-1);
      return last?.state === 'ended' ? last : null;
    }, 'the end of the follow-up');
    await assert.rejects(
      client.call('worktree.discard', { session: session.session_id }),
      fails('conflict', /has continued/),
    );
    await client.call('worktree.discard', { session: next.session_id });
    await assert.rejects(
      client.call('worker.follow_up', { session: next.session_id, prompt: 'more' }),
      fails('conflict', /was discarded/),
    );
    const asWorker = { env: { SVC_RUN_ID: 'of another workspace' } };
    assert.equal((await ws.svc(['worktree', 'discard', next.session_id], asWorker)).code, 3);
    assert.equal((await ws.svc(['worktree', 'discard', 's-999'])).code, 4);
  });

  test('discarding by two callers at once happens once; against a simultaneous follow-up exactly one wins', async () => {
    const session = await ran();
    const { session_id: id } = session;
    const both = await Promise.all([
      client.call('worktree.discard', { session: id }),
      client.call('worktree.discard', { session: id }),
    ]);
    assert.deepEqual(both[0].head, both[1].head);
    assert.equal((await kinds(session.task_id)).filter((kind) => kind === 'worktree_discarded').length, 1);
    await client.call('worktree.restore', { session: id, worktree: true });
    const [discarded, followed] = await Promise.allSettled([
      client.call('worktree.discard', { session: id }),
      client.call('worker.follow_up', { session: id, prompt: '#agent: no-change' }),
    ]);
    assert.notEqual(discarded.status, followed.status);
  });

  test('a removed branch returns by its saved commit, also after a promotion', async () => {
    const session = await ran('#agent: edit promoted.txt by the worker');
    assert.equal((await ws.svc(['worktree', 'promote', session.session_id])).code, 0);
    assert.equal(hasBranch(session), false);
    const restored = await client.call('worktree.restore', { session: session.session_id });
    assert.equal(restored.head, session.head_commit);
    assert.equal(hasBranch(session), true);
    const other = await ran();
    await assert.rejects(
      client.call('worktree.restore', { session: other.session_id, worktree: true }),
      fails('conflict', /was not discarded/),
    );
  });

  test('a promotion can be undone while its base has not moved on, and the session waits for review again', async () => {
    const session = await ran('#agent: edit undone.txt by the worker');
    const { session_id: id, worktree } = session;
    await assert.rejects(client.call('worktree.undo', { session: id }), fails('conflict', /is not promoted/));
    const before = ws.repository.git('rev-parse', 'main');
    assert.equal((await ws.svc(['worktree', 'promote', id])).code, 0);
    writeFileSync(join(ws.root, 'README.md'), 'being edited\n');
    const [undone] = await Promise.allSettled([
      client.call('worktree.undo', { session: id }),
      client.call('worktree.undo', { session: id }),
    ]);
    assert.equal(undone.status, 'fulfilled');
    assert.equal(ws.repository.git('rev-parse', 'main'), before);
    assert.equal(readFileSync(join(ws.root, 'README.md'), 'utf8'), 'being edited\n');
    ws.repository.git('checkout', '--quiet', 'README.md');
    const row = await show(id);
    assert.deepEqual([row.promoted_at, row.branch_state, row.worktree], [null, null, worktree]);
    assert.deepEqual([existsSync(requireLocalPath(worktree)), hasBranch(session)], [true, true]);
    assert.ok((await kinds(session.task_id)).includes('promotion_undone'));
    assert.equal((await ws.svc(['worktree', 'promote', id])).code, 0);
    ws.repository.commit({ 'on.txt': 'on\n' });
    await assert.rejects(client.call('worktree.undo', { session: id }), fails('conflict', /has moved since/));
    assert.notEqual((await show(id)).promoted_at, null);
  });

  test('an engine that is killed between any two steps continues where it was', async () => {
    for (const [what, interrupt] of [
      ['before anything was removed', (_: string) => undefined],
      ['while the worktree was aside', (path: string) => renameSync(path, `${path}.removing`)],
      ['when the worktree was gone', (path: string) => rmSync(path, { recursive: true })],
    ] as const) {
      const session = await ran();
      const { session_id: id, worktree } = session;
      const path = worktree ?? assert.fail();
      await ws.killDaemon();
      // Written by the first step: the discard has started.
      const db = new Database(join(ws.root, '.svc/svc.db'));
      db.prepare(
        `INSERT INTO discarded_work (session_id, at, actor, head, path) VALUES (?, 1, 'test', ?, ?)`,
      ).run(Number(id.slice(2)), session.head_commit, path);
      db.prepare(`UPDATE session SET branch_state = 'discarded' WHERE id = ?`).run(Number(id.slice(2)));
      db.close();
      interrupt(requireLocalPath(path));
      client = await ws.connect();
      await client.call('engine.status');
      const row = await show(id);
      assert.deepEqual(
        [row.branch_state, row.worktree, hasBranch(session)],
        ['discarded', null, false],
        what,
      );
      const restored = await client.call('worktree.restore', { session: id, worktree: true });
      assert.deepEqual(
        [restored.head, existsSync(requireLocalPath(path))],
        [session.head_commit, true],
        what,
      );
    }
  });
});
