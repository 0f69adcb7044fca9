import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { report } from '../support/processes/faults.ts';
import { until } from '../support/wait.ts';
import { awaitEvent } from '../support/workspaces/events.ts';
import {
  isRunning,
  makeWorkspace,
  type Posted,
  type TestWorkspace,
} from '../support/workspaces/workspace.ts';

/** Kills the daemon with SIGKILL at each step between POST and sealed ("Never lose work" and "One writer"). */
describe('kill -9 of the daemon loses nothing that was acknowledged and runs nothing twice', () => {
  let ws: TestWorkspace;
  let number = 0;
  before(async () => {
    ws = await makeWorkspace();
  });
  after(() => ws.close());

  async function post(prompt: string): Promise<Posted> {
    const { status, body } = await ws.post(prompt);
    assert.equal(status, 201);
    return body;
  }

  const counted = (file: string): number =>
    existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0;

  /** Checks everything that must hold at the end, whenever the daemon died. */
  async function expectSealedOnce(taskId: string, count: string, killed: string): Promise<void> {
    const client = await ws.connect();
    const end = await awaitEvent(
      client,
      (event) => event.task_id === taskId && ['sealed', 'failed'].includes(event.kind),
    );
    assert.equal(end.kind, 'sealed', JSON.stringify(end.data));
    assert.equal(counted(count), 1, 'the agent ran exactly once');
    for (const name of ['task_created', 'needs_approval', 'approved', 'dispatched', 'sealed']) {
      await until(() => ws.events.some((event) => event.event === name && event.task_id === taskId), name);
    }
    assert.ok(ws.events.every((event) => event.verified));
    const { task, sessions } = await client.call('task.show', { id: taskId });
    assert.equal(task.status, 'done');
    assert.equal(sessions.length, 1);
    assert.equal(ws.repository.git('show', `${sessions[0]?.branch}:kept.txt`), 'kept');
    // The engine's own git calls are not survivors: they end.
    await until(() => ws.survivors().length === 0, 'no process of it');
    report(
      `kill -9 of the daemon ${killed}`,
      'lost nothing; the agent ran once, all five events were delivered, no process is left',
    );
  }

  async function prepared(): Promise<{ prompt: string; count: string; go: string }> {
    number += 1;
    const count = join(ws.repository.folder, `count-${number}`);
    const go = join(ws.repository.folder, `go-${number}`);
    await (await ws.connect()).call('engine.status');
    return {
      count,
      go,
      prompt: `#agent: count ${count}\n#agent: wait-for ${go}\n#agent: edit kept.txt kept`,
    };
  }

  const release = (go: string): Promise<void> =>
    import('node:fs/promises').then((fs) => fs.writeFile(go, ''));

  test('the 201 of the request means: task and decision exist, and the event is sent', async () => {
    const { prompt, count, go } = await prepared();
    const { task_id, decision_id } = await post(prompt);
    await ws.killDaemon();
    await release(go);
    const shown = (await ws.svc(['decision', 'show', decision_id, '--json'])).json<{
      decision: { state: string };
    }>();
    assert.equal(shown.decision.state, 'pending');
    assert.equal((await ws.svc(['decision', 'approve', decision_id])).code, 0);
    await expectSealedOnce(task_id, count, 'after the 201');
  });

  test('right after the approval was acknowledged: the worker still runs, once', async () => {
    const { prompt, count, go } = await prepared();
    const { task_id, decision_id } = await post(prompt);
    const client = await ws.connect();
    await client.call('decision.approve', { id: decision_id });
    await ws.killDaemon();
    await release(go);
    await expectSealedOnce(task_id, count, 'right after the approval');
  });

  test('the agent has just started: it is adopted', async () => {
    const { prompt, count, go } = await prepared();
    const { task_id, decision_id } = await post(prompt);
    await ws.svc(['decision', 'approve', decision_id]);
    await until(() => counted(count) === 1, 'the agent to begin');
    await ws.killDaemon();
    assert.ok(isRunning(Number(readFileSync(count, 'utf8'))), 'the agent outlives the daemon');
    await ws.connect();
    await release(go);
    await expectSealedOnce(task_id, count, 'with the agent just begun');
  });

  test('while the agent ends: its result is recorded at the next start', async () => {
    const { prompt, count, go } = await prepared();
    const { task_id, decision_id } = await post(prompt);
    await ws.svc(['decision', 'approve', decision_id]);
    await until(() => counted(count) === 1, 'the agent to begin');
    await ws.killDaemon();
    await release(go);
    await until(() => ws.survivors().length === 0, 'the agent to end alone');
    await expectSealedOnce(task_id, count, 'while the agent ends');
  });

  test('the run is being sealed: the event is delivered after the next start at the latest', async () => {
    const { prompt, count, go } = await prepared();
    const { task_id, decision_id } = await post(prompt);
    const client = await ws.connect();
    await client.call('decision.approve', { id: decision_id });
    const sealed = awaitEvent(client, (event) => event.task_id === task_id && event.kind === 'sealed');
    await release(go);
    await sealed;
    await ws.killDaemon();
    await expectSealedOnce(task_id, count, 'at the hook event of sealing');
  });

  test('the daemon is killed at six moments after the approval', async () => {
    for (let round = 0; round < 6; round += 1) {
      const { prompt, count, go } = await prepared();
      await release(go);
      const { task_id, decision_id } = await post(prompt);
      const client = await ws.connect();
      await client.call('decision.approve', { id: decision_id });
      // A spread of moments, not a speed requirement.
      await delay(round * 25);
      await ws.killDaemon();
      await expectSealedOnce(task_id, count, `${round * 25} ms after the approval`);
    }
  });
});
