import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findJsonMembers } from '../../../../engine/gateway/json-members.ts';
import { parseHoldingTexts } from '../../../../engine/gateway/server/held-texts.ts';
import { createTranslation } from '../../../../engine/gateway/translate/index.ts';
import type { Json } from '../../../support/gateway/plain-protocols.ts';
import { exchange } from '../../../support/gateway/translated.ts';

const hi = { role: 'user', content: 'q' };
const OLD = 'claude-sonnet-4-5';

describe('the start and the end of a conversation', () => {
  test('a last answer loses its trailing space, however long it is', () => {
    for (const text of ['The answer is ', 'so:\n', `${'x'.repeat(5000)} \n\t`, `${'y'.repeat(5000)}\\n `]) {
      const bytes = Buffer.from(JSON.stringify({ messages: [hi, { role: 'assistant', content: text }] }));
      const held = parseHoldingTexts(bytes, { protocol: 'chat', members: findJsonMembers(bytes) ?? [] });
      const sent: Json = JSON.parse(
        held.write(createTranslation('chat', 'messages').request(held.body as object, OLD)).toString(),
      );
      assert.equal(sent.messages.at(-1).content[0].text, text.trimEnd());
    }
    const followed = { messages: [hi, { role: 'assistant', content: 'a ' }, hi] };
    assert.equal(exchange('chat', 'messages', followed, OLD).sent.messages[1].content[0].text, 'a ');
  });

  test('the user speaks last to models that continue no answer', () => {
    const body = { messages: [hi, { role: 'assistant', content: 'so' }] };
    const roles = (model: string): string[] =>
      exchange('chat', 'messages', body, model).sent.messages.map(({ role }: Json) => role);
    assert.deepEqual(roles('claude-opus-4-8'), ['user', 'assistant', 'user']);
    assert.deepEqual(roles(OLD), ['user', 'assistant']);
    const thinking = { ...body, reasoning_effort: 'high' };
    assert.ok(!('thinking' in exchange('chat', 'messages', thinking, OLD).sent));
  });

  test('a conversation that starts with an answer gets a user turn first where one is required', () => {
    const body = {
      messages: [{ role: 'system', content: 's' }, { role: 'assistant', content: 'hello' }, hi],
    };
    const { messages } = exchange('chat', 'messages', body).sent;
    assert.deepEqual(
      messages.map(({ role }: Json) => role),
      ['user', 'assistant', 'user'],
    );
    const { contents } = exchange('chat', 'gemini', body).sent;
    assert.deepEqual(
      contents.map(({ role }: Json) => role),
      ['user', 'model', 'user'],
    );
    for (const { parts } of contents) assert.notEqual(parts[0].text.trim(), '');
    assert.equal(exchange('chat', 'responses', body).sent.input[0].role, 'assistant');
  });

  test('a silent user still ends a conversation', () => {
    const answer = { role: 'assistant', content: 'a' };
    for (const content of ['', '  ', [], [{ type: 'text', text: '\n' }]])
      for (const to of ['messages', 'gemini', 'responses'] as const) {
        const { sent } = exchange('chat', to, { messages: [hi, answer, { role: 'user', content }] }, OLD);
        const turns = sent.messages ?? sent.contents ?? sent.input;
        assert.equal(turns.at(-1).role, 'user', `${to} ${JSON.stringify(content)}`);
      }
  });
});

describe('media', () => {
  const picture = (mediaType: string, data: string): Json => ({
    messages: [
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: `data:${mediaType};base64,${data}` } }],
      },
    ],
  });
  const sent = (mediaType: string, data: string): string =>
    exchange('chat', 'messages', picture(mediaType, data)).sent.messages[0].content[0].source.media_type;

  test('a media type has the name that providers know', () => {
    for (const name of ['image/jpg', 'image/JPG', 'image/pjpeg'])
      assert.equal(sent(name, 'AAAA'), 'image/jpeg');
    assert.equal(sent('image/x-png', 'AAAA'), 'image/png');
    const source = { type: 'base64', media_type: 'image/jpg', data: 'AAAA' };
    const claude = { max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'image', source }] }] };
    assert.match(
      exchange('messages', 'chat', claude).sent.messages[0].content[0].image_url.url,
      /^data:image\/jpeg;/,
    );
    const google = { contents: [{ parts: [{ inlineData: { mimeType: 'image/jpg', data: 'AAAA' } }] }] };
    assert.equal(
      exchange('gemini', 'messages', google).sent.messages[0].content[0].source.media_type,
      'image/jpeg',
    );
  });

  test('a picture has the type of its first bytes', () => {
    assert.equal(sent('image/png', '/9j/4AAQ'), 'image/jpeg');
    assert.equal(sent('image/jpeg', 'iVBORw0KGgoAAAA'), 'image/png');
    assert.equal(sent('image/png', 'UklGRiQA'), 'image/webp');
    assert.equal(sent('image/gif', 'AAAA'), 'image/gif');
  });
});

