import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Protocol } from '../../../../engine/gateway/protocol.ts';
import { createTranslation } from '../../../../engine/gateway/translate/index.ts';
import { type Json, PROTOCOLS } from '../../../support/gateway/plain-protocols.ts';

const user = (part: Json): Json => ({ messages: [{ role: 'user', content: [part] }] });
const input = (item: Json): Json => ({ input: [item] });

/** Values that other protocols cannot express, by field. */
const REFUSED: Record<Protocol, (readonly [field: string, body: Json])[]> = {
  chat: [
    ['n', { n: 2 }],
    ['logprobs', { logprobs: true }],
    ['logit_bias', { logit_bias: { 50256: -100 } }],
    ['audio', { audio: { voice: 'alloy' } }],
    ['functions', { functions: [{ name: 'f' }] }],
    ['messages[0].role', { messages: [{ role: 'function', name: 'f', content: '' }] }],
    ['messages[0].content[0].file', user({ type: 'file', file: { file_id: 'f_1' } })],
    ['messages[0].content[0]', user({ type: 'video_url' })],
    ['messages[0].content[0]', user({ type: 'image_url', image_url: { url: 'data:image/svg+xml,<svg/>' } })],
    ['tools[0]', { tools: [{ type: 'retrieval' }] }],
    ['web_search_options', { web_search_options: {} }],
  ],
  responses: [
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: 'conv_1' }],
    ['prompt', { prompt: { id: 'p' } }],
    ['background', { background: true }],
    ['top_logprobs', { top_logprobs: 3 }],
    ['include', { include: ['message.output_text.logprobs'] }],
    ['input[0]', input({ type: 'item_reference', id: 'msg_1' })],
    ['input[0]', input({ type: 'compaction', encrypted_content: 'x' })],
    [
      'input[0].content[0].file_id',
      input({ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }),
    ],
    ['tools[1]', { tools: [{ type: 'function', name: 'f' }, { type: 'local_shell' }] }],
    ['tools[0].tools[0]', { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'shell' }] }] }],
    ['tools[0]', { tools: [{ type: 'web_search' }] }],
    [
      'tool_choice',
      {
        tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }],
        tool_choice: { type: 'web_search' },
      },
    ],
  ],
  messages: [
    ['max_tokens', { max_tokens: 0 }],
    ['container', { container: 'c_1' }],
    ['mcp_servers', { mcp_servers: [{ url: 'https://x' }] }],
    ['messages[0].content[0].source', user({ type: 'image', source: { type: 'file', file_id: 'f' } })],
    ['messages[0].content[0]', user({ type: 'container_upload', file_id: 'f' })],
    ['messages[0].role', { messages: [{ role: 'tool', content: '' }] }],
    ['tools[0]', { tools: [{ type: 'bash_20250124', name: 'bash' }] }],
    ['tools[0]', { tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }],
  ],
  gemini: [
    ['cachedContent', { cachedContent: 'cachedContents/1' }],
    ['generationConfig.candidateCount', { generationConfig: { candidateCount: 2 } }],
    ['generationConfig.responseLogprobs', { generationConfig: { responseLogprobs: true } }],
    ['generationConfig.responseModalities', { generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } }],
    ['tools[0].googleSearch', { tools: [{ googleSearch: {} }] }],
    [
      'contents[0].parts[0].fileData',
      {
        contents: [
          {
            role: 'user',
            parts: [
              {
                fileData: {
                  fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/a',
                  mimeType: 'image/png',
                },
              },
            ],
          },
        ],
      },
    ],
  ],
};

const refuses = (from: Protocol, to: Protocol, field: string, body: Json, model = 'm'): void =>
  assert.throws(
    () => createTranslation(from, to).request(body, model),
    (error: Json) =>
      error.code === 'fields_invalid' && error.data.field === field && error.message.startsWith(`${field}: `),
    `${from} to ${to}: ${field}`,
  );

