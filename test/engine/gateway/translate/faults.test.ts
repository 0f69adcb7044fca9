import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Protocol } from '../../../../engine/gateway/protocol.ts';
import { writeFault } from '../../../../engine/gateway/protocols/index.ts';
import { createTranslation } from '../../../../engine/gateway/translate/index.ts';
import { type Json, PAIRS, PROTOCOLS } from '../../../support/gateway/plain-protocols.ts';
import { type SdkClients, startSdkClients } from '../../../support/gateway/sdk-clients.ts';

const SAID: Record<Protocol, (message: string) => Json> = {
  chat: (message) => ({ error: { message, type: 'x', code: null, param: null } }),
  responses: (message) => ({ error: { message, type: 'x', code: null, param: null } }),
  messages: (message) => ({ type: 'error', error: { type: 'x', message }, request_id: 'req_1' }),
  gemini: (message) => ({ error: { code: 1, message, status: 'X', details: [] } }),
};

const STATUSES = [400, 401, 402, 403, 404, 413, 422, 429, 500, 502, 503, 504, 529];

const messageIn: Record<Protocol, (body: Json) => string> = {
  chat: ({ error }) => error.message,
  responses: ({ error }) => error.message,
  messages: ({ type, error }) => (type === 'error' ? error.message : ''),
  gemini: ({ error }) => error.message,
};

