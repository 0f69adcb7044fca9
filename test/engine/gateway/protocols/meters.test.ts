import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Protocol } from '../../../../engine/gateway/protocol.ts';
import { FACES } from '../../../../engine/gateway/protocols/index.ts';

/** Returns a meter's result for a stream. */
function measure(protocol: Protocol, events: readonly (object | string)[]) {
  const meter = FACES[protocol].createMeter();
  for (const event of events)
    meter.readEvent(Buffer.from(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`));
  return { isComplete: meter.isComplete(), hasFailed: meter.hasFailed(), usage: meter.usage() };
}

const choice = (index: number, reason: string | null, delta: object = { content: 'a' }) => ({
  choices: [{ index, delta, finish_reason: reason }],
});

describe('how a stream ends', () => {
  test('each of several answers needs an end', () => {
    const begun = [choice(0, null), choice(1, null), choice(0, 'stop')];
    assert.equal(measure('chat', begun).isComplete, false);
    assert.equal(measure('chat', [...begun, choice(1, 'length')]).isComplete, true);
    assert.equal(measure('chat', [choice(0, null), choice(1, 'stop')]).isComplete, false);
    assert.equal(measure('chat', [...begun, '[DONE]']).isComplete, true);
  });

  test('a tool call is not another answer, and an empty word is not an end', () => {
    const calls = { tool_calls: [{ index: 1, function: { arguments: '{"finish_reason":"stop"}' } }] };
    assert.equal(measure('chat', [choice(0, null), choice(0, '', calls)]).isComplete, false);
    assert.equal(measure('chat', [choice(0, null, calls), choice(0, 'tool_calls', {})]).isComplete, true);
  });

  test('words in the arguments of a call are not parsed as protocol', () => {
    const part = { functionCall: { name: 'a', args: { finishReason: 'x', blockReason: 'y' } } };
    const begun = { candidates: [{ content: { parts: [part] } }] };
    assert.equal(measure('gemini', [begun]).isComplete, false);
    assert.equal(measure('gemini', [begun, { candidates: [{ finishReason: 'STOP' }] }]).isComplete, true);
    assert.equal(measure('gemini', [{ promptFeedback: { blockReason: 'SAFETY' } }]).isComplete, true);
    const input = { type: 'content_block_start', content_block: { input: { type: 'message_stop' } } };
    assert.equal(measure('messages', [input]).isComplete, false);
  });

  test('the start of a stream is counted after a byte order mark too', () => {
    const meter = FACES.messages.createMeter();
    meter.readEvent(
      Buffer.from('\uFEFFdata: {"type":"message_start","message":{"usage":{"input_tokens":7}}}\n\n'),
    );
    assert.equal(meter.usage()?.input, 7);
  });
});

test('an error that arrives as a whole answer is an error, and an answer with a field of that name is not', () => {
  const failed: [Protocol, object, boolean][] = [
    ['chat', { error: { message: 'x' } }, true],
    ['chat', { choices: [], error: { message: 'x' } }, false],
    ['responses', { error: { message: 'x' } }, true],
    ['responses', { output: [], status: 'failed', error: { code: 'server_error' } }, false],
    ['responses', { output: [], error: null }, false],
    ['messages', { type: 'error', error: { type: 'overloaded_error' } }, true],
    ['messages', { type: 'message', content: [] }, false],
    ['gemini', { error: { code: 500 } }, true],
    ['gemini', { candidates: [] }, false],
  ];
  for (const [protocol, body, expected] of failed) {
    const meter = FACES[protocol].createMeter();
    meter.readAnswer(body);
    assert.equal(meter.hasFailed(), expected, JSON.stringify(body));
  }
});
