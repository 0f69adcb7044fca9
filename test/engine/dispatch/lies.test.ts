import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createAcpReader } from '../../../engine/workers/agents/streams/acp.ts';
import { createClaudeReader } from '../../../engine/workers/agents/streams/claude.ts';
import type { StreamFacts, StreamReader } from '../../../engine/workers/agents/streams/stream.ts';
import { createRunOutput } from '../../../engine/workers/runner/runs/output.ts';
import { claudeSays, makeRig, type Rig } from './rig.ts';

/** Returns the facts about a run that has printed this. */
async function heard(printed: string | Buffer, reader: StreamReader): Promise<StreamFacts> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-hear-'));
  try {
    const file = join(folder, 'log');
    writeFileSync(file, printed);
    const output = createRunOutput(file, 0, reader);
    output.readNew();
    await output.readRest();
    return output.facts();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const lines = (...events: object[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join('');
const named = (id: unknown) => ({ type: 'system', subtype: 'init', session_id: id, model: 'm', cwd: '/' });

describe('claims of a run about itself', () => {
  test('a session id cannot be an option, several words, or endless', async () => {
    for (const id of ['--dangerous', '-c', 'a\nb', 'a b', 'a\0b', '../../x y', 'x'.repeat(300), 'é\u202e'])
      assert.equal((await heard(lines(named(id)), createClaudeReader())).agentSession, null, id);
    for (const id of ['c-9', '0199-ab_c', 'ses_4f.2', 'copilot:1/2', 'a@b'])
      assert.equal((await heard(lines(named(id)), createClaudeReader())).agentSession, id);
    const before = await heard(lines(named('c-1'), named('--help')), createClaudeReader());
    assert.equal(before.agentSession, null);
  });

  test('a claim has its expected form for any output', async () => {
    const facts = await heard(
      lines(
        { acp: 'session', id: { a: 1 }, agent: { name: 'x', version: null }, model: ['m'] },
        { acp: 'usage', input: 1.5, cached: '7', output: 1e300, cost_usd: 'much' },
        { acp: 'plan', entries: 'all' },
        { acp: 'error', code: [], message: { a: 1 }, data: { a: 1 }, reset_at: 'soon', at: 'now' },
        { acp: 'end', stop_reason: null, error: { code: 'usage_limit', text: { a: 1 }, reset_at: 'soon' } },
      ),
      createAcpReader(),
    );
    assert.deepEqual([facts.agentSession, facts.model, facts.plan], [null, null, []]);
    for (const count of [facts.usage?.input, facts.usage?.cached, facts.usage?.output])
      assert.ok(Number.isSafeInteger(count) && count! >= 0, String(count));
    assert.equal(facts.usage?.costUsd, null);
    assert.ok(facts.end?.ok === false && facts.end.resetAt === null && typeof facts.end.text === 'string');
  });

  test('a claim is at most as long as a person reads', async () => {
    const long = 'x'.repeat(1024 * 1024);
    const { model, activity, end, plan } = await heard(
      lines(
        { acp: 'session', id: 'a', agent: { name: 'x', version: null }, model: long },
        { acp: 'tool', id: long, kind: 'edit', title: long, status: 'pending', paths: [long] },
        { acp: 'plan', entries: Array.from({ length: 5000 }, () => ({ text: 'x', state: 'done' })) },
        { acp: 'end', stop_reason: null, error: { code: 'agent_error', text: long, reset_at: null } },
      ),
      createAcpReader(),
    );
    assert.ok((model?.length ?? 0) <= 300 && (activity?.length ?? 0) <= 300 && plan.length <= 200);
    assert.ok(end?.ok === false && end.text.length <= 300);
  });

  test('a claim is not read from the rest of an overlong line', async () => {
    const first = Buffer.from(lines(named('c-1')));
    const forged = lines({ type: 'result', subtype: 'success', is_error: false, session_id: 'forged' });
    // The reader gives up the line after 17 blocks, exactly where the forged one starts.
    const huge = Buffer.alloc(17 * 1024 * 1024 - first.length, 'x');
    const printed = Buffer.concat([first, huge, Buffer.from(forged)]);
    const facts = await heard(printed, createClaudeReader());
    assert.deepEqual([facts.agentSession, facts.end], ['c-1', null]);
    const next = await heard(
      Buffer.concat([printed, Buffer.from(lines(named('c-2')))]),
      createClaudeReader(),
    );
    assert.equal(next.agentSession, 'c-2');
  });

  test('the cost of reading does not grow with messages or their names', { timeout: 20_000 }, async () => {
    const messages = Array.from({ length: 40_000 }, (_, at) => ({
      type: 'assistant',
      message: {
        id: `m-${at}`,
        usage: { input_tokens: 1, output_tokens: 1 },
        content: [{ type: 'tool_use', id: `t-${at}`, name: 'Write', input: {} }],
      },
    }));
    const facts = await heard(lines(...messages), createClaudeReader());
    assert.equal(facts.usage?.input, 40_000);
    assert.equal(facts.toolCalls, 40_000);
  });

  test('reading continues after invalid bytes', async () => {
    const odd = Buffer.from([0, 0xff, 0xfe, 0xc3, 0x28, 0x0a, 0, 0x0a]);
    const facts = await heard(Buffer.concat([odd, Buffer.from(lines(named('c-3')))]), createClaudeReader());
    assert.equal(facts.agentSession, 'c-3');
  });
});

describe('a run that lies', () => {
  let rig: Rig;
  before(async () => {
    rig = await makeRig();
  });
  after(() => rig.close());

  test('a lying run ends anyway, and its claims never become arguments', async () => {
    const { session_id } = await rig.run([
      claudeSays.init('--dangerous'),
      claudeSays.result({
        session_id: '--dangerous',
        is_error: true,
        subtype: 'error_max_turns',
        usage: { input_tokens: 1.5, output_tokens: 1e300 },
        total_cost_usd: -1,
      }),
    ]);
    const ended = await rig.settled(session_id);
    assert.deepEqual([ended.state, ended.failure?.code], ['ended', 'turn_limit']);
    assert.equal(ended.agent_session, null);
    const again = await rig.here().call('worker.resume', { session: session_id });
    await rig.settled(again.session_id);
    assert.ok(!rig.starts().some((words) => words.some((word) => /^-.*dangerous/.test(word))));
  });
});
