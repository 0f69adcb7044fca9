import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startUpstream, type Upstream } from '../../../fixtures/upstream/upstream.ts';
import { awaitQuietDay, until } from '../../support/wait.ts';
import { makeRig, type Rig } from './rig.ts';

const DAY = 86_400_000;

/** Calls the model until it is refused, at most three times, and ends as claude does. */
const PROGRAM = `
const say = (more) => console.log(JSON.stringify({ type: 'result', subtype: 'success', session_id: 'c-1', ...more }));
const { ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: key } = process.env;
console.log(JSON.stringify({ type: 'system', subtype: 'init', session_id: 'c-1', model: 'm', cwd: '/' }));
let refused = null;
for (let calls = 0; calls < 3 && refused === null; calls += 1) {
  const answer = await fetch(url + '/v1/messages', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const body = await answer.json();
  if (answer.status !== 200) refused = { status: answer.status, message: body.error.message };
}
if (refused === null) say({ is_error: false, result: 'done' });
else say({ is_error: true, api_error_status: refused.status, result: 'API Error: ' + refused.status + ' ' + refused.message });
process.exit(refused === null ? 0 : 1);
`;

describe('a worker whose budget is spent', () => {
  let rig: Rig;
  let upstream: Upstream;
  before(async () => {
    await awaitQuietDay();
    upstream = await startUpstream();
    rig = await makeRig({
      flags: { 'agents.auth': { claude: 'gateway' } },
      yaml: `gateway: { addr: "127.0.0.1:0" }
ai:
  mode: live
  budget_tokens_day: 20
  providers: [{ name: up, base_url: "${upstream.url}/v1" }]
`,
    });
    const program = join(rig.ws.repository.folder, 'ask.mjs');
    writeFileSync(program, PROGRAM);
    writeFileSync(
      join(rig.ws.repository.folder, 'bin', 'claude'),
      `#!/bin/sh\nexec '${process.execPath}' '${program}'\n`,
    );
  });
  after(async () => {
    await rig.here().call('gateway.stop');
    await rig.close();
    await upstream.close();
  });

  const setBudget = (value: string) => rig.here().call('config.set', { key: 'ai.budget_tokens_day', value });
  const calls = (): number => upstream.asked.filter(({ path }) => path.endsWith('/completions')).length;

  test('the worker is paused until the next day, which is reported once, and resumes when a person raises the budget', async () => {
    const { session_id, task_id } = await rig.run([]);
    const paused = await rig.settled(session_id);
    assert.deepEqual([paused.state, paused.pause?.code], ['queued', 'budget_exceeded'], rig.log(session_id));
    const resumeAt = Date.parse(paused.resume_at ?? '');
    // Sessions resume at midnight UTC, or a moment later.
    assert.ok(resumeAt % DAY < 5000 && resumeAt > Date.now(), paused.resume_at ?? '');
    assert.equal(calls(), 2, 'one call within the budget, one beyond it');
    const isTold = ({ event }: { event: string }): boolean => event === 'budget_exhausted';
    const [told] = await until(() => {
      const found = rig.ws.events.filter(isTold);
      return found.length > 0 && found;
    }, 'the event');
    assert.match(JSON.stringify(told), new RegExp(`"${session_id}"`));
    assert.match(JSON.stringify(told), /20 tokens of ai.budget_tokens_day are spent/);

    // A budget of exactly the spent amount is not enough; the number of runs below shows that it resumed once.
    await setBudget('21');
    await setBudget('0');
    await until(async () => (await rig.session(session_id)).state === 'ended');
    const ended = await rig.session(session_id);
    assert.deepEqual([ended.failure, ended.runs], [null, 2], rig.log(session_id));
    assert.equal(calls(), 5);
    assert.equal((await rig.task(task_id)).status, 'done');
    assert.equal(rig.ws.events.filter(isTold).length, 1);
  });

  test('the worker resumes at the start of an engine when the budget was raised while none ran', async () => {
    await setBudget('1');
    const { session_id } = await rig.run([]);
    assert.equal((await rig.settled(session_id)).pause?.code, 'budget_exceeded');
    await rig.down();
    await rig.ws.svc(['config', 'set', 'ai.budget_tokens_day', '0']);
    await rig.up();
    await until(async () => (await rig.session(session_id)).state === 'ended');
    assert.equal((await rig.session(session_id)).failure, null);
  });

  test("the worker fails when the spent budget is the task's own, since waiting does not help", async () => {
    const { session_id } = await rig.run([], { env: { SVC_TASK_TOKEN_BUDGET: '20' } });
    const ended = await rig.settled(session_id);
    assert.deepEqual([ended.state, ended.failure?.code], ['ended', 'budget_exceeded'], rig.log(session_id));
    assert.match(ended.failure?.text ?? '', /larger SVC_TASK_TOKEN_BUDGET/);
  });
});
