import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../../engine/core/base/clock.ts';
import { nameSessionState, nameTaskState } from '../../../engine/index.ts';
import { until } from '../../support/wait.ts';
import { claudeSays, makeRig, type Rig } from './rig.ts';

const USUAL_MS = 600_000;

describe('a question that no one answers in its usual time', () => {
  let rig: Rig;
  let passed = 0;
  const make = (yaml = '') =>
    makeRig({
      yaml,
      clock: {
        now: () => systemClock.now() + passed,
        monotonic: () => systemClock.monotonic() + passed,
      },
    });
  before(async () => {
    rig = await make();
  });
  after(() => rig.close());

  /** Starts a worker that asks and waits. Returns its session, and the outcome of its question. */
  async function ask(more: object = {}, { operation = 'ask', on = rig } = {}) {
    const { session_id: id } = await on.run([claudeSays.init('c-5'), 'hang'], { timeout_sec: 7200 });
    await until(async () => (await on.session(id)).agent_session === 'c-5');
    const caller = { seat: 'worker', sessionId: id, via: 'tool' } as const;
    const outcome = on.here().callByName(operation, { question: 'Keep it?', ...more }, caller);
    outcome.catch(() => undefined);
    const [open] = await until(async () => {
      const { asks } = await on.here().call('ask.list', {});
      const own = asks.filter(({ from_session }) => from_session === id);
      return own.length > 0 ? own : null;
    });
    return { id, ask: open?.id ?? 0, outcome };
  }

  /** Lets the usual time pass. Another question makes the engine look at its clock. */
  async function pass(on = rig): Promise<void> {
    passed += USUAL_MS + 1000;
    const bob = { seat: 'plain', sessionId: 'bob', via: 'tool' } as const;
    await on.here().join('bob');
    await on.here().callByName('ask.open', { question: 'Which?', timeout_sec: 1 }, bob);
  }
  const findStatus = async (id: number, on = rig) =>
    (await on.here().call('ask.list', { status: 'all' })).asks.find((each) => each.id === id)?.status;

  test('its session pauses with the question, and the answer resumes the same conversation', async () => {
    const { id, ask: number } = await ask();
    await pass();
    const paused = await rig.settled(id);
    assert.deepEqual([paused.state, paused.pause?.code, paused.failure], ['queued', 'unanswered', null]);
    assert.match(paused.pause?.text ?? '', /waits for the answer to ask \d+: Keep it\?/);
    assert.equal(nameSessionState(paused), 'blocked');
    assert.equal(nameTaskState(await rig.task(paused.task_id)), 'blocked');
    assert.equal(await findStatus(number), 'open');
    await rig.here().call('ask.answer', { id: number, answer: 'yes, keep it' });
    await until(async () => (await rig.session(id)).state === 'ended');
    const ended = await rig.session(id);
    assert.deepEqual([ended.failure, ended.runs], [null, 2]);
    const resumed = rig.starts().at(-1) ?? [];
    assert.ok(resumed.includes('--resume=c-5'), JSON.stringify(resumed));
    assert.match(resumed.at(-1) ?? '', /your ask \d+ \(Keep it\?\) was answered by .*: yes, keep it/);
  });

  test('the pause holds over a restart of the engine, and a person may resume without an answer', async () => {
    const { id, ask: number } = await ask();
    await pass();
    await rig.settled(id);
    await rig.down();
    await rig.up();
    assert.equal(nameSessionState(await rig.session(id)), 'blocked');
    await rig.here().call('worker.resume', { session: id });
    await until(async () => (await rig.session(id)).state === 'ended');
    assert.equal((await rig.session(id)).runs, 2);
    assert.equal(await findStatus(number), 'timeout');
  });

  test('a question whose time passes without an engine pauses its session once its worker calls again', async () => {
    const { id, ask: number } = await ask();
    await rig.down();
    passed += USUAL_MS + 1000;
    await rig.up();
    assert.equal(await findStatus(number), 'open');
    const caller = { seat: 'worker', sessionId: id, via: 'tool' } as const;
    rig
      .here()
      .callByName('ask.wait', { id: number }, caller)
      .catch(() => undefined);
    const paused = await rig.settled(id);
    assert.equal(paused.pause?.code, 'unanswered');
    await rig.here().call('ask.answer', { id: number, answer: 'yes' });
    await until(async () => (await rig.session(id)).state === 'ended');
    assert.equal((await rig.session(id)).failure, null);
  });

  test('a question whose worker does not call again times out soon after the start', async () => {
    const { id, ask: number } = await ask();
    await rig.down();
    passed += USUAL_MS + 1000;
    await rig.up();
    passed += 30_000;
    await until(async () => (await findStatus(number)) === 'timeout');
    await rig.here().call('worker.kill', { session: id });
    await rig.settled(id);
  });

  test('a question with its own time limit, and one that is not waited for, time out', async () => {
    const own = await ask({ timeout_sec: 60 });
    const unwaited = await ask({}, { operation: 'ask.open' });
    await pass();
    assert.equal(((await own.outcome) as { status: string }).status, 'timeout');
    await until(async () => (await findStatus(unwaited.ask)) === 'timeout');
    for (const { id } of [own, unwaited]) {
      assert.equal((await rig.session(id)).state, 'running');
      await rig.here().call('worker.kill', { session: id });
      await rig.settled(id);
    }
  });

  test('asks.on_timeout: fail lets the question time out', async () => {
    const other = await make('asks: { on_timeout: fail }\n');
    try {
      const { id, outcome } = await ask({}, { on: other });
      await pass(other);
      assert.equal(((await outcome) as { status: string }).status, 'timeout');
      assert.equal((await other.session(id)).state, 'running');
      await other.here().call('worker.kill', { session: id });
      await other.settled(id);
    } finally {
      await other.close();
    }
  });
});
