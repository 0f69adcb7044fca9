import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { SvcError } from '../../../engine/core/base/errors.ts';
import type { Session, Task, TaskPlan, WireValue } from '../../../engine/index.ts';
import { until } from '../../support/wait.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

type Plan = WireValue<TaskPlan>;

/** Prints which configuration chose it. */
const printing = (word: string): string => `/bin/sh -c 'echo chosen by ${word}' -- {{prompt}}`;

describe("agent settings in the environment of a Chair's client", () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  before(async () => {
    ws = await makeWorkspace({ commands: { other: printing('a preset') } });
    here = await engineHere(ws, { workerCap: 0 });
  });
  after(async () => {
    await here?.close();
    await ws.close();
  });

  const add = async (fields: object = {}): Promise<string> =>
    (await here.call('task.add', { title: 'a task', ...fields })).task_id;
  const plan = (id: string, env: Record<string, string> = {}, caller: object = {}): Promise<Plan> =>
    here.call('task.plan', { id }, { env, ...caller });
  const run = async (
    id: string,
    env: Record<string, string>,
    input: object = {},
  ): Promise<WireValue<Session>> => (await here.call('task.run', { id, ...input }, { env })).session;

  test('the settings apply to the plan and its hash, and to no other client', async () => {
    const id = await add();
    const command = printing('a client');
    const own = await plan(id, { SVC_AGENT_CMD: command });
    assert.deepEqual([own.agent, own.command], ['default', command]);
    const named = await plan(id, { SVC_AGENT_PRESET: 'other', SVC_AGENT_TIMEOUT_SEC: '77' });
    assert.deepEqual([named.agent, named.command, named.timeout_sec], ['other', printing('a preset'), 77]);
    const plain = await plan(id);
    assert.deepEqual([plain.agent, plain.timeout_sec], ['scripted', 600]);
    assert.equal(new Set([own.hash, named.hash, plain.hash]).size, 3);
    assert.deepEqual(await plan(id, { SVC_AGENT_CMD: '', SVC_AGENT_TIMEOUT_SEC: '0' }), plain);
  });

  test('the settings of a worker and of a plain session are ignored', async () => {
    const id = await add();
    const env = {
      SVC_AGENT_CMD: printing('a stranger'),
      SVC_AGENT_TRANSPORT: 'acp',
      SVC_AGENT_TIMEOUT_SEC: '1',
    };
    const without = await plan(id);
    for (const seat of ['worker', 'plain'] as const)
      assert.deepEqual(await plan(id, env, { seat, sessionId: 's-1' }), without, seat);
  });

  test('the settings leave the agent of a task that names one, but change its transport and time limit', async () => {
    const id = await add({ agent: 'claude' });
    const before = await plan(id);
    const env = { SVC_AGENT_CMD: printing('a client'), SVC_AGENT_PRESET: 'other' };
    assert.equal((await plan(id, env)).hash, before.hash);
    const acp = await plan(id, { ...env, SVC_AGENT_TRANSPORT: 'acp' });
    assert.deepEqual([before.transport, acp.transport, acp.agent], ['subprocess', 'acp', 'claude']);
    assert.notEqual(acp.hash, before.hash);
    const without = await plan(await add({ agent: 'scripted' }), { SVC_AGENT_TRANSPORT: 'acp' });
    assert.equal(without.transport, 'subprocess', 'its program does not support the protocol');
  });

  test("the settings are weaker than a requested time limit, or the task's own", async () => {
    const env = { SVC_AGENT_TIMEOUT_SEC: '77' };
    const times = [
      await run(await add(), env),
      await run(await add({ timeout_sec: 88 }), env),
      await run(await add(), env, { timeout_sec: 99 }),
    ].map((session) => session.timeout_sec);
    assert.deepEqual(times, [77, 88, 99]);
  });

  test('a nonsensical setting is refused by the name of its variable, and nothing is left behind', async () => {
    const id = await add();
    const refused = async (env: Record<string, string>, told: RegExp): Promise<void> => {
      await assert.rejects(run(id, env), (error: SvcError) => told.test(`${error.code}: ${error.message}`));
      const { task } = await here.call('task.show', { id });
      assert.deepEqual([task.agent, task.status, task.decision_id], [null, 'open', null]);
    };
    await refused({ SVC_AGENT_TIMEOUT_SEC: '1e3' }, /config_invalid: SVC_AGENT_TIMEOUT_SEC/);
    await refused({ SVC_AGENT_TRANSPORT: 'telnet' }, /config_invalid: SVC_AGENT_TRANSPORT/);
    await refused({ SVC_AGENT_CMD: 'agent' }, /config_invalid: SVC_AGENT_CMD: .*prompt/);
    await refused({ SVC_AGENT_PRESET: 'cluade' }, /unknown_agent: .*cluade/);
  });
});

