import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Session, Task, WireValue } from '../../engine/index.ts';
import { report } from '../support/processes/faults.ts';
import { requireLocalPath } from '../support/workspaces/local-path.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

const ROUNDS = 8;
/** A discard and an undo take some hundred milliseconds; the kills are spread over that time. */
const SPREAD_MS = 400;

describe('kill -9 of the daemon in the middle of a discard, a restore, an undo and a squash', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
  });
  after(() => ws.close());

  async function ran(): Promise<WireValue<Session>> {
    const added = await ws.svc(['task', 'add', '-p', '#agent: edit made.txt made', '--run', '-f', '--json']);
    assert.equal(added.code, 0, added.stderr);
    return show(added.json<{ task: WireValue<Task> }>().task.session_id ?? assert.fail());
  }
  async function show(id: string): Promise<WireValue<Session>> {
    const [row] = await (await ws.connect()).call('session.list', { ids: [id] });
    return row ?? assert.fail();
  }
  /** Kills the daemon some time after the call has started, and restarts it. */
  async function killDuring(call: Promise<unknown>, afterMs: number): Promise<void> {
    const settled = call.catch(() => undefined);
    await delay(afterMs);
    await ws.killDaemon();
    await settled;
  }
  test('the kill loses no commit and no file', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { session_id: id, worktree, head_commit: head, branch } = await ran();
      const path = worktree ?? assert.fail();
      writeFileSync(join(requireLocalPath(path), 'late.txt'), `late ${round}\r\n`);
      const files = readdirSync(requireLocalPath(path)).filter((name) => !/^\.|^app$/.test(name));
      const contents = files.map((name) => readFileSync(join(requireLocalPath(path), name), 'utf8'));
      const check = (): void => {
        assert.equal(ws.repository.git('rev-parse', branch ?? ''), head);
        assert.deepEqual(
          files.map((name) => readFileSync(join(requireLocalPath(path), name), 'utf8')),
          contents,
        );
      };
      const client = await ws.connect();
      await killDuring(client.call('worktree.discard', { session: id }), (round / ROUNDS) * SPREAD_MS);
      const row = await show(id);
      // Either all of it has happened, or nothing.
      if (row.branch_state === 'discarded') assert.equal(existsSync(requireLocalPath(path)), false);
      else check();
      await (await ws.connect()).call('worktree.discard', { session: id });
      const again = await ws.connect();
      await killDuring(
        again.call('worktree.restore', { session: id, worktree: true }),
        (round / ROUNDS) * SPREAD_MS,
      );
      if ((await show(id)).branch_state === 'discarded')
        await (await ws.connect()).call('worktree.restore', { session: id, worktree: true });
      check();
      assert.deepEqual([(await show(id)).branch_state, (await show(id)).worktree], [null, path]);
    }
    report(`kill -9 in ${2 * ROUNDS} discards and restores`, 'no commit and no file was lost');
  });

  test('the kill leaves a promotion either in place or undone, and the checkout at its branch', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { session_id: id, head_commit: head, branch } = await ran();
      assert.equal((await ws.svc(['worktree', 'promote', id])).code, 0);
      const promoted = ws.repository.git('rev-parse', 'main');
      const before = ws.repository.git('rev-parse', 'main^1');
      const client = await ws.connect();
      await killDuring(client.call('worktree.undo', { session: id }), (round / ROUNDS) * SPREAD_MS);
      const row = await show(id);
      const now = ws.repository.git('rev-parse', 'main');
      assert.equal(now, row.promoted_at === null ? before : promoted);
      assert.equal(ws.repository.git('status', '--porcelain', '-uno'), '');
      if (row.promoted_at === null) assert.equal(ws.repository.git('rev-parse', branch ?? ''), head);
      else await (await ws.connect()).call('worktree.undo', { session: id });
      assert.equal(ws.repository.git('rev-parse', 'main'), before);
    }
    report(`kill -9 in ${ROUNDS} undone promotions`, 'base, branch and checkout agreed each time');
  });

  test('the kill leaves a squash either in the base or not, and a repeat adds no second commit', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { session_id: id, head_commit: head, branch } = await ran();
      const before = ws.repository.git('rev-parse', 'main');
      const client = await ws.connect();
      const squash = { session: id, strategy: 'squash' } as const;
      await killDuring(client.call('worktree.promote', squash), (round / ROUNDS) * SPREAD_MS);
      if ((await show(id)).promoted_at === null) {
        assert.equal(ws.repository.git('rev-parse', branch ?? ''), head);
        await (await ws.connect()).call('worktree.promote', squash);
      }
      assert.equal(ws.repository.git('rev-parse', 'main~1'), before);
      assert.equal(ws.repository.git('diff', '--stat', 'main', head ?? ''), '');
      assert.equal(ws.repository.git('status', '--porcelain', '-uno'), '');
    }
    report(`kill -9 in ${ROUNDS} squashes`, 'each was in the base once');
  });
});
