import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { report } from '../support/processes/faults.ts';
import { type Racers, startRacers } from '../support/processes/racers.ts';
import { awaitEvent } from '../support/workspaces/events.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

const RACERS = 20;

describe('twenty processes at once', () => {
  let ws: TestWorkspace;
  let racers: Racers;
  before(async () => {
    ws = await makeWorkspace();
    await ws.svc(['up']);
    racers = await startRacers(ws, RACERS);
  });
  after(async () => {
    await racers?.close();
    await ws.close();
  });

  const sessionsOf = async (id: string) =>
    (await ws.svc(['task', 'show', id, '--json'])).json<{
      sessions: unknown[];
      task: { status: string };
    }>();

  test('twenty callers run the same task: one worker starts, and the others learn who runs it', async () => {
    const { task_id } = (await ws.svc(['task', 'add', 'once', '-a', 'scripted', '-p', 'go', '--json'])).json<{
      task_id: string;
    }>();
    const ran = await racers.race(() => ['task', 'run', task_id, '--json']);
    const codes = ran.map((each) => each.code).sort();
    assert.deepEqual(codes, [0, ...Array.from({ length: RACERS - 1 }, () => 5)]);
    await awaitEvent(await ws.connect(), (event) => event.kind === 'sealed' && event.task_id === task_id);
    assert.equal((await sessionsOf(task_id)).sessions.length, 1);
    report('20 processes run one task', '1 worker; 19 were told that it was dispatched');
  });

  test('twenty callers approve the same decision: one worker starts, and everyone gets the same answer', async () => {
    const { body } = await ws.post('go');
    const ran = await racers.race(() => ['decision', 'approve', body.decision_id, '--json']);
    assert.deepEqual([...new Set(ran.map((each) => each.code))], [0]);
    await awaitEvent(
      await ws.connect(),
      (event) => event.kind === 'sealed' && event.task_id === body.task_id,
    );
    assert.equal((await sessionsOf(body.task_id)).sessions.length, 1);
    report('20 processes approve one decision', '1 worker; 20 equal answers');
  });

  test('twenty callers approve and run the same task: one worker starts', async () => {
    const { body } = await ws.post('go');
    const ran = await racers.race((index) =>
      index % 2 === 0 ? ['decision', 'approve', body.decision_id] : ['task', 'run', body.task_id],
    );
    assert.ok(ran.some(({ code }) => code === 0));
    await awaitEvent(
      await ws.connect(),
      (event) => event.kind === 'sealed' && event.task_id === body.task_id,
    );
    assert.equal((await sessionsOf(body.task_id)).sessions.length, 1);
    report('10 processes approve and 10 run one task', '1 worker');
  });

  test('twenty callers edit and approve the same decision: the approved prompt runs, or one new prompt waits', async () => {
    const { body } = await ws.post('go');
    const ran = await racers.race((index) =>
      index % 2 === 0
        ? ['decision', 'edit', body.decision_id, '--prompt', `go ${index}`, '--json']
        : ['decision', 'approve', body.decision_id, '--json'],
    );
    const winners = (parity: number) =>
      ran.filter((each, index) => index % 2 === parity && each.code === 0).length;
    const [edits, approvals] = [winners(0), winners(1)];
    assert.deepEqual([...new Set(ran.map((each) => each.code))].sort(), [0, 5]);
    const { sessions, task, decision } = (await ws.svc(['task', 'show', body.task_id, '--json'])).json<{
      sessions: unknown[];
      task: { prompt: string };
      decision: { decision_id: string; state: string };
    }>();
    if (approvals > 0) {
      assert.deepEqual([edits, approvals, sessions.length, task.prompt], [0, RACERS / 2, 1, 'go']);
      await awaitEvent(
        await ws.connect(),
        (event) => event.kind === 'sealed' && event.task_id === body.task_id,
      );
    } else {
      assert.deepEqual([edits, sessions.length, decision.state], [1, 0, 'pending']);
      assert.match(task.prompt, /^go \d+$/);
      await ws.svc(['decision', 'deny', decision.decision_id, 'seen']);
    }
    report('10 processes edit and 10 approve one decision', '1 winner; the others were told');
  });

  test('twenty callers assign the same task: the last one to commit has it, and every change is in the log', async () => {
    const { task_id } = (await ws.svc(['task', 'add', 'who', '--json'])).json<{ task_id: string }>();
    const ran = await racers.race((index) => [
      'task',
      'assign',
      task_id,
      index % 2 === 0 ? 'claude' : 'codex',
      '--json',
    ]);
    assert.deepEqual([...new Set(ran.map((each) => each.code))], [0]);
    const shown = (await ws.svc(['task', 'show', task_id, '--json'])).json<{
      task: { agent: string };
      timeline: { kind: string; data: { agent: string } }[];
    }>();
    const assigned = shown.timeline.filter((event) => event.kind === 'task_assigned');
    assert.equal(assigned.length, RACERS);
    assert.equal(assigned.at(-1)?.data.agent, shown.task.agent);
    report('20 processes assign one task', '20 changes in the log, the last one counts');
  });

  test('twenty callers create tasks: every acknowledged one exists, no id twice', async () => {
    const ran = await racers.race((index) => ['task', 'add', `made ${index}`, '--json']);
    const ids = ran.map((each) => each.json<{ task_id: string }>().task_id);
    assert.equal(new Set(ids).size, RACERS);
    const listed = (await ws.svc(['task', 'list', '-n', '1000', '--json']))
      .json<{ task_id: string }[]>()
      .map((task) => task.task_id);
    assert.deepEqual(
      ids.filter((id) => !listed.includes(id)),
      [],
    );
    report('20 processes create a task each', '20 tasks, no id twice');
  });

  test('twenty callers start the engine: one of them hosts it, all of them reach it', async () => {
    await ws.svc(['down']);
    const ran = await racers.race(() => ['up', '--json']);
    assert.deepEqual(
      [...new Set(ran.map((each) => each.code))],
      [0],
      ran.find((each) => each.code !== 0)?.stderr,
    );
    assert.equal(new Set(ran.map((each) => each.json<{ pid: number }>().pid)).size, 1);
    report('20 processes start the engine', '1 host, reached by all');
  });
});