test('a run uses the command that was bound at its dispatch, also under a later engine, and so does a run that continues it', async (t) => {
  const ws = await makeWorkspace();
  let here = await engineHere(ws, { workerCap: 0 });
  t.after(async () => {
    await here.close();
    await ws.close();
  });
  const show = (id: string) => here.call('task.show', { id });
  const { task_id: id } = await here.call('task.add', { title: 'a task' });
  const command = `/bin/sh -c 'echo chosen by a client; exit 3' -- {{prompt}}`;
  await here.call('task.run', { id }, { env: { SVC_AGENT_CMD: command } });
  const asked = await here.ask('from outside');
  await here.call('decision.approve', { id: asked.decision_id }, { env: { SVC_AGENT_TIMEOUT_SEC: '5' } });
  await here.close();
  here = await engineHere(ws, { workerCap: 1 });
  const ended = async (count: number): Promise<string> => {
    const isEnded = async () =>
      (await show(id)).sessions.filter(({ state }) => state === 'ended').length === count;
    await until(isEnded);
    const { agent, exit_code: code, session_id: session } = (await show(id)).sessions.at(-1)!;
    const { text } = await here.call('session.log', { session });
    return `${agent} ${code} ${/chosen by a client/.exec(text)?.[0]}`;
  };
  assert.equal(await ended(1), 'default 3 chosen by a client');
  await here.call('worker.resume', { session: (await show(id)).sessions[0]!.session_id });
  assert.equal(await ended(2), 'default 3 chosen by a client');
  assert.equal((await show(asked.task_id)).sessions[0]?.timeout_sec, 5);
});

test('a retry by a client without these settings is refused with both names, and works as its hint says', async (t) => {
  const ws = await makeWorkspace();
  const here = await engineHere(ws);
  t.after(async () => {
    await here.end();
    await ws.close();
  });
  const { task_id: id } = await here.call('task.add', { title: 'a task' });
  const hasFailed = () => until(async () => (await here.call('task.show', { id })).task.status === 'failed');
  const env = { SVC_AGENT_CMD: `/bin/sh -c 'exit 3' -- {{prompt}}` };
  await here.call('task.run', { id }, { env });
  await hasFailed();
  const isRefused = (error: SvcError): boolean =>
    error.code === 'unknown_agent' &&
    /neither SVC_AGENT_CMD nor agents\.default_cmd/.test(error.message) &&
    /svc task retry --hold, then svc task assign/.test(String(error.hint));
  for (const operation of ['task.retry', 'task.run'] as const)
    await assert.rejects(here.call(operation, { id }), isRefused);
  assert.match((await here.call('task.plan', { id })).problem?.message ?? '', /neither SVC_AGENT_CMD/);
  assert.equal((await here.call('task.show', { id })).task.attempt, 1, 'nothing has changed');
  await here.call('task.retry', { id }, { env });
  await hasFailed();
  await here.call('task.retry', { id, hold: true });
  await here.call('task.assign', { id, agent: 'scripted' });
  await here.call('task.run', { id });
  await until(async () => (await here.call('task.show', { id })).task.status === 'done');
});

test('a command line sends its own environment, and the engine keeps none of it', async (t) => {
  const ws = await makeWorkspace({ hosted: true });
  t.after(ws.close);
  await ws.svc(['up']);
  const run = async (env: Record<string, string>): Promise<string> => {
    const { task_id: id } = (await ws.svc(['task', 'add', 'a task', '--json'])).json<WireValue<Task>>();
    const ran = await ws.svc(['task', 'run', id, '--json'], { env });
    assert.equal(ran.code, 0, ran.stderr);
    return ran.json<{ session: WireValue<Session> }>().session.agent;
  };
  assert.equal(await run({ SVC_AGENT_CMD: printing('a client') }), 'default');
  assert.equal(await run({}), 'scripted');
});
