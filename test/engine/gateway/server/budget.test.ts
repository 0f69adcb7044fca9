import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createBooksReader } from '../../../../engine/gateway/books/read.ts';
import { MODEL, startUpstream, type Upstream, WORDS } from '../../../../fixtures/upstream/upstream.ts';
import { type GatewayRig, makeGateway, makeProvider } from '../../../support/gateway/gateway.ts';
import { until } from '../../../support/wait.ts';

const CHAT = { model: MODEL, max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] };
const chat = '/v1/chat/completions';
/** The upstream's token count for one call. */
const TOKENS = 17;

describe('budgets and books', () => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());
  const open = (settings: Parameters<typeof makeGateway>[0] = {}): Promise<GatewayRig> =>
    makeGateway({
      ...settings,
      settings: { providers: [makeProvider(`${upstream.url}/v1`)], ...settings.settings },
    });

  test('64 simultaneous calls overspend a day by at most one call; the rest get 402 and the reset time', async () => {
    const rig = await open({ settings: { budgetTokensDay: 20 * TOKENS } });
    try {
      upstream.plan('none');
      const statuses = await Promise.all(
        Array.from({ length: 64 }, async () => {
          const answer = await rig.post(chat, CHAT);
          const body = (await answer.json()) as { error?: { code: string; message: string } };
          if (answer.status === 402) {
            assert.equal(body.error?.code, 'budget_exceeded');
            // Some calls fail only because of other calls' reservations.
            assert.match(
              body.error?.message ?? '',
              /(?:resets at \d{4}-\d\d-\d\dT00:00:00|try again at \d{4})/,
            );
            assert.equal(answer.headers.get('x-should-retry'), 'false');
          }
          return answer.status;
        }),
      );
      const served = statuses.filter((status) => status === 200).length;
      assert.equal(statuses.filter((status) => status === 402).length, 64 - served);
      assert.ok(served > 0 && served * TOKENS <= 21 * TOKENS, `${served} calls were served`);
      const last = await rig.post(chat, CHAT);
      assert.match(await last.text(), /resets at \d{4}-\d\d-\d\dT00:00:00/);
      const rows = await rig.calls(65);
      assert.equal(rows.filter(({ outcome }) => outcome === 'denied').length, 65 - served);
      const books = createBooksReader(rig.data);
      const met = books.listMetBudgets(0);
      assert.deepEqual(
        met.map(({ scope, session_id, task_id }) => [scope, session_id, task_id]),
        [['day', 3, 2]],
      );
      assert.ok((books.limitedUntil(3) ?? 0) > Date.now());
      books.close();
    } finally {
      await rig.close();
    }
  });

  test("a spent budget is reported in each protocol's own form, also for streams, and booked as denied", async () => {
    const rig = await open({ settings: { budgetTokensDay: 1 } });
    const turn = [{ role: 'user', parts: [{ text: 'Hello' }] }];
    const told: [
      path: string,
      body: object,
      word: (error: Record<string, unknown>) => unknown,
      expected: string,
    ][] = [
      [chat, CHAT, ({ type }) => type, 'insufficient_quota'],
      [chat, { ...CHAT, stream: true }, ({ code }) => code, 'budget_exceeded'],
      ['/v1/responses', { model: MODEL, input: 'Hello' }, ({ code }) => code, 'budget_exceeded'],
      ['/v1/embeddings', { model: MODEL, input: 'Hello' }, ({ code }) => code, 'budget_exceeded'],
      ['/v1/messages', CHAT, ({ type }) => type, 'billing_error'],
      [
        `/v1beta/models/${MODEL}:generateContent`,
        { contents: turn },
        ({ status }) => status,
        'FAILED_PRECONDITION',
      ],
      [
        `/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`,
        { contents: turn },
        ({ code }) => String(code),
        '402',
      ],
    ];
    try {
      upstream.plan('none');
      assert.equal((await rig.post(chat, CHAT)).status, 200);
      for (const [path, body, word, expected] of told) {
        const answer = await rig.post(path, body);
        const { error } = (await answer.json()) as { error: Record<string, unknown> };
        assert.deepEqual([answer.status, word(error)], [402, expected], path);
        assert.match(String(error.message), /resets at \d{4}-\d\d-\d\dT00:00:00/);
        assert.match(answer.headers.get('x-svc-reset') ?? '', /T00:00:00/);
        assert.equal(answer.headers.get('x-should-retry'), 'false');
      }
      const rows = await rig.calls(1 + told.length);
      assert.equal(rows.filter(({ outcome }) => outcome === 'denied').length, told.length);
    } finally {
      await rig.close();
    }
  });

  test('a task has its own budget, which includes earlier sessions', async () => {
    const rig = await open();
    try {
      const first = await rig.issueKey({ sessionId: 's-11', taskId: 't-7', budgetTokens: TOKENS });
      assert.equal((await rig.post(chat, CHAT, { key: first })).status, 200);
      const second = await rig.issueKey({ sessionId: 's-12', taskId: 't-7', budgetTokens: TOKENS });
      assert.equal((await rig.post(chat, CHAT, { key: second })).status, 402);
      assert.equal((await rig.post(chat, CHAT)).status, 200, 'another task continues');
    } finally {
      await rig.close();
    }
  });

  test('a client that disconnects ends the upstream call immediately, and is not its fault', async () => {
    const rig = await open({ limits: { attempts: 1 } });
    try {
      upstream.plan('stall_before');
      const leaving = new AbortController();
      const before = upstream.asked.length;
      const call = rig.post(chat, CHAT, { signal: leaving.signal });
      await until(() => upstream.asked.length > before);
      leaving.abort();
      await assert.rejects(call);
      await until(upstream.closedByClient, 'the upstream to hear of it');
      const [gone] = await rig.calls(1);
      assert.deepEqual([gone?.outcome, gone?.status], ['client_gone', 499]);
      upstream.plan('stall_within');
      const later = new AbortController();
      const answer = await rig.post(chat, { ...CHAT, stream: true }, { signal: later.signal });
      await answer.body?.getReader().read();
      later.abort();
      await until(upstream.closedByClient, 'the upstream to hear of it');
      const row = (await rig.calls(2)).at(-1)!;
      assert.equal(row.outcome, 'client_gone');
      assert.ok(row.input > 0 && row.output > 0 && row.is_estimated === 1);
      upstream.plan('none');
      const state = await fetch(`${rig.url}/-/status`, {
        headers: { authorization: `Bearer ${rig.gateway.token}` },
      });
      const { providers } = (await state.json()) as { providers: { lastFailure: unknown }[] };
      assert.equal(providers[0]?.lastFailure, null);
    } finally {
      await rig.close();
    }
  });

  test('another provider is asked before the first byte, and never after it', async () => {
    const other = await startUpstream();
    const providers = [
      makeProvider(`${upstream.url}/v1`, { name: 'first', tier: 'local' }),
      makeProvider(`${other.url}/v1`, { name: 'second' }),
    ];
    const rig = await open({ settings: { providers } });
    try {
      for (const fault of [
        'reset_before',
        'html_502',
        'status_429_seconds',
        'status_401_with_key',
      ] as const) {
        upstream.plan(fault);
        const answer = await rig.post(chat, CHAT);
        assert.deepEqual([answer.status, answer.headers.get('x-svc-provider')], [200, 'second'], fault);
        await answer.text();
      }
      upstream.plan('reset_within');
      await rig.configure({ providers: providers.map((each) => ({ ...each, name: `${each.name}-anew` })) });
      // The client may request the model list in the meantime.
      const calls = (): number => other.asked.filter(({ path }) => path.endsWith(chat)).length;
      const before = calls();
      const cut = await rig.post(chat, { ...CHAT, stream: true });
      assert.equal(cut.headers.get('x-svc-provider'), 'first-anew');
      await assert.rejects(cut.text());
      assert.equal(calls(), before);
    } finally {
      await rig.close();
      await other.close();
    }
  });

  test("a client's mistake cools down no provider, and the next one is asked for a missing model", async () => {
    const other = await startUpstream();
    const providers = [
      makeProvider(`${upstream.url}/v1`, { name: 'first', tier: 'local' }),
      makeProvider(`${other.url}/v1`, { name: 'second' }),
    ];
    const rig = await open({ settings: { providers } });
    const own = makeProvider(`${upstream.url}/v1`, { name: 'own', key: null, takesClientKey: true });
    const readHealth = async () => {
      const state = await fetch(`${rig.url}/-/status`, {
        headers: { authorization: `Bearer ${rig.gateway.token}` },
      });
      const { providers: found } = (await state.json()) as {
        providers: { coolUntil: number | null; lastFailure: unknown }[];
      };
      return found.map(({ coolUntil, lastFailure }) => [coolUntil, lastFailure]);
    };
    try {
      for (const [fault, status, provider] of [
        ['status_400', 400, 'first'],
        ['status_404', 200, 'second'],
      ] as const) {
        upstream.plan(fault);
        for (let turn = 0; turn < 4; turn += 1) {
          const answer = await rig.post(chat, CHAT);
          assert.deepEqual([answer.status, answer.headers.get('x-svc-provider')], [status, provider]);
          await answer.text();
        }
      }
      assert.deepEqual((await readHealth())[0], [null, null]);
      await rig.configure({ providers: [own] });
      upstream.plan('status_429_seconds');
      assert.equal((await rig.post(chat, CHAT)).status, 429);
      assert.deepEqual(
        await readHealth(),
        [[null, null]],
        "a limit on the client's own account does not affect the provider",
      );
    } finally {
      await rig.close();
      await other.close();
    }
  });

  test('a cache repeats an answer exactly, streams too, and never a failure', async () => {
    const rig = await open({ settings: { cacheTtlSec: 60 } });
    try {
      for (const isStream of [false, true]) {
        const body = { ...CHAT, stream: isStream };
        upstream.plan(isStream ? 'ends_early' : 'status_400', 'none');
        await (await rig.post(chat, body)).text().catch(() => '');
        const before = upstream.asked.length;
        const [first, second] = [await rig.post(chat, body), await rig.post(chat, body)];
        assert.equal(second.headers.get('x-svc-cache'), 'hit');
        assert.equal(first.headers.get('x-svc-cache'), null);
        const text = await first.text();
        assert.equal(await second.text(), text);
        assert.match(text, isStream ? /\[DONE\]/ : new RegExp(WORDS));
        assert.equal(
          second.headers.get('content-type')?.split(';')[0],
          isStream ? 'text/event-stream' : 'application/json',
        );
        assert.equal(upstream.asked.length, before + 1);
        await (await rig.post(chat, { ...body, temperature: 1 })).text();
        assert.equal(upstream.asked.length, before + 2);
      }
      const body = { ...CHAT, stream: false };
      await rig.configure({
        providers: [makeProvider(`${upstream.url}/v1`, { name: 'other' })],
        cacheTtlSec: 60,
      });
      assert.equal(
        (await rig.post(chat, body)).headers.get('x-svc-provider'),
        'other',
        'another provider may accept the request',
      );
    } finally {
      await rig.close();
    }
  });

  test('a cached answer serves all keys of the gateway, and no other account at the provider', async () => {
    const providers = [makeProvider(`${upstream.url}/v1`, { key: null, takesClientKey: true })];
    const rig = await open({ settings: { cacheTtlSec: 60, providers } });
    const ask = async (own: Record<string, string>, key = rig.runKey): Promise<string | null> => {
      const answer = await rig.post(`/s/${key}${chat}`, CHAT, { key: null, headers: own });
      await answer.text();
      return answer.headers.get('x-svc-cache');
    };
    try {
      upstream.plan('none');
      assert.equal(await ask({ authorization: 'Bearer sk-mine' }), null);
      assert.equal(await ask({ authorization: 'Bearer sk-mine' }), 'hit');
      assert.equal(await ask({ authorization: 'Bearer sk-mine' }, rig.personKey), 'hit');
      assert.equal(await ask({ authorization: 'Bearer sk-other' }), null);
      assert.equal(await ask({}), null);
    } finally {
      await rig.close();
    }
  });

  test("a killed gateway's forwarded calls are in the books of the next one", async () => {
    const { openBooks } = await import('../../../../engine/gateway/server/books.ts');
    const rig = await open();
    upstream.plan('none');
    await (await rig.post(chat, CHAT)).text();
    const [row] = await rig.calls(1);
    const books = openBooks(rig.data, { now: Date.now, isAlone: false });
    books.note({ ...row!, id: books.nextId(), outcome: 'open', ended_at: null });
    books.close();
    const next = openBooks(rig.data, { now: Date.now, isAlone: true });
    assert.equal(next.spentByTask(2), 2 * TOKENS);
    next.close();
    assert.deepEqual((await rig.calls(2)).map(({ outcome }) => outcome).sort(), ['lost', 'ok']);
    await rig.close();
  });
});
