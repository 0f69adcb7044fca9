import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findJsonMembers } from '../../../../engine/gateway/json-members.ts';
import type { Protocol } from '../../../../engine/gateway/protocol.ts';
import { parseHoldingTexts } from '../../../../engine/gateway/server/held-texts.ts';
import { createTranslation } from '../../../../engine/gateway/translate/index.ts';
import { randomRequest } from '../../../support/gateway/plain-exchange.ts';
import { type Json, PAIRS, PLAIN_PROTOCOLS } from '../../../support/gateway/plain-protocols.ts';

const ROUNDS = 12;

/** Characters for the texts: quotes, JSON, escapes, characters of each length, and a lone surrogate. */
const FILLERS = [
  'plain words ',
  '"a\\n": {"b": [1]},\n\t',
  'ü \u00e9 模型 ',
  '🌍 ',
  '\\u0041 \\ud83d ',
  '  \n',
  '\ud83d',
];
const fill = (at: number, bytes: number): string => FILLERS[at % FILLERS.length]!.repeat(bytes / 8);

/** The keys of texts; some are passed on unchanged and others are parsed. */
const TEXTS = new Set(['text', 'content', 'output', 'data', 'thinking', 'system', 'instructions', 'refusal']);
const OBJECTS = new Set(['input', 'args', 'response']);

/** Returns the same request with long texts in each possible place. */
function lengthen(value: Json, count: { at: number }): Json {
  if (Array.isArray(value)) return value.map((each) => lengthen(each, count));
  if (typeof value !== 'object' || value === null) return value;
  const more = (): string => {
    count.at += 1;
    return fill(count.at, 6000);
  };
  return Object.fromEntries(
    Object.entries(value as Record<string, Json>).map(([key, each]) => {
      if (key === 'arguments' && typeof each === 'string')
        return [key, JSON.stringify({ ...JSON.parse(each || '{}'), filler: more() })];
      if (typeof each === 'string') return [key, TEXTS.has(key) ? `${each}${more()}` : each];
      if (OBJECTS.has(key) && !Array.isArray(each)) return [key, { ...each, content: more(), text: more() }];
      return [key, lengthen(each, count)];
    }),
  );
}

/** Formats JSON in ASCII only, as some clients do. */
const escapeAll = (text: string): string =>
  text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

const hold = (text: string, protocol: Protocol) => {
  const bytes = Buffer.from(text);
  return parseHoldingTexts(bytes, { protocol, members: findJsonMembers(bytes) ?? [] });
};

describe('long texts in a translation', () => {
  for (const [from, to] of PAIRS)
    test(`${from} to ${to}: the provider gets the same request as if they were parsed`, () => {
      let held = 0;
      for (let seed = 0; seed < ROUNDS; seed += 1) {
        const body = lengthen(PLAIN_PROTOCOLS[from].request(randomRequest(seed)), { at: seed });
        const plain = JSON.stringify(body);
        for (const text of [plain, escapeAll(plain), ` \uFEFF${plain}`.trimStart()]) {
          const expected = JSON.stringify(createTranslation(from, to).request(JSON.parse(plain), 'm'));
          const texts = hold(text, from);
          if (JSON.stringify(texts.body).length < expected.length / 2) held += 1;
          const written = texts.write(createTranslation(from, to).request(texts.body as object, 'm'));
          assert.deepEqual(JSON.parse(written.toString('utf8')), JSON.parse(expected), `seed ${seed}`);
        }
      }
      assert.ok(held > ROUNDS / 4, `only ${held} bodies became shorter`);
    });

  test('arguments of a call are parsed, and their container is not mistaken for a text', () => {
    const long = 'x'.repeat(5000);
    const body = {
      messages: [
        { role: 'user', content: long },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'a', name: 'write', input: { content: long } }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: long, is_error: true }] },
      ],
    };
    const texts = hold(JSON.stringify(body), 'messages');
    const written = texts.write(createTranslation('messages', 'chat').request(texts.body as object, 'm'));
    const sent: Json = JSON.parse(written.toString('utf8'));
    assert.deepEqual(JSON.parse(sent.messages[1].tool_calls[0].function.arguments), { content: long });
    assert.equal(sent.messages[2].content, `Error: ${long}`);
    assert.equal(sent.messages[0].content, long);
  });

  test('an image in a data URL passes through, and the address of a file keeps its ending', () => {
    const data = 'QUJD'.repeat(2000);
    const url = `https://example.com/${'a'.repeat(4000)}.png`;
    const content = [data.length, url].map((each) => ({
      type: 'image_url',
      image_url: { url: typeof each === 'number' ? `data:image/png;base64,${data}` : each },
    }));
    const texts = hold(JSON.stringify({ messages: [{ role: 'user', content }] }), 'chat');
    const written = texts.write(createTranslation('chat', 'gemini').request(texts.body as object, 'm'));
    const { contents }: Json = JSON.parse(written.toString('utf8'));
    assert.deepEqual(contents[0].parts, [
      { inlineData: { mimeType: 'image/png', data } },
      { fileData: { fileUri: url, mimeType: 'image/png' } },
    ]);
  });

  test('a text that is not JSON, or not Unicode, is not passed on', () => {
    for (const rest of [`"${'x'.repeat(3000)}\\x"`, `"${'x'.repeat(3000)}" "`])
      assert.throws(() => hold(`{"messages":[{"role":"user","input":${rest}}]}`, 'messages'), SyntaxError);
    const broken = Buffer.concat([
      Buffer.from('{"messages":[{"role":"user","content":"'),
      Buffer.alloc(3000, 0x61),
      Buffer.of(0xff),
      Buffer.from('"}]}'),
    ]);
    const texts = parseHoldingTexts(broken, { protocol: 'messages', members: findJsonMembers(broken) ?? [] });
    assert.match(texts.write(texts.body).toString('utf8'), /a\ufffd"/);
  });
});
