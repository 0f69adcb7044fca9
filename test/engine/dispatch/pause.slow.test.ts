import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../../engine/core/base/clock.ts';
import { logMachineIn, setUpServer, startTestServer } from '../../support/server/linked-server.ts';
import { until } from '../../support/wait.ts';
import { requireLocalPath } from '../../support/workspaces/local-path.ts';
import { claudeSays, makeRig, type Rig } from './rig.ts';

const DAY = 86_400_000;

describe('a limit with a known end', () => {
  let rig: Rig;
  before(async () => {
    rig = await makeRig();
  });
  after(() => rig.close());

  /** Edits a file without committing it, then hits a limit. */
  const limited = (at: number, file = 'half.txt') => [
    `edit ${file} half`,
    'dirty',
    claudeSays.init('c-9'),
    claudeSays.limit(at),
    claudeSays.result({
      is_error: true,
      api_error_status: 429,
      result: 'usage limit reached',
      session_id: 'c-9',
    }),
  ];

  test('the session pauses, and resumes once at that time in its conversation and worktree', async () => {
    const before = rig.starts().length;
    const { session_id, task_id } = await rig.run(limited(Date.now() + 500));
    const paused = await rig.settled(session_id);
    assert.equal(paused.state, 'queued');
    assert.match(paused.pause?.code ?? '', /^(usage_limit|rate_limited)$/);
    const task = await rig.task(task_id);
    assert.deepEqual(
      [task.status, task.resume_at, task.session_id],
      ['assigned', paused.resume_at, session_id],
    );
    assert.equal(readFileSync(join(requireLocalPath(paused.worktree), 'half.txt'), 'utf8'), 'half\n');

    await until(async () => (await rig.session(session_id)).state === 'ended');
    const ended = await rig.session(session_id);
    assert.equal(ended.failure, null, JSON.stringify(ended.failure));
    assert.deepEqual([ended.runs, ended.branch, ended.worktree], [2, paused.branch, paused.worktree]);
    // The first run's tokens are counted with the second run, which reported none.
    assert.equal(ended.usage?.output, 7);
    const starts = rig.starts().slice(before);
    assert.equal(starts.length, 2);
    assert.ok(starts[1]?.includes('--resume=c-9'), JSON.stringify(starts[1]));
    assert.match(starts[1]?.at(-1) ?? '', /^You were interrupted/);
    assert.equal((await rig.task(task_id)).status, 'done');
  });

  test('the pause holds over a restart of the engine, and a person can end it', async () => {
    const before = rig.starts().length;
    const { session_id, task_id } = await rig.run(limited(Date.now() + DAY));
    const { resume_at } = await rig.settled(session_id);
    await rig.down();
    await rig.up();
    assert.equal((await rig.session(session_id)).resume_at, resume_at);
    assert.equal(rig.starts().length, before + 1);
    const status = await rig.here().call('engine.status');
    assert.deepEqual([status.workers.paused, status.workers.queued], [1, 0]);
    await Promise.all(
      [1, 2, 3].map(() =>
        rig
          .here()
          .call('worker.resume', { session: session_id })
          .catch(() => null),
      ),
    );
    await until(async () => (await rig.session(session_id)).state === 'ended');
    assert.equal(rig.starts().length, before + 2);
    assert.equal((await rig.task(task_id)).status, 'done');
  });

  test('the page of a linked server shows the session as paused with its reason, and then how it ended', async (t) => {
    const server = await startTestServer({ clock: systemClock });
    const here = rig.here();
    t.after(async () => {
      await here.call('link.stop', {});
      await server.close();
    });
    const ann = await setUpServer(server);
    const { session_id, task_id } = await rig.run(limited(Date.now() + DAY));
    await rig.settled(session_id);
    await here.call('link.start', { server: server.url, token: await logMachineIn(server, ann) });
    const shows = (words: RegExp) =>
      until(async () => {
        const rows = (await ann.get('/app/runs')).text.split('<tr>');
        return rows.some((row) => row.includes(`>${session_id}<`) && words.test(row));
      }, String(words));
    await shows(/>paused: (?:usage_limit|rate_limited): /);
    await here.call('worker.resume', { session: session_id });
    await until(async () => (await rig.session(session_id)).state === 'ended');
    assert.equal((await rig.task(task_id)).status, 'done');
    await shows(/>ready</);
    const { session_id: cancelled, task_id: task } = await rig.run(['sleep 600']);
    const shown = () =>
      until(async () => {
        const rows = (await ann.get('/app/runs')).text.split('<tr>');
        return rows.find((row) => row.includes(`>${cancelled}<`)) ?? '';
      }, 'the running session');
    assert.match(await shown(), />(?:running|waiting for its turn)</);
    await here.call('task.cancel', { id: task });
    await until(async () => /failed: cancelled/.test(await shown()), 'the end');
  });

  test('work is kept when the task is cancelled, or marked done, during the pause', async () => {
    for (const end of [
      (id: string) => rig.here().call('task.cancel', { id }),
      (id: string) => rig.here().call('task.done', { id }),
    ]) {
      const { session_id, task_id } = await rig.run(limited(Date.now() + DAY));
      const { branch } = await rig.settled(session_id);
      await end(task_id);
      await until(async () => (await rig.session(session_id)).state === 'ended');
      const ended = await rig.session(session_id);
      assert.equal(ended.failure?.code, 'cancelled');
      assert.equal(rig.ws.repository.git('show', `${branch}:half.txt`), 'half');
    }
  });

  test('the pause ends once, even when callers resume, enter, cancel or wait at the same time', async () => {
    const { here } = rig;
    const before = rig.starts().length;
    const { session_id, task_id } = await rig.run(limited(Date.now() + DAY));
    await rig.settled(session_id);
    const calls = [
      () => here().call('worker.resume', { session: session_id }),
      () => here().call('worker.attach', { session: session_id, pid: process.pid }),
      () => here().call('worker.leave', { session: session_id }),
      () => here().call('task.cancel', { id: task_id }),
      () => here().call('worker.kill', { session: session_id }),
    ];
    await Promise.allSettled(Array.from({ length: 20 }, (_, at) => calls[at % calls.length]?.()));
    await here().call('worker.leave', { session: session_id });
    await until(async () => (await rig.session(session_id)).state === 'ended');
    assert.equal((await rig.session(session_id)).failure?.code, 'cancelled');
    assert.ok(rig.starts().length - before <= 2);
    const ends = (await here().call('event.list', { limit: 500 })).filter(
      (event) => event.session_id === session_id && (event.kind === 'failed' || event.kind === 'sealed'),
    );
    assert.equal(ends.length, 1);
  });

  test('a paused branch cannot be promoted, and its worktree cannot be pruned', async () => {
    const { here } = rig;
    const { session_id, task_id } = await rig.run(limited(Date.now() + DAY));
    const { worktree } = await rig.settled(session_id);
    for (const name of ['worktree.promote', 'worktree.trial'] as const)
      await assert.rejects(here().call(name, { session: session_id }), { code: 'conflict' });
    await here().call('worktree.prune', {});
    assert.ok(existsSync(join(requireLocalPath(worktree), 'half.txt')));
    for (const [name, more] of [
      ['task.retry', {}],
      ['task.run', {}],
      ['task.assign', { agent: 'scripted' }],
    ] as const)
      await assert.rejects(here().call(name, { id: task_id, ...more }), { code: 'conflict' }, name);
    await here().call('task.cancel', { id: task_id });
    await until(async () => (await rig.session(session_id)).state === 'ended');
  });

  test('a limit is not a pause when the task has ended', async () => {
    const gate = `${rig.ws.repository.folder}/gate-${Date.now()}`;
    const { session_id, task_id } = await rig.run([`wait-for ${gate}`, ...limited(Date.now() + DAY)]);
    await until(async () => (await rig.session(session_id)).state === 'running');
    const worker = { seat: 'worker', sessionId: session_id } as const;
    await rig.here().call('task.done', { id: task_id, status: 'failed' }, worker);
    await assert.rejects(rig.here().call('task.retry', { id: task_id }), { code: 'conflict' });
    writeFileSync(gate, '');
    const ended = await rig.settled(session_id);
    assert.deepEqual([ended.state, ended.resume_at], ['ended', null]);
    const task = await rig.task(task_id);
    assert.deepEqual([task.status, task.session_id, task.resume_at], ['failed', session_id, null]);
    await rig.here().call('task.retry', { id: task_id, hold: true });
  });

  test('a limit is not a pause when its end is too far away', async () => {
    const { session_id } = await rig.run(limited(Date.now() + 30 * DAY));
    const ended = await rig.settled(session_id);
    assert.equal(ended.state, 'ended');
    assert.match(ended.failure?.code ?? '', /limit/);
  });

  test('the session has failed with rate_limited after five pauses without progress, over restarts too', async () => {
    const bin = join(rig.ws.repository.folder, 'bin', 'claude');
    const before = readFileSync(bin, 'utf8');
    const says = (more: object) => JSON.stringify({ type: 'result', session_id: 'c-2', ...more });
    const limited = says({
      is_error: true,
      api_error_status: 429,
      // Long enough to be visible, and shorter than the pauses that follow.
      result: 'Rate limited. Try again in 10 s.',
    });
    writeFileSync(bin, `#!/bin/sh\necho '${limited}'\n`);
    try {
      const { session_id } = await rig.run([]);
      const waits: number[] = [];
      for (let pauses = 1; pauses <= 5; pauses += 1) {
        await until(async () => (await rig.session(session_id)).runs === pauses);
        const { resume_at, state } = await rig.settled(session_id);
        assert.equal(state, 'queued', `pause ${pauses}`);
        waits.push(Date.parse(resume_at ?? '') - Date.now());
        if (pauses === 3) {
          await rig.down();
          await rig.up();
        }
        await rig.here().call('worker.resume', { session: session_id });
      }
      await until(async () => (await rig.session(session_id)).state === 'ended');
      const { failure, runs } = await rig.session(session_id);
      assert.deepEqual([failure?.code, runs], ['rate_limited', 6]);
      assert.match(failure?.text ?? '', /after 5 pauses without progress; last failure: .*Rate limited/);
      // Each waits about twice as long as the previous one.
      assert.deepEqual(
        waits.map((ms) => Math.round(ms / 30_000)),
        [0, 1, 2, 4, 8],
      );
    } finally {
      writeFileSync(bin, before, { mode: 0o755 });
    }
  });

  test('the session waits while a person is in it', async () => {
    const before = rig.starts().length;
    const { session_id } = await rig.run(limited(Date.now() + DAY));
    await rig.settled(session_id);
    const inside = await rig.here().call('worker.attach', { session: session_id, pid: process.pid });
    assert.ok(existsSync(join(inside.cwd, 'half.txt')));
    await assert.rejects(rig.here().call('worker.resume', { session: session_id }), { code: 'conflict' });
    await assert.rejects(rig.here().call('worker.attach', { session: session_id, pid: process.pid }), {
      code: 'conflict',
    });
    await rig.here().call('worker.leave', { session: session_id });
    await rig.here().call('worker.resume', { session: session_id });
    await until(async () => (await rig.session(session_id)).state === 'ended');
    assert.equal(rig.starts().length, before + 2);
  });
});

