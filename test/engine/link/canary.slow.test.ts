import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SvcError } from '../../../engine/core/base/errors.ts';
import { TELEMETRY_SCHEMA, type TelemetryDay } from '../../../engine/core/link-protocol/telemetry-day.ts';
import { startHostileServer } from '../../support/server/hostile-server.ts';
import { until } from '../../support/wait.ts';
import { CLAUDE, DAY, noteCalls, settableClock } from '../../support/workspaces/counted-workspace.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { AGENT, makeWorkspace } from '../../support/workspaces/workspace.ts';

const CANARY = 'kanarienvogel';

/** Runs a task until it ends, as a person at the machine does. */
async function runToEnd(here: EngineHere, body: string): Promise<void> {
  const { task_id: id } = await here.call('task.add', { body });
  await here.call('task.run', { id });
  await until(async () => (await here.call('task.show', { id })).task.status === 'failed');
}

test('no outgoing byte contains a prompt, file, diff, path, branch, ask, reason or environment', async (t) => {
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

test("no outgoing byte contains a conflicting file, code or text of an agent's own error, note or comment", async (t) => {
  const server = await startHostileServer();
  t.after(() => server.close());
  const ws = await makeWorkspace({ commands: { claude: CLAUDE } });
  t.after(() => ws.close());
  const here = await engineHere(ws);
  t.after(() => here.end());
  await here.call('link.start', { server: server.url, token: 'svcm_machine' });
  await until(async () => (await here.call('link.status', {})).state === 'connected');
  const run = async (body: string, agent: string): Promise<string> => {
    const { task_id: id } = await here.call('task.add', { body, agent });
    const { session_id } = await here.call('task.run', { id, wait: true });
    return session_id;
  };

  const file = `${CANARY}/${CANARY}.txt`;
  ws.repository.commit({ [file]: 'one\n' }, `${CANARY} begins`);
  const session = await run(`${CANARY}\n#agent: edit ${file} ${CANARY} of the worker`, 'scripted');
  ws.repository.commit({ [file]: `one\n${CANARY} of a person\n` }, `${CANARY} goes on`);
  await assert.rejects(here.call('worktree.promote', { session }), (error: SvcError) => {
    assert.deepEqual([error.code, error.data.paths], ['promote_conflict', [file]]);
    return true;
  });

  const ends = [
    { subtype: `error_${CANARY}`, is_error: true, result: `${CANARY} in the words of the agent` },
    { subtype: 'error_during_execution', is_error: true, api_error: CANARY, errors: [CANARY] },
    { subtype: 'error_max_turns', is_error: true, result: `${CANARY} turns` },
  ];
  for (const end of ends)
    await run(`#agent: say ${JSON.stringify({ type: 'result', session_id: CANARY, ...end })}`, 'claude');
  await run(`#agent: run exit 1 # ${CANARY}`, 'scripted');
  const { task_id: marked } = await here.call('task.add', { body: CANARY, agent: 'scripted' });
  await here.call('task.done', { id: marked, status: 'failed', summary: `${CANARY} is why` });

  await here.join(CANARY);
  await here.call('msg.send', { to_session: CANARY, kind: 'note', body: `${CANARY} is noted` });
  await here.call('memory.remember', { text: `${CANARY} is remembered`, title: CANARY, tags: CANARY });
  await here.call('comment.add', { session, path: file, line: 1, body: `${CANARY} on a line` });
  await here.call('verify.report', {
    session,
    summary: CANARY,
    tests: [{ command: `echo ${CANARY}`, result: 'passed', note: CANARY }],
    symbols: [{ path: file, symbol: CANARY }],
  });
  await here.call('verify.rerun', { session });
  await here.call('worktree.discard', { session });

  const told = (kind: string): number =>
    server.received.filter(({ text }) => text.includes(`\\"${kind}\\"`)).length;
  await until(() => told('promote_conflict') === 1 && told('failed') >= 4);
  await until(async () => (await here.call('link.status', {})).waiting_events === 0);
  const bytes = server.received.map(({ text }) => text).join('\n');
  assert.doesNotMatch(bytes, new RegExp(CANARY, 'i'));
  assert.match(bytes, /turn_limit: /);
});

/** Names chosen by a person: events contain them, daily counts do not. */
const NAME = 'papagei';

test('daily counts contain no name of an agent, model, project, title or lock', async (t) => {
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
  assert.match(bytes, new RegExp(NAME), 'events name the agent');
  assert.doesNotMatch(usage.text, new RegExp(`${NAME}|constructor|test|scripted`, 'i'));
  const [, , body = ''] = JSON.parse(usage.text) as string[];
  assert.equal(body, shown?.body, 'the shown text is sent unchanged, byte for byte');
  const { runs, tokens } = JSON.parse(body) as TelemetryDay;
  assert.deepEqual(runs, { other: { exit_code: 6 } });
  assert.deepEqual(tokens, { paid: 45, other: 45 });
});
