import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { configuration, type Schedule, type WireValue } from '../../../../engine/index.ts';
import { type FakeClock, fakeClock } from '../../../support/clock.ts';
import { until } from '../../../support/wait.ts';
import { makeRig, type Rig } from '../../dispatch/rig.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('schedules', () => {
  let rig: Rig;
  let clock: FakeClock;
  before(async () => {
    // 2026-01-05 is a Monday.
    clock = fakeClock(Date.parse('2026-01-05T05:30:00Z'));
    rig = await makeRig({
      clock,
      yaml: 'webhook:\n  templates:\n    nightly: { agent: claude, prompt: "check it\\n#agent: no-change" }\n',
    });
  });
  after(() => rig.close());

  const add = (every: string, more: object = {}) =>
    rig.here().call('schedule.add', { every, tz: 'UTC', template: 'nightly', ...more });
  const read = async (id: number): Promise<WireValue<Schedule>> =>
    (await rig.here().call('schedule.list', {})).find((each) => each.id === id) ??
    assert.fail(`there is no schedule ${id}`);
  const listTasks = async (id: number) =>
    (await rig.here().call('task.list', { limit: 1000 })).tasks.filter(
      ({ source_ref: ref }) => ref === `schedule ${id}`,
    );
  const count = async (id: number): Promise<number> => (await listTasks(id)).length;
  const restart = async (passMs: number): Promise<void> => {
    await rig.down();
    clock.advance(passMs);
    await rig.up();
  };
  /** Ends the task that waits. */
  const deny = async (id: number): Promise<void> => {
    const decision = (await listTasks(id))[0]?.decision_id ?? '';
    await rig.here().call('decision.deny', { id: decision, reason: 'not today' });
  };
  /** Resolves once the tasks that were due at the start of the engine are created: a write follows those before it. */
  const settle = () => rig.here().call('task.add', { title: 'another', agent: 'claude' });
  const remove = (id: number) => rig.here().call('schedule.remove', { id });

  test('a task comes at its time, waits for approval, and runs once it has it', async () => {
    const { id, next_at, title } = await add('0 6 * * 1');
    assert.deepEqual([next_at, title], ['2026-01-05T06:00:00.000Z', 'check it']);
    assert.equal(await count(id), 0);
    clock.advance(31 * 60_000);
    const [task] = await until(async () => {
      const found = await listTasks(id);
      return found.length === 0 ? null : found;
    });
    assert.ok(task !== undefined);
    assert.deepEqual(
      [task.status, task.waits, task.session_id, task.source],
      ['assigned', true, null, 'tui'],
    );
    const { decision } = await rig.here().call('decision.show', { id: task.decision_id ?? '' });
    assert.match(decision.why, new RegExp(`^schedule ${id} created it, and a person approves`));
    const { session } = await rig.here().call('decision.approve', { id: decision.decision_id });
    assert.equal((await rig.settled(session?.session_id ?? '')).failure, null);
    const { next_at: next, last_task_id, problem } = await read(id);
    assert.deepEqual([next, last_task_id, problem], ['2026-01-12T06:00:00.000Z', task.task_id, null]);
    await remove(id);
  });

  test('times that passed without an engine create one task, and a restart creates none', async () => {
    const { id } = await add('0 * * * *');
    await restart(10 * DAY);
    await until(async () => (await count(id)) === 1);
    await deny(id);
    await restart(0);
    await restart(60_000);
    await settle();
    assert.equal(await count(id), 1);
    await restart(HOUR);
    await until(async () => (await count(id)) === 2);
    await remove(id);
    await restart(2 * HOUR);
    await settle();
    assert.equal(await count(id), 2);
  });

  test('no task is created until the last one has ended, and the schedule and the task say so', async () => {
    const { id } = await add('0 * * * *');
    await restart(HOUR);
    const taskId = await until(async () => (await read(id)).last_task_id);
    await restart(3 * HOUR);
    const why = `skipped, since ${taskId} has not ended`;
    await until(async () => (await read(id)).problem === why);
    await restart(HOUR);
    await settle();
    assert.equal(await count(id), 1);
    const { timeline } = await rig.here().call('task.show', { id: taskId });
    assert.equal(timeline.filter(({ kind }) => kind === 'schedule_skipped').length, 1);
    await deny(id);
    await restart(HOUR);
    await until(async () => (await count(id)) === 2);
    assert.equal((await read(id)).problem, null);
    await remove(id);
  });

  test('a clock that is set back a little repeats no task', async () => {
    const { id } = await add('0 * * * *');
    await restart(HOUR);
    await until(async () => (await count(id)) === 1);
    await deny(id);
    const now = clock.now();
    await rig.down();
    clock.set(now - HOUR);
    await rig.up();
    await settle();
    assert.equal(await count(id), 1);
    clock.set(now);
    clock.advance(60_000);
    const { next_at } = await read(id);
    assert.ok(Date.parse(next_at ?? '') > clock.now(), next_at ?? '');
    await restart(0);
    await remove(id);
    assert.equal(await count(id), 1);
  });

  test('a clock that was years ahead silences no schedule', async () => {
    const now = clock.now();
    clock.set(now + 4000 * DAY);
    const { id } = await add('0 * * * *');
    clock.set(now);
    assert.ok(Date.parse((await read(id)).next_at ?? '') <= now + HOUR);
    // The running engine notices it.
    await until(() => {
      clock.advance(HOUR);
      return count(id);
    });
    await remove(id);
    assert.equal(await count(id), 1);
  });

  test('what cannot be created is refused, also as a schedule', async () => {
    const listed = (await rig.here().call('schedule.list', {})).length;
    await assert.rejects(add('0 6 * * 1', { template: 'none' }), { code: 'unknown_template' });
    await assert.rejects(add('0 6 * * 1', { project: 'none' }), { code: 'unknown_project' });
    await assert.rejects(add('0 6 * * 1', { agent: 'none' }), { code: 'unknown_agent' });
    await assert.rejects(rig.here().call('schedule.add', { every: '0 6 * * 1' }), { code: 'fields_invalid' });
    await assert.rejects(add('0 6 * *'), { code: 'usage' });
    await assert.rejects(add('0 6 * * 1', { tz: 'Mars/Base' }), { code: 'usage' });
    await assert.rejects(remove(9999), { code: 'not_found', message: 'no schedule 9999' });
    assert.equal((await rig.here().call('schedule.list', {})).length, listed);
  });

  test('a worker can neither create nor remove a schedule', async () => {
    const worker = { seat: 'worker', sessionId: 's-1' } as const;
    await assert.rejects(
      rig.here().call('schedule.add', { every: '0 6 * * 1', template: 'nightly' }, worker),
      { code: 'chair_only' },
    );
    await assert.rejects(rig.here().call('schedule.remove', { id: 1 }, worker), { code: 'chair_only' });
  });

  test('a time whose task cannot be created is reported once, and the next one is tried', async () => {
    const { id } = await add('0 * * * *');
    const file = join(rig.ws.root, 'svc.yaml');
    const text = readFileSync(file, 'utf8');
    const { agreeToFile } = await configuration();
    const change = async (next: string, passMs: number): Promise<void> => {
      await rig.down();
      writeFileSync(file, next);
      agreeToFile({ file, env: rig.ws.env });
      clock.advance(passMs);
      await rig.up();
    };
    await change(text.replace('nightly:', 'weekly:'), HOUR);
    const problem = await until(async () => (await read(id)).problem);
    assert.match(problem, /^no template "nightly"/);
    await restart(HOUR);
    await restart(HOUR);
    await settle();
    const alerts = (await rig.here().call('event.list', { limit: 500 })).filter(
      ({ kind, data }) => kind === 'alert' && String(data.reason).includes(`schedule ${id} (`),
    );
    assert.equal(alerts.length, 1);
    assert.equal(await count(id), 0);
    await change(text, HOUR);
    await until(async () => (await count(id)) === 1);
    assert.equal((await read(id)).problem, null);
    await remove(id);
  });
});