describe('a session that failed', () => {
  let rig: Rig;
  before(async () => {
    rig = await makeRig();
  });
  after(() => rig.close());

  test('a failed session resumes in a new session, in its worktree and conversation', async () => {
    const first = await rig.run([
      'edit half.txt half',
      claudeSays.init('c-4'),
      claudeSays.result({ is_error: true, subtype: 'error_max_turns', session_id: 'c-4' }),
    ]);
    const failed = await rig.settled(first.session_id);
    assert.equal(failed.failure?.code, 'turn_limit');
    const again = await rig.here().call('worker.resume', { session: first.session_id });
    assert.notEqual(again.session_id, first.session_id);
    const ended = await rig.settled(again.session_id);
    assert.deepEqual(
      [ended.failure, ended.continues, ended.branch, ended.worktree],
      [null, first.session_id, failed.branch, failed.worktree],
    );
    assert.equal(ended.commits, 2);
    assert.ok(rig.starts().at(-1)?.includes('--resume=c-4'));
    assert.equal((await rig.session(first.session_id)).worktree, null);
    assert.equal((await rig.task(first.task_id)).status, 'done');
    await assert.rejects(rig.here().call('worker.resume', { session: first.session_id }), {
      code: 'conflict',
    });
    await assert.rejects(rig.here().call('worker.resume', { session: again.session_id }), {
      code: 'conflict',
    });
  });

  test('a failed session that waits to resume cannot be entered by others: its worktree is reserved', async () => {
    const first = await rig.run(['fail 3']);
    await rig.settled(first.session_id);
    const { here, session } = rig;
    // The first call wins and the other is refused, in either order.
    const both = await Promise.allSettled([
      here().call('worker.resume', { session: first.session_id }),
      here().call('worker.attach', { session: first.session_id, pid: process.pid }),
    ]);
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    // Merging and removing are refused too; with a free slot the next run may already have started.
    await assert.rejects(here().call('worktree.promote', { session: first.session_id }));
    const next = (both[0] as PromiseFulfilledResult<{ session_id: string }>).value.session_id;
    await rig.settled(next);
    assert.equal((await session(next)).continues, first.session_id);
  });

  test('a failed session starts over, once, when its agent has lost the conversation', async () => {
    const before = rig.starts().length;
    const first = await rig.run(['edit half.txt half', claudeSays.init('lost'), 'fail 3']);
    await rig.settled(first.session_id);
    const { session_id } = await rig.here().call('worker.resume', { session: first.session_id });
    await until(async () => (await rig.session(session_id)).state === 'ended');
    const [, lost, anew, ...more] = rig.starts().slice(before);
    assert.ok(lost?.includes('--resume=lost'));
    assert.ok(!anew?.includes('--resume=lost'));
    assert.match(
      anew?.at(-1) ?? '',
      /^do it\n[\s\S]*no longer had the conversation[\s\S]*Its commits, newest first:/,
    );
    assert.deepEqual(more, []);
    assert.equal((await rig.session(session_id)).runs, 2);
  });

  test('a failed session gets a summary of its work when its agent never reported a conversation', async () => {
    const first = await rig.run(['edit half.txt half', 'fail 3']);
    await rig.settled(first.session_id);
    const again = await rig.here().call('worker.resume', { session: first.session_id });
    await rig.settled(again.session_id);
    const said = rig.starts().at(-1)?.at(-1) ?? '';
    assert.match(said, /^do it\n/);
    assert.match(
      said,
      /An earlier run of this task was interrupted\. The reason: claude exited with code 3\./,
    );
    assert.match(said, /Its commits, newest first:\n- [0-9a-f]{10} do it\n/);
  });
});
