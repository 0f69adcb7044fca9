import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { takeOwnUsage } from '../../../engine/dispatch/own-usage.ts';
import type { Session, WireValue } from '../../../engine/index.ts';
import { NO_FACTS, type StreamFacts } from '../../../engine/workers/agents/streams/stream.ts';
import { until } from '../../support/wait.ts';
import { claimed, claudeSays, makeRig, type Rig } from './rig.ts';

const usage = (input: number, output: number, cached = 0) => ({ input, cached, output, costUsd: null });

/** Returns the tokens of a run in a conversation that has used `before` so far. */
function counted(told: Partial<StreamFacts>, before: StreamFacts['usage'] = null) {
  const sessions = {
    conversationUsage: (_: string, id: string) => (id === 'c-1' ? before : null),
    get: () => assert.fail('it continues no session'),
  };
  const session = { taskId: 't-1', continues: null };
  return takeOwnUsage({ sessions }, session, { ...NO_FACTS, agentSession: 'c-1', ...told }).usage;
}

test('only new tokens count of an agent that reports its whole conversation', () => {
  const conversation = usage(250, 40, 100);
  assert.deepEqual(counted({ conversation }), conversation);
  assert.deepEqual(counted({ conversation }, usage(100, 10, 40)), usage(150, 30, 60));
  // The agent started a new conversation after all.
  assert.deepEqual(counted({ conversation, agentSession: 'c-2' }, usage(100, 10)), conversation);
  // The agent's counter restarted.
  assert.deepEqual(counted({ conversation }, usage(300, 50)), conversation);
});

test('an unknown count is null and never 0', () => {
  assert.equal(counted({}), null);
  assert.equal(counted({ usage: usage(0, 0) }), null);
  assert.equal(counted({ conversation: usage(0, 0) }, usage(100, 10)), null);
  assert.equal(counted({ conversation: usage(100, 10) }, usage(100, 10)), null);
});

describe('the tokens of a session', () => {
  let rig: Rig;
  before(async () => {
    rig = await makeRig();
  });
  after(() => rig.close());

  test('the tokens of a session that was cancelled before any report are unknown, and not 0', async () => {
    const { session_id } = await rig.run([claudeSays.init('c-6'), 'hang']);
    await until(async () => (await rig.session(session_id)).agent_session === 'c-6');
    await rig.here().call('worker.kill', { session: session_id });
    const ended = await rig.settled(session_id);
    assert.deepEqual([ended.failure?.code, ended.usage], ['cancelled', null]);
  });

  const model = (input: number, output: number) => ({
    'a-model': { inputTokens: input, outputTokens: output, cacheReadInputTokens: 40, costUSD: 0.25 },
  });
  /** Makes claude end its first runs at a limit and the resumed ones successfully, and report these tokens. */
  function tells(first: object, later: object): void {
    const result = (more: object) => JSON.stringify({ type: 'result', session_id: 'c-5', ...more });
    const limited = {
      is_error: true,
      subtype: 'success',
      api_error_status: 429,
      result: 'Try again in 5 hours.',
    };
    const bin = join(rig.ws.repository.folder, 'bin');
    writeFileSync(join(bin, 'first'), `${result({ ...limited, ...first })}\n`);
    writeFileSync(join(bin, 'later'), `${result({ subtype: 'success', is_error: false, ...later })}\n`);
    writeFileSync(
      join(bin, 'claude'),
      `#!/bin/sh\ncase "$*" in *--resume=*) cat '${bin}/later' ;; *) cat '${bin}/first' ;; esac\n`,
    );
  }

  test('the tokens of a follow-up are its own, although it is another task in the same conversation', async () => {
    tells({}, { modelUsage: model(1960, 200), total_cost_usd: 0.5 });
    const bin = join(rig.ws.repository.folder, 'bin');
    const first = { subtype: 'success', is_error: false, modelUsage: model(960, 100), total_cost_usd: 0.25 };
    writeFileSync(join(bin, 'first'), `${JSON.stringify({ type: 'result', session_id: 'c-5', ...first })}\n`);
    const { session_id } = await rig.run([]);
    const former = await rig.settled(session_id);
    assert.deepEqual(former.usage, claimed({ input: 1000, cached: 40, output: 100, cost_usd: 0.25 }));
    const next = await rig
      .here()
      .call('worker.follow_up', { session: session_id, prompt: 'and now the docs' });
    const ended = await rig.settled(next.session.session_id);
    assert.notEqual(ended.task_id, former.task_id);
    assert.deepEqual(ended.usage, claimed({ input: 1000, cached: 0, output: 100, cost_usd: 0.25 }));
  });

  async function played(first: object, later: object): Promise<WireValue<Session>> {
    tells(first, later);
    const { session_id } = await rig.run([]);
    const { usage } = await rig.settled(session_id);
    assert.deepEqual(usage, claimed({ input: 1000, cached: 40, output: 100, cost_usd: 0.25 }));
    await rig.down();
    await rig.up();
    await rig.here().call('worker.resume', { session: session_id });
    await until(async () => (await rig.session(session_id)).state === 'ended');
    return rig.session(session_id);
  }

  test('the tokens of a session are counted once over its runs, although claude reports the whole conversation after a resume', async () => {
    const ended = await played(
      { modelUsage: model(960, 100), total_cost_usd: 0.25 },
      { modelUsage: model(1960, 200), total_cost_usd: 0.5 },
    );
    assert.deepEqual(ended.usage, claimed({ input: 2000, cached: 40, output: 200, cost_usd: 0.5 }));
  });

  test("the tokens of a session are taken from claude's own count for a run, where it has one", async () => {
    const ended = await played(
      { modelUsage: model(960, 100), model_usage_since_last_result: model(960, 100) },
      { modelUsage: model(9960, 1000), model_usage_since_last_result: model(960, 100) },
    );
    assert.deepEqual(ended.usage, claimed({ input: 2000, cached: 80, output: 200, cost_usd: 0.5 }));
  });
});
