import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Protocol } from '../../../../engine/gateway/protocol.ts';
import { createTranslation } from '../../../../engine/gateway/translate/index.ts';
import { type Json, PAIRS, PROTOCOLS } from '../../../support/plain-protocols.ts';
import { type SdkClients, startSdkClients } from '../../../support/sdk-clients.ts';

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

  test('the words of each protocol for the usual ones', () => {
    const typeOf = (from: Protocol, status: number): string => {
      const { error }: Json = createTranslation(from, from === 'chat' ? 'messages' : 'chat').error(
        status,
        {},
      );
      return error.status ?? error.type;
    };
    assert.deepEqual(
      [401, 402, 403, 404, 429, 529].map((status) => typeOf('messages', status)),
      [
        'authentication_error',
        'billing_error',
        'permission_error',
        'not_found_error',
        'rate_limit_error',
        'overloaded_error',
      ],
    );
    assert.deepEqual(
      [400, 401, 429, 503].map((status) => typeOf('gemini', status)),
      ['INVALID_ARGUMENT', 'UNAUTHENTICATED', 'RESOURCE_EXHAUSTED', 'UNAVAILABLE'],
    );
    assert.deepEqual(
      [400, 429, 500].map((status) => typeOf('chat', status)),
      ['invalid_request_error', 'rate_limit_error', 'server_error'],
    );
  });

  test('what is no error of the protocol becomes one, and a page of HTML is not repeated', () => {
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

  test('a prompt that is too long is said in the words by which clients shorten it', () => {
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

  test('a failed stream has the status of its own words', () => {
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