describe('schemas of tools', () => {
  const tool = (parameters: Json, strict?: boolean): Json => ({
    messages: [hi],
    tools: [
      { type: 'function', function: { name: 'f', parameters, ...(strict === undefined ? {} : { strict }) } },
    ],
  });
  const toOpenAi = (input_schema: Json, strict?: boolean): Json =>
    exchange('messages', 'responses', {
      max_tokens: 99,
      messages: [hi],
      tools: [{ name: 'f', input_schema, ...(strict === undefined ? {} : { strict }) }],
    }).sent.tools[0];
  const text = { type: 'string' };

  test('an object schema has properties, if only empty ones', () => {
    const bare = { type: 'object', properties: {} };
    assert.deepEqual(exchange('chat', 'messages', tool({ type: 'object' })).sent.tools[0].input_schema, bare);
    assert.deepEqual(toOpenAi({ type: 'object' }).parameters, bare);
    const claude = {
      max_tokens: 9,
      messages: [hi],
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
    };
    assert.deepEqual(exchange('messages', 'chat', claude).sent.tools[0].function.parameters, bare);
  });

  test('strict is sent to OpenAI only where all properties are required', () => {
    const all = { type: 'object', properties: { a: text }, required: ['a'] };
    assert.deepEqual(toOpenAi(all, true), {
      type: 'function',
      name: 'f',
      parameters: { ...all, additionalProperties: false },
      strict: true,
    });
    for (const schema of [
      { type: 'object', properties: { a: text } },
      { type: 'object', properties: { a: text, b: text }, required: ['a'] },
      { ...all, properties: { a: { type: 'object', properties: { b: text } } } },
      { ...all, additionalProperties: { type: 'string' } },
      { ...all, properties: { a: { type: 'array', items: { type: 'object', properties: { b: text } } } } },
    ]) {
      const { parameters, strict } = toOpenAi(schema, true);
      assert.equal(strict, false, JSON.stringify(schema));
      assert.deepEqual(parameters, schema);
    }
    assert.equal(toOpenAi(all).strict, false);
  });

  test('Anthropic gets closed objects for a strict tool, and for an answer by a schema', () => {
    const inner = { type: 'object', properties: { n: { type: 'integer', minimum: 1 } } };
    const schema = { type: 'object', properties: { list: { type: 'array', items: inner, maxItems: 3 } } };
    const closed = { type: 'object', properties: { n: { type: 'integer' } }, additionalProperties: false };
    const expected = {
      type: 'object',
      properties: { list: { type: 'array', items: closed } },
      additionalProperties: false,
    };
    const strict = exchange('chat', 'messages', tool(schema, true)).sent.tools[0];
    assert.deepEqual([strict.input_schema, strict.strict], [expected, true]);
    assert.deepEqual(exchange('chat', 'messages', tool(schema)).sent.tools[0].input_schema, schema);
    const format = { type: 'json_schema', json_schema: { name: 'a', schema } };
    assert.deepEqual(
      exchange('chat', 'messages', { messages: [hi], response_format: format }).sent.output_config.format
        .schema,
      expected,
    );
    const open = { type: 'object', properties: {}, additionalProperties: { type: 'string' } };
    assert.ok(!('strict' in exchange('chat', 'messages', tool(open, true)).sent.tools[0]));
  });

  test('a property may have the name of a schema keyword', () => {
    const schema = {
      type: 'object',
      properties: { properties: text, minimum: text, items: text, required: text },
      required: ['properties', 'minimum', 'items', 'required'],
    };
    assert.deepEqual(exchange('chat', 'messages', tool(schema, true)).sent.tools[0].input_schema, {
      ...schema,
      additionalProperties: false,
    });
  });

  test('several objects at the top become one', () => {
    const schema = {
      anyOf: [
        { type: 'object', properties: { a: text, c: text }, required: ['a', 'c'] },
        { type: 'object', properties: { b: text, c: text }, required: ['b', 'c'] },
      ],
    };
    assert.deepEqual(exchange('chat', 'messages', tool(schema)).sent.tools[0].input_schema, {
      type: 'object',
      properties: { a: text, b: text, c: text },
      required: ['c'],
    });
    const both = {
      type: 'object',
      allOf: [{ properties: { a: text }, required: ['a'] }, { properties: { b: text } }],
    };
    assert.deepEqual(toOpenAi(both).parameters, {
      type: 'object',
      properties: { a: text, b: text },
      required: ['a'],
    });
  });
});