describe('errors', () => {
  let clients: SdkClients;
  before(async () => {
    clients = await startSdkClients();
  });
  after(() => clients.close());

  for (const [from, to] of PAIRS)
    test(`${from} to ${to}: every status in the caller's own shape`, async () => {
      for (const status of STATUSES) {
        const body: Json = createTranslation(from, to).error(status, SAID[to]('why it failed'));
        assert.equal(messageIn[from](body), 'why it failed');
        if (from === 'gemini') {
          assert.equal(body.error.code, status);
          assert.match(body.error.status, /^[A-Z_]+$/);
        } else assert.match(body.error.type, /^[a-z_]+$/);
      }
    });

  for (const from of PROTOCOLS)
    test(`${from}: the official client throws its own error`, async () => {
      const to = PROTOCOLS.find((each) => each !== from)!;
      for (const status of [400, 402, 429, 529]) {
        const body = createTranslation(from, to).error(status, SAID[to]('why it failed'));
        await assert.rejects(clients.readAnswer(from, status, body), (error: Json) => {
          assert.equal(error.status, status);
          assert.match(error.message, /why it failed/);
          return true;
        });
      }
    });

  test('each protocol has one wording for a status, for errors of the gateway and of a provider', () => {
    const words: Record<number, [openai: string, messages: string, gemini: string]> = {
      400: ['invalid_request_error', 'invalid_request_error', 'INVALID_ARGUMENT'],
      401: ['authentication_error', 'authentication_error', 'UNAUTHENTICATED'],
      402: ['insufficient_quota', 'billing_error', 'FAILED_PRECONDITION'],
      403: ['permission_error', 'permission_error', 'PERMISSION_DENIED'],
      404: ['not_found_error', 'not_found_error', 'NOT_FOUND'],
      413: ['invalid_request_error', 'request_too_large', 'INVALID_ARGUMENT'],
      415: ['invalid_request_error', 'invalid_request_error', 'INVALID_ARGUMENT'],
      429: ['rate_limit_error', 'rate_limit_error', 'RESOURCE_EXHAUSTED'],
      500: ['server_error', 'api_error', 'INTERNAL'],
      502: ['server_error', 'api_error', 'INTERNAL'],
      // Claude Code replaces the message of a 529.
      503: ['server_error', 'api_error', 'UNAVAILABLE'],
      504: ['server_error', 'timeout_error', 'DEADLINE_EXCEEDED'],
      529: ['server_error', 'overloaded_error', 'UNAVAILABLE'],
    };
    for (const [text, [openai, messages, gemini]] of Object.entries(words)) {
      const status = Number(text);
      const expected = { chat: openai, responses: openai, messages, gemini };
      for (const protocol of PROTOCOLS) {
        const own: Json = writeFault(protocol, { status, message: 'm', code: 'c', field: null });
        const other = PROTOCOLS.find((each) => each !== protocol)!;
        const translated: Json = createTranslation(protocol, other).error(status, {});
        assert.deepEqual(
          [own, translated].map(({ error }) => error.status ?? error.type),
          [expected[protocol], expected[protocol]],
          `${protocol} ${status}`,
        );
      }
    }
  });

  test('an error of another form is converted, and an HTML page is not repeated', () => {
    const messageOf = (body: unknown): string => {
      const { error }: Json = createTranslation('messages', 'chat').error(502, body);
      return error.message;
    };
    assert.equal(messageOf('<html><body>nginx</body></html>'), 'the provider answered with status 502');
    assert.equal(messageOf('upstream timed out'), 'upstream timed out');
    assert.equal(messageOf(undefined), 'the provider answered with status 502');
    assert.equal(messageOf({ error: 'model not found' }), 'model not found');
    assert.equal(messageOf({ detail: 'Not Found' }), 'Not Found');
    assert.equal(messageOf({ message: 'no' }), 'no');
    assert.equal(messageOf([{ error: { message: 'in a list', code: 502 } }]), 'in a list');
  });

  test('an overlong prompt is reported in the words on which clients shorten it', () => {
    const said = [
      { error: { message: 'This request is too big', code: 'context_length_exceeded' } },
      { error: { message: "This model's maximum context length is 8192 tokens" } },
      {
        error: {
          message: 'The input token count (9) exceeds the maximum number of tokens allowed (8)',
          code: 400,
        },
      },
    ];
    for (const body of said) {
      const claude: Json = createTranslation('messages', 'chat').error(400, body);
      assert.match(claude.error.message, /^prompt is too long: /);
      const codex: Json = createTranslation('responses', 'gemini').error(400, body);
      assert.equal(codex.error.code, 'context_length_exceeded');
    }
    const other: Json = createTranslation('messages', 'chat').error(400, SAID.chat('bad tool'));
    assert.equal(other.error.message, 'bad tool');
  });

  test("an overlong prompt is recognised in each server's wording", () => {
    const words = [
      'the request exceeds the available context size. try increasing the context size or enable context shift',
      'request (30010 tokens) exceeds the available context size (8192 tokens), try increasing it',
      "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
      'The decoder prompt (length 5000) is longer than the maximum model length of 4096.',
      'The prompt (total length 25938) is too long to fit into the model (context length 4096).',
      "The input (345516 tokens) is longer than the model's context length (262144 tokens).",
      "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
      'Invalid request: Your request exceeded model token limit: 262144 (requested: 268000)',
      'Prompt exceeds max length',
      'Range of input length should be [1, 98304]',
      '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]',
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097',
      'Input is too long for requested model.',
      'input length and `max_tokens` exceed context limit: 186433 + 20000 > 200000',
      'too many tokens: total number of tokens in the prompt cannot exceed 4081',
      'prompt token count of 130000 exceeds the limit of 128000',
      'invalid params, context window exceeds limit (2013)',
      'Prompt too long: 32799 tokens exceeds max context window of 32768 tokens',
    ];
    for (const message of words)
      for (const body of [{ error: { message, type: 'x' } }, { detail: message }, message]) {
        const claude: Json = createTranslation('messages', 'chat').error(400, body);
        assert.match(claude.error.message, /prompt is too long/i);
        const codex: Json = createTranslation('responses', 'chat').error(422, body);
        assert.equal(codex.error.code, 'context_length_exceeded', message);
      }
    for (const [field, word] of [
      ['type', 'exceed_context_size_error'],
      ['code', '1261'],
      ['code', 'model_max_prompt_tokens_exceeded'],
    ] as const) {
      const claude: Json = createTranslation('messages', 'chat').error(400, {
        error: { message: 'no', [field]: word },
      });
      assert.match(claude.error.message, /^prompt is too long: /);
    }
    for (const message of [
      'max_tokens is too large: 50000. This model supports at most 16384 completion tokens',
      "Invalid 'tools[0].function.description': string too long",
      'The image is too large: 6 MB',
      'unknown field context_management',
    ]) {
      const claude: Json = createTranslation('messages', 'chat').error(400, { error: { message } });
      assert.equal(claude.error.message, message);
    }
    const busy: Json = createTranslation('messages', 'chat').error(429, {
      error: { message: 'too many tokens: total' },
    });
    assert.equal(busy.error.message, 'too many tokens: total');
  });

  test('a failed stream has the status of its error', () => {
    const failed = (from: Protocol, to: Protocol, data: Json): Json => {
      const [event] = createTranslation(from, to)
        .stream()
        .push({ event: data.type ?? null, data: JSON.stringify(data) })
        .slice(-1);
      return JSON.parse(event!.data);
    };
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'busy' } };
    assert.equal(failed('gemini', 'messages', overloaded).error.code, 529);
    assert.equal(failed('responses', 'messages', overloaded).response.error.code, 'server_error');
    assert.equal(
      failed('messages', 'chat', { error: { message: 'm', code: 429 } }).error.type,
      'rate_limit_error',
    );
    assert.equal(
      failed('chat', 'gemini', { error: { message: 'm', status: 'UNAVAILABLE' } }).error.type,
      'server_error',
    );
    assert.equal(
      failed('messages', 'responses', { type: 'error', code: 'invalid_prompt', message: 'm' }).error.type,
      'invalid_request_error',
    );
  });
});
