import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TELEMETRY_SCHEMA, type TelemetryDay } from '../../../engine/http/telemetry-day.ts';
import { DAY, noteCalls, settableClock } from '../../support/counted-workspace.ts';
import { type EngineHere, engineHere } from '../../support/engine.ts';
import { startHostileServer } from '../../support/hostile-server.ts';
import { until } from '../../support/wait.ts';
import { AGENT, makeWorkspace } from '../../support/workspace.ts';

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

/** Names that a person gives: events say them, what is counted by the day does not. */
const NAME = 'papagei';

test('no name of an agent, model, project, title or lock is in what is counted by the day, whatever leaves in events', async (t) => {
  const server = await startHostileServer();
  t.after(() => server.close());
  const command = `'${process.execPath}' '${AGENT}' -- {{prompt}}`;
  const ws = await makeWorkspace({
    commands: { [NAME]: command, constructor: command },
    yaml: `projects: [{ id: ${NAME}-project, path: . }]\nai: { providers: [{ name: ${NAME}, base_url: "http://127.0.0.1:9/v1", model: ${NAME}-model }] }\n`,
  });
  t.after(() => ws.close());
  const clock = settableClock(-2);
  const here = await engineHere(ws, { clock });
  t.after(() => here.end());
  await here.call('link.start', { server: server.url, token: 'svcm_machine' });
  await here.call('telemetry.agree', { schema: TELEMETRY_SCHEMA });
  for (const titles of ['none', 'given', 'all']) {
    await here.call('config.set', { key: 'server.titles', value: titles });
    for (const agent of [NAME, 'constructor']) {
      const { task_id: id } = await here.call('task.add', {
        title: `${NAME} ${titles}`,
        body: `say hello\n${CANARY}\n#agent: fail 3`,
        agent,
      });
      await here.call('task.run', { id });
      await until(async () => (await here.call('task.show', { id })).task.status === 'failed');
    }
  }
  await here.join(NAME);
  await here.callByName('lock.acquire', { holder: NAME, path: `src/${CANARY}.ts` });
  const waiting = await here.ask(`say hello\n${CANARY}`, { agent: NAME, now: clock.now() });
  await here.call('decision.deny', { id: waiting.decision_id, reason: `${CANARY} ${NAME}` });
  for (const provider of [NAME, `${NAME}-gone`])
    noteCalls(ws, [
      { at: clock.now(), provider, model: `${NAME}-model`, asked_model: CANARY, person: NAME, input: 40 },
    ]);
  const [shown] = (await here.call('telemetry.show', {})).next;

  clock.move(2 * DAY);
  const usage = await until(async () => {
    clock.move(0);
    await server.give({ verb: 'refresh' });
    return server.received.find(({ path }) => path.startsWith('/v1/usage/'));
  });
  const bytes = server.received.map(({ text }) => text).join('\n');
  assert.doesNotMatch(bytes, new RegExp(CANARY, 'i'));
  assert.match(bytes, new RegExp(NAME), 'events say who works');
  assert.doesNotMatch(usage.text, new RegExp(`${NAME}|constructor|test|scripted`, 'i'));
  const [, , body = ''] = JSON.parse(usage.text) as string[];
  assert.equal(body, shown?.body, 'what was shown is what went, byte for byte');
  const { runs, tokens } = JSON.parse(body) as TelemetryDay;
  assert.deepEqual(runs, { other: { exit_code: 6 } });
  assert.deepEqual(tokens, { paid: 45, other: 45 });
});
