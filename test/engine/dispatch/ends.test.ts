import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isRunning } from '../../support/processes/processes.ts';
import { until } from '../../support/wait.ts';
import { claimed, claudeSays, makeRig, type Rig } from './rig.ts';

describe('the end of a run', () => {
  let rig: Rig;
  before(async () => {
    rig = await makeRig();
  });
  after(() => rig.close());

  const error = (more: object) => claudeSays.result({ is_error: true, ...more });

  test("the end is the agent's own report, with its usage and its own session", async () => {
    const { session_id } = await rig.run([claudeSays.init('c-7'), claudeSays.result({ session_id: 'c-7' })]);
    const ended = await rig.settled(session_id);
    assert.equal(ended.failure, null);
    assert.equal(ended.agent_session, 'c-7');
    assert.equal(ended.model, 'a-model');
    assert.deepEqual(ended.usage, claimed({ input: 140, cached: 40, output: 7, cost_usd: 0.25 }));
    assert.deepEqual(
      [ended.transport, ended.auth, ended.profile, ended.runs],
      ['subprocess', 'account', 'lite', 1],
    );
    assert.equal(ended.commits, 1);
  });

  const failures = [
    { code: 'auth_failed', says: [error({ api_error_status: 401, result: 'invalid x-api-key' })] },
    { code: 'model_error', says: [error({ api_error_status: 400, result: 'bad request' })] },
    { code: 'rate_limited', says: [error({ api_error_status: 429, result: 'slow down' })] },
    { code: 'turn_limit', says: [error({ subtype: 'error_max_turns' })] },
    { code: 'refused', says: [error({ stop_reason: 'refusal', result: 'no' })] },
    {
      code: 'permission_denied',
      says: [claudeSays.result({ permission_denials: [{ tool_name: 'Write', tool_use_id: 'x' }] })],
    },
    { code: 'agent_error', says: [claudeSays.init('c-1')] },
  ];
  test('an exit code of 0 is a failure when the agent says so, each with its own code', async () => {
    const sessions = await Promise.all(failures.map(({ says }) => rig.run(['no-change', ...says])));
    for (const [at, { code }] of failures.entries()) {
      const ended = await rig.settled(sessions[at]!.session_id);
      assert.equal(ended.failure?.code, code, JSON.stringify(ended.failure));
      assert.equal(ended.exit_code, 0);
      assert.equal((await rig.task(ended.task_id)).failure?.code, code);
    }
    await rig
      .here()
      .call('agent.reset', { agent: 'claude' })
      .catch(() => undefined);
  });

  test('a reported end applies although the program never exits, and nothing of it is left', async () => {
    const { session_id } = await rig.run([claudeSays.result(), 'no-change', 'ignore-term', 'hang']);
    await until(async () => (await rig.session(session_id)).pid !== null);
    const { pid } = await rig.session(session_id);
    const ended = await rig.settled(session_id);
    assert.equal(ended.failure, null);
    assert.equal(isRunning(pid ?? 0), false);
  });

  test('an end by exit code applies to a program that prints no report', async () => {
    const [sealed, failed] = await Promise.all([rig.run(['no-change']), rig.run(['no-change', 'fail 3'])]);
    assert.equal((await rig.settled(sealed.session_id)).failure, null);
    assert.equal((await rig.settled(failed.session_id)).failure?.code, 'exit_code');
  });

  test('a program that is read and prints no report did not succeed, nor one that was killed after its report', async () => {
    const bin = join(rig.ws.repository.folder, 'bin', 'claude');
    const before = readFileSync(bin, 'utf8');
    const plays = async (script: string): Promise<string | undefined> => {
      writeFileSync(bin, `#!/bin/sh\n${script}\n`);
      const { session_id } = await rig.run([]);
      const { failure } = await rig.settled(session_id);
      await rig
        .here()
        .call('agent.reset', { agent: 'claude' })
        .catch(() => undefined);
      return failure?.code;
    };
    const done = `echo '${JSON.stringify({ type: 'result', subtype: 'success', is_error: false })}'`;
    try {
      assert.equal(await plays('exit 0'), 'no_result');
      assert.equal(await plays('echo; echo'), 'no_result');
      assert.equal(await plays(`${done}; exit 143`), 'killed');
      assert.equal(await plays(`${done}; kill -KILL $$`), 'killed');
      assert.equal(await plays(done), undefined);
    } finally {
      writeFileSync(bin, before, { mode: 0o755 });
    }
  });

  test('the commits of a run carry the identity of the person, which its shells receive', async () => {
    const { git } = rig.ws.repository;
    git('config', 'user.name', 'Ada of the file');
    const { session_id } = await rig.run(['no-change', 'echo-env', claudeSays.result()]);
    await rig.settled(session_id);
    const line = rig
      .log(session_id)
      .split('\n')
      .find((each) => each.startsWith('{"') && each.includes('"PATH"'));
    const { GIT_AUTHOR_NAME, GIT_COMMITTER_NAME } = JSON.parse(line ?? '{}');
    const own = rig.ws.env.GIT_AUTHOR_NAME;
    assert.deepEqual(
      [GIT_AUTHOR_NAME, GIT_COMMITTER_NAME],
      own ? [own, own] : ['Ada of the file', 'Ada of the file'],
    );
  });

  /** Has a run print this and exit while no engine is running; returns the failure that the next engine finds. */
  async function findFailureOfAway(...directives: string[]): Promise<string | undefined> {
    const gate = `${rig.ws.repository.folder}/gate-${directives.length}`;
    const { session_id } = await rig.run([`wait-for ${gate}`, ...directives]);
    await until(async () => (await rig.session(session_id)).state === 'running');
    const { pid } = await rig.session(session_id);
    await rig.down();
    writeFileSync(gate, '');
    await until(() => !isRunning(pid ?? 0));
    await rig.up();
    return (await rig.settled(session_id)).failure?.code;
  }

  test('the end is found in the log when the run ended without an engine', async () => {
    assert.equal(await findFailureOfAway(error({ api_error_status: 400 }), 'no-change'), 'model_error');
  });

  test('a run that was killed after its report without an engine did not succeed', async () => {
    assert.equal(await findFailureOfAway(claudeSays.result(), 'no-change', 'fail 143'), 'killed');
  });

  test('the end is written to the log as a person reads it', async () => {
    const { session_id } = await rig.run([
      'no-change',
      error({ api_error_status: 400, result: 'bad request' }),
    ]);
    await rig.settled(session_id);
    const { text } = await rig.here().call('session.log', { session: session_id });
    assert.match(text, /bad request/);
    assert.doesNotMatch(text, /"type":"result"/);
    const raw = await rig.here().call('session.log', { session: session_id, form: 'raw' });
    assert.match(raw.text, /"type":"result"/);
  });
});
