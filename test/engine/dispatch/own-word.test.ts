import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { SvcError } from '../../../engine/core/base/errors.ts';
import type { Session, Task, WireValue } from '../../../engine/index.ts';
import { ended, openHere } from '../../support/agents/strict.ts';
import { until } from '../../support/wait.ts';
import type { EngineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

interface Run {
  task_id: string;
  session_id: string;
}

describe("a worker's mark of its task, and the end of its run", () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  before(async () => {
    ws = await makeWorkspace();
    ({ here } = await openHere(ws));
  });
  after(async () => {
    await here?.end();
    await ws?.close();
  });

  const task = async (id: string): Promise<WireValue<Task>> => (await here.call('task.show', { id })).task;
  const session = async (id: string): Promise<WireValue<Session>> =>
    (await here.call('session.list', { ids: [id] }))[0] ?? assert.fail(id);
  const asWorker = (id: string) => ({ seat: 'worker', sessionId: id }) as const;

  async function working(go: string): Promise<Run> {
    const { task_id } = await here.call('task.add', {
      body: `#agent: wait-for ${go}\n#agent: no-change`,
      agent: 'scripted',
    });
    const { session: queued } = await here.call('task.run', { id: task_id });
    await until(async () => (await session(queued.session_id)).state === 'running');
    return { task_id, session_id: queued.session_id };
  }

  const WORDS = {
    silent: [],
    done: ['svc task done $SVC_TASK'],
    failed: ['svc task done $SVC_TASK --failed'],
  };
  const ENDS = { well: [], 'exit 3': ['fail 3'], killed: ['run kill -9 $PPID'] };

  for (const [word, commands] of Object.entries(WORDS))
    for (const [end, directives] of Object.entries(ENDS))
      test(`${word}, then ${end}: the task, the events, the handoff, the answer and the retry agree`, async () => {
        const isWell = end === 'well' && word !== 'failed';
        const lines = [...commands.map((each) => `run ${each}`), 'no-change', ...directives];
        const prompt = ['do it', ...lines.map((each) => `#agent: ${each}`)].join('\n');
        const answer = await here.call('dispatch.worker', {
          agent: 'scripted',
          prompt,
          wait: true,
        });
        const { task_id, session_id, verdict } = answer;
        assert.equal(answer.status, isWell ? 'done' : 'failed');
        assert.deepEqual([verdict?.sealed, verdict?.next.includes('retry')], [isWell, !isWell]);
        assert.equal((verdict?.contradiction ?? null) !== null, end !== 'well' && word !== 'silent');
        assert.equal((await task(task_id)).status, answer.status);
        const { failure, own_word } = await session(session_id);
        assert.equal(own_word, word === 'silent' ? null : word);
        const code = { well: isWell ? undefined : 'reported', 'exit 3': 'exit_code', killed: 'killed' }[end];
        assert.deepEqual([failure?.code, (await task(task_id)).failure?.code], [code, code]);
        const told = here.engine.events
          .listEvents({ limit: 100 })
          .filter((each) => each.sessionId === session_id);
        assert.deepEqual(
          told.map(({ kind }) => kind).filter((kind) => kind === 'sealed' || kind === 'failed'),
          [isWell ? 'sealed' : 'failed'],
        );
        const { messages } = await here.call('msg.inbox');
        const body = messages.find(({ from_session: from }) => from === session_id)?.body ?? '';
        assert.match(body, isWell ? /^- verdict: done$/m : /^- verdict: failed: /m);
        assert.equal(/task_run/.test(body), !isWell);
        if (isWell) await assert.rejects(here.call('task.run', { id: task_id }), { code: 'conflict' });
        else await here.call('task.retry', { id: task_id, hold: true });
      });

  test('a Chair cannot mark a task that is running in any way, and learns what ends the run', async () => {
    const go = join(ws.root, 'go-chair');
    const { task_id, session_id } = await working(go);
    for (const [name, status] of [
      ['task.done', 'done'],
      ['task.done', 'failed'],
    ] as const)
      await assert.rejects(
        here.call(name, { id: task_id, status }),
        ({ code, hint }: SvcError) =>
          code === 'conflict' && String(hint).startsWith(`svc stop ${session_id} ends it`),
      );
    assert.deepEqual([(await task(task_id)).status, (await session(session_id)).own_word], ['running', null]);
    writeFileSync(go, '');
    assert.equal((await ended(here, session_id)).failure, null);
    assert.equal((await task(task_id)).status, 'done');
  });

  test('a task that its worker has marked is not retried while that runs, and can be cancelled', async () => {
    const { task_id, session_id } = await working(join(ws.root, 'never'));
    await here.call('task.done', { id: task_id, status: 'failed' }, asWorker(session_id));
    for (const name of ['task.retry', 'task.run'] as const)
      await assert.rejects(here.call(name, { id: task_id }), { code: 'conflict', message: /still works on/ });
    // The latest report applies.
    await here.call('task.done', { id: task_id }, asWorker(session_id));
    assert.deepEqual([(await task(task_id)).status, (await session(session_id)).own_word], ['done', 'done']);
    await here.call('task.cancel', { id: task_id });
    assert.equal((await ended(here, session_id)).failure?.code, 'cancelled');
    const { status, failure } = await task(task_id);
    assert.deepEqual([status, failure?.code], ['failed', 'cancelled']);
    await assert.rejects(here.call('task.done', { id: task_id }, asWorker(session_id)), { code: 'conflict' });
  });
});
