import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EngineHere, engineHere } from '../../support/engine.ts';
import { startHostileServer } from '../../support/hostile-server.ts';
import { until } from '../../support/wait.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const CANARY = 'kanarienvogel';

/** Runs a task to its end as a person at the machine has it run. */
async function runToEnd(here: EngineHere, body: string): Promise<void> {
  const { task_id: id } = await here.call('task.add', { body });
  await here.call('task.run', { id });
  await until(async () => (await here.call('task.show', { id })).task.status === 'failed');
}

test('no prompt, file, diff, path, branch, ask, reason or environment is in any byte that leaves', async (t) => {
  const server = await startHostileServer();
  t.after(() => server.close());
  const ws = await makeWorkspace({ env: { SVC_NOTIFY_URL: `http://127.0.0.1:9/${CANARY}`, OTHER: CANARY } });
  t.after(() => ws.close());
  ws.repository.git('checkout', '-q', '-b', `${CANARY}-branch`);
  const here = await engineHere(ws);
  t.after(() => here.end());
  await here.call('link.start', { server: server.url, token: 'svcm_machine' });
  await until(async () => (await here.call('link.status', {})).state === 'connected');

  const denied = await here.ask(`${CANARY} first line\nand ${CANARY} more`);
  await here.call('decision.deny', { id: denied.decision_id, reason: `no ${CANARY}` });
  const edited = await here.ask('harmless');
  await here.call('decision.edit', { id: edited.decision_id, prompt: `${CANARY} in its place` });
  const lines = [
    `${CANARY} at work`,
    `#agent: edit ${CANARY}.txt ${CANARY}`,
    `#agent: say ${CANARY}`,
    '#agent: echo-env',
    '#agent: fail 3',
  ];
  await runToEnd(here, lines.join('\n'));
  await here.join(CANARY);
  await here.call('ask.open', {
    to_session: CANARY,
    question: `is ${CANARY} right?`,
    options: [`${CANARY}`],
  });
  await here.call('msg.send', { to_session: CANARY, kind: 'alert', body: `${CANARY} is on fire` });

  const told = (kind: string): boolean => server.received.some(({ text }) => text.includes(`\\"${kind}\\"`));
  for (const kind of ['needs_approval', 'denied', 'dispatched', 'failed', 'ask_opened', 'alert'])
    await until(() => told(kind), kind);
  await until(async () => (await here.call('link.status', {})).waiting_events === 0);
  const bytes = server.received.map(({ text }) => text).join('\n');
  assert.doesNotMatch(bytes, new RegExp(CANARY, 'i'));
  for (const folder of [ws.root, ws.repository.folder, process.cwd()])
    assert.ok(!bytes.includes(folder), folder);
  assert.match(bytes, /exit_code: it exited with a code other than 0/);
});