describe('inexpressible fields are refused by name', () => {
  for (const from of PROTOCOLS)
    test(`requests from ${from} are refused for any provider`, () => {
      for (const [field, body] of REFUSED[from])
        for (const to of PROTOCOLS.filter((each) => each !== from)) refuses(from, to, field, body);
    });

  test('stop sequences are refused for responses, and blank ones for messages', () => {
    refuses('chat', 'responses', 'stop', { messages: [], stop: 'END' });
    refuses('messages', 'responses', 'stop_sequences', { stop_sequences: ['END'] });
    refuses('gemini', 'responses', 'generationConfig.stopSequences', {
      generationConfig: { stopSequences: ['END'] },
    });
    refuses('chat', 'messages', 'stop', { messages: [], stop: ['\n'] });
  });

  test('media types that the provider lacks are refused', () => {
    const audio = { type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } };
    refuses('chat', 'messages', 'messages.content', user(audio));
    refuses('chat', 'responses', 'messages.content', user(audio));
    const svg = { type: 'image_url', image_url: { url: 'data:image/svg+xml;base64,aGk=' } };
    refuses('chat', 'messages', 'messages.content', user(svg));
    const pdf = { type: 'document', source: { type: 'url', url: 'https://x/a.pdf' } };
    refuses('messages', 'chat', 'messages.content', user(pdf));
  });
});

describe('fields that are dropped without harm', () => {
  const BODIES: Record<Protocol, Json> = {
    chat: {
      messages: [{ role: 'user', content: 'q', name: 'ada' }],
      n: 1,
      store: true,
      metadata: { a: 'b' },
      logprobs: false,
      logit_bias: null,
      prediction: { type: 'content', content: 'x' },
      modalities: ['text'],
    },
    responses: {
      input: 'q',
      store: true,
      metadata: {},
      include: ['reasoning.encrypted_content'],
      truncation: 'auto',
      background: false,
      previous_response_id: null,
      max_tool_calls: 3,
    },
    messages: {
      max_tokens: 5,
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'q', cache_control: { type: 'ephemeral' } }] },
      ],
      metadata: { user_id: 'u' },
      service_tier: 'auto',
      context_management: {},
      mcp_servers: [],
    },
    gemini: {
      contents: [{ role: 'user', parts: [{ text: 'q' }] }],
      safetySettings: [{ category: 'x', threshold: 'y' }],
      labels: { a: 'b' },
      generationConfig: { candidateCount: 1, responseModalities: ['TEXT'], speechConfig: {} },
    },
  };
  const LEAST: Record<Protocol, Json> = {
    chat: { model: 'm', messages: [{ role: 'user', content: 'q' }] },
    responses: {
      model: 'm',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'q' }] }],
      store: false,
    },
    messages: {
      model: 'm',
      max_tokens: 32000,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'q' }] }],
    },
    gemini: { contents: [{ role: 'user', parts: [{ text: 'q' }] }] },
  };
  const MAX_TOKENS: Record<Protocol, Json> = {
    chat: { max_tokens: 5 },
    // OpenAI's minimum.
    responses: { max_output_tokens: 16 },
    messages: { max_tokens: 5 },
    gemini: { generationConfig: { maxOutputTokens: 5 } },
  };
  for (const from of PROTOCOLS)
    test(`requests from ${from}: the provider gets the question and nothing else`, () => {
      for (const to of PROTOCOLS.filter((each) => each !== from)) {
        const expected = { ...LEAST[to], ...(from === 'messages' ? MAX_TOKENS[to] : {}) };
        assert.deepEqual(createTranslation(from, to).request(BODIES[from], 'm'), expected, to);
      }
    });
});

test('a body that is not an answer is refused', () => {
  for (const to of PROTOCOLS)
    for (const from of PROTOCOLS.filter((each) => each !== to))
      for (const body of [
        {},
        { error: { message: 'no' } },
        { choices: [], content: 'x', output: null, candidates: [] },
      ])
        assert.throws(
          () => createTranslation(from, to).response(body),
          { code: 'answer_invalid' },
          `${from} to ${to}`,
        );
});
