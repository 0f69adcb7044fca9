import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findOwnWords } from '../../../cli/acp/agent-quirks.ts';
import { createTranscript } from '../../../cli/acp/transcript.ts';
import type { AcpLine } from '../../../engine/index.ts';

const usageOf = (usage: object): [number, number, number] => {
  const transcript = createTranscript({ print: () => undefined, cwd: '/', clean: (text) => text });
  const { input = -1, cached = -1, output = -1 } = transcript.usage({ usage }) ?? {};
  return [input, cached, output];
};

test('cached tokens are counted once, whether an agent includes them in its input or not', () => {
  const tokens = { outputTokens: 10, cachedReadTokens: 40, totalTokens: 110 };
  // Once in the form that copilot and qwen use, once in the form of opencode and claude.
  assert.deepEqual(usageOf({ ...tokens, inputTokens: 100, cachedWriteTokens: 0 }), [100, 40, 10]);
  assert.deepEqual(usageOf({ ...tokens, inputTokens: 60 }), [100, 40, 10]);
  assert.deepEqual(usageOf({ inputTokens: 60, outputTokens: 10, cachedReadTokens: 40 }), [100, 40, 10]);
  assert.deepEqual(
    usageOf({ ...tokens, inputTokens: 50, thoughtTokens: 5, cachedWriteTokens: 5, totalTokens: 110 }),
    [95, 40, 10],
  );
});

test("copilot's failure reports are not taken for words of its model", () => {
  const lines: AcpLine[] = [];
  const transcript = createTranscript({
    print: (line) => lines.push(line),
    cwd: '/',
    clean: (text) => text.replace('secret', '…'),
    ownWords: findOwnWords('/usr/bin/copilot'),
  });
  for (const text of ['Half ', 'Info: Retrying...', 'Error: HTTP 401 for secret', 'Done: Error: none'])
    transcript.update({
      update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
    });
  transcript.flush();
  assert.deepEqual(
    lines.map((line) => [line.acp, 'text' in line ? line.text : 'message' in line ? line.message : '']),
    [
      ['message', 'Half '],
      ['notice', 'Info: Retrying...'],
      ['error', 'HTTP 401 for …'],
      ['message', 'Done: Error: none'],
    ],
  );
  assert.equal(findOwnWords('opencode'), null);
});

test('a path inside the folder is shown relative to it, even one that starts with two dots', () => {
  const lines: AcpLine[] = [];
  const transcript = createTranscript({
    print: (line) => lines.push(line),
    cwd: '/project',
    clean: (text) => text,
  });
  for (const path of ['/project/..foo', '/project', '/elsewhere'])
    transcript.update({ update: { sessionUpdate: 'tool_call', toolCallId: path, locations: [{ path }] } });
  assert.deepEqual(
    lines.flatMap((line) => (line.acp === 'tool' ? line.paths : [])),
    ['..foo', '.', '/elsewhere'],
  );
});
