import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ended, openHere, started } from '../../support/agents/strict.ts';
import { until } from '../../support/wait.ts';
import type { EngineHere } from '../../support/workspaces/engine.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';
import { takePart } from '../../support/workspaces/seats.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

describe('truthful answers of the board', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  let programs: string;
  before(async () => {
    programs = temporaryFolder('svc-programs-');
    const broken = join(programs, 'broken');
    writeFileSync(broken, '#!/bin/sh\n', { mode: 0o755 });
    ws = await makeWorkspace({
      commands: { gone: '/nowhere/at-all {{prompt}}', broken: `${broken} {{prompt}}` },
    });
    ({ here } = await openHere(ws));
  });
  after(async () => {
    await here?.end();
    await ws?.close();
    rmSync(programs, { recursive: true, force: true });
  });

  test('items of a ledger are numbered over checked ones too, and every answer names the item by its text', async () => {
    await takePart(ws, 'a', 'b');
    writeFileSync(join(ws.root, 'plan.md'), '- [x] agree\n- [ ] build\n- [x] ask\n- [ ] ship\n');
    const claim = (holder: string, item: number) =>
      here.call('task.claim', { holder, item, ledger: 'plan.md' });
    const release = (holder: string, item: number) =>
      here.call('task.release', { holder, item, ledger: 'plan.md' });
    const claimed = await here.call('task.claim', {
      holder: 'a',
      item: 2,
      ledger: 'plan.md',
    });
    assert.deepEqual([claimed.item, claimed.text], [2, 'build']);
    await assert.rejects(claim('b', 1), {
      code: 'conflict',
      message: /^item 1 of plan.md is already checked: "agree"/,
    });
    await assert.rejects(claim('b', 2), {
      code: 'item_held',
      message: /^item 2 of plan.md is held by a .*: "build"$/,
    });
    await assert.rejects(release('b', 2), {
      code: 'holder_mismatch',
      message: /^item 2 \("build"\) of plan.md/,
    });
    await assert.rejects(release('b', 4), { code: 'not_found', message: /^no one holds item 4 \("ship"\)/ });
    assert.equal((await release('a', 2)).text, 'build');
  });

  test('half a character is refused by its field wherever text comes in, and a whole one passes', async () => {
    const half = 'Deploy \ud83d please';
    const refused = (field: string) => ({
      code: 'fields_invalid',
      message: new RegExp(`^${field}: contains an unpaired surrogate`),
    });
    await assert.rejects(here.call('task.add', { body: half }), refused('body'));
    await assert.rejects(
      here.call('task.add', { title: 'x', acceptance_criteria: ['a', half] }),
      refused('acceptance_criteria\\.1'),
    );
    await assert.rejects(
      here.call('dispatch.worker', { agent: 'scripted', prompt: half }),
      refused('prompt'),
    );
    await assert.rejects(here.call('msg.send', { to_role: 'parent', body: half }), refused('body'));
    await assert.rejects(here.ask(half), /422.*unpaired surrogate|unpaired surrogate/s);
    let deep: unknown = half;
    for (let levels = 0; levels < 100_000; levels += 1) deep = [deep];
    await assert.rejects(here.call('task.add', { body: deep as never }), { code: 'fields_invalid' });
    const { decision_id } = await here.ask('Deploy \u{1f44d} please\n#agent: no-change');
    const { session } = await here.call('decision.approve', { id: decision_id });
    assert.equal((await ended(here, session?.session_id ?? '')).failure, null);
  });

  test('an approval for an agent that is not installed is refused, and its decision stays pending', async () => {
    const { decision_id } = await here.ask('do it', { agent: 'gone' });
    await assert.rejects(here.call('decision.approve', { id: decision_id }), {
      code: 'agent_not_found',
      message: /at-all/,
    });
    const { decision } = await here.call('decision.show', { id: decision_id });
    assert.equal(decision.state, 'pending');
  });

  test("a worker's actions are recorded as its own, and not as the person's", async () => {
    const commands = [
      'svc lock acquire a.txt --holder $SVC_SESSION',
      'svc verify report --passed true',
      'svc task done $SVC_TASK',
    ];
    const prompt = ['work', ...commands.map((each) => `#agent: run ${each}`), '#agent: no-change'].join('\n');
    const session = await started(here, prompt);
    assert.equal((await ended(here, session)).failure, null);
    const kinds = ['lock_acquired', 'verification_reported', 'task_done'];
    const events = here.engine.events.listEvents({ limit: 200 });
    for (const kind of kinds) assert.equal(events.find((each) => each.kind === kind)?.actor, session, kind);
    const [by] = events.filter(({ kind, sessionId }) => kind === 'dispatched' && sessionId === session);
    assert.notEqual(by?.actor, session);
  });

  test('the log of a run that never started is an error with the reason, and not empty', async () => {
    const { task_id } = await here.call('task.add', { body: 'x', agent: 'broken' });
    const { session } = await here.call('task.run', { id: task_id });
    // The program exists when the run is requested, and is removed before the worktree is created.
    rmSync(join(programs, 'broken'));
    await until(() => here.engine.sessionEnded(session.session_id));
    for (const words of [
      ['task', 'log', task_id],
      ['task', 'log', task_id, '-f'],
      ['worker', 'log', session.session_id],
    ]) {
      const { code, stdout, stderr } = await ws.svc(words);
      assert.deepEqual([code, stdout], [4, ''], words.join(' '));
      assert.match(stderr, new RegExp(`${session.session_id} never started, .*agent_not_found`));
    }
  });
});
