import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { until } from '../../../support/wait.ts';
import { type EngineHere, engineHere } from '../../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';
import type { Shown } from '../rig.ts';

describe('the Chair gets a handoff at the end of a session', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  before(async () => {
    ws = await makeWorkspace();
    here = await engineHere(ws);
  });
  after(async () => {
    await here?.close();
    await ws.close();
  });

  async function handoff(prompt: string): Promise<Shown> {
    const { task_id } = await here.call('task.add', { body: prompt, agent: 'scripted' });
    const { session } = await here.call('task.run', { id: task_id });
    return until(async () => {
      const { messages } = await here.call('msg.inbox');
      return messages.find(({ from_session: from }) => from === session.session_id);
    }, 'the handoff');
  }

  test('the handoff has the verdict, the changes and the next step', async () => {
    const message = await handoff('#agent: edit kept.txt kept');
    assert.deepEqual(
      [message.kind, message.to_session, message.from_agent],
      ['handoff', 'chair', 'scripted'],
    );
    assert.match(message.body, /^# s-\d+ finished: /);
    for (const line of [
      /^- task: t-\d+: /m,
      /^- verdict: ready$/m,
      /^- exit code: 0$/m,
      /^- duration: \d+ s$/m,
      /^- branch: svc\/s-\d+$/m,
      /^- commits: 1$/m,
      /^- files changed: 1 \(\+1 -0\)$/m,
      /^- verification: none$/m,
      /^- tokens: not reported by its agent$/m,
      /svc merge s-\d+/,
    ]) {
      assert.match(message.body, line);
    }
    const [row] = await here.call('msg.list', { ids: [message.id] });
    assert.match(row?.task_id ?? '', /^t-\d+$/);
  });

  test('the handoff explains a failure', async () => {
    const { body } = await handoff('#agent: fail 7');
    assert.match(body, /^- verdict: failed: .*code 7$/m);
    assert.match(body, /^- exit code: 7$/m);
    assert.match(body, /svc log s-\d+/);
    assert.doesNotMatch(body, /promote/);
  });

  test('the handoff reports unreadable facts and leftovers instead of hiding them', async () => {
    const lost = await handoff('#agent: run rm .git && git init --quiet && echo work > work.txt');
    assert.match(lost.body, /^- commits: could not be read$/m);
    assert.match(lost.body, /^- look at: .* is a separate repository now/m);
    assert.match(lost.body, /^Next: inspect \S+ by hand: svc could not read the remaining work/m);
    assert.doesNotMatch(lost.body, /changed no files|files changed: 0/);
    const beside = await handoff(
      '#agent: run git init --quiet inner && git checkout --quiet --orphan other && git commit --quiet -m beside',
    );
    assert.match(beside.body, /^- look at: commits made outside the branch are kept under refs\/svc\//m);
    assert.match(beside.body, /^- look at: inner is a separate repository/m);
  });
});
