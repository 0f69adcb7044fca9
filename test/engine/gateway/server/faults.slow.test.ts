import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { CallOutcome, CallRow } from '../../../../engine/gateway/books/schema.ts';
import type { Protocol } from '../../../../engine/gateway/protocol.ts';
import {
  type Fault,
  MODEL,
  RETRY_AFTER_SEC,
  startUpstream,
  type Upstream,
  WORDS,
} from '../../../../fixtures/upstream/upstream.ts';
import {
  CLOSED_PORT,
  type GatewayRig,
  makeGateway,
  makeProvider,
  REAL_KEY,
} from '../../../support/gateway/gateway.ts';

const PROTOCOLS: readonly Protocol[] = ['chat', 'responses', 'messages', 'gemini'];

/** A client's request and its target. */
function requestFor(protocol: Protocol, isStream: boolean, model: string): { path: string; body: object } {
  const turn = [{ role: 'user', content: 'Hello' }];
  if (protocol === 'gemini')
    return {
      path: `/v1beta/models/${encodeURIComponent(model)}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      body: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
    };
  const stream = isStream ? { stream: true } : {};
  if (protocol === 'responses') return { path: '/v1/responses', body: { model, input: turn, ...stream } };
  const path = protocol === 'chat' ? '/v1/chat/completions' : '/v1/messages';
  return { path, body: { model, max_tokens: 100, messages: turn, ...stream } };
}

/** The response: `isWhole` is true if the connection ended properly. */
interface Got {
  status: number;
  headers: Headers;
  text: string;
  isWhole: boolean;
}

async function read(answer: Response): Promise<Got> {
  const chunks: Uint8Array[] = [];
  let isWhole = true;
  try {
    for await (const chunk of answer.body ?? []) chunks.push(chunk);
  } catch {
    isWhole = false;
  }
  return {
    status: answer.status,
    headers: answer.headers,
    text: Buffer.concat(chunks).toString('utf8'),
    isWhole,
  };
}

/** Returns the text of an answer in any format. */
function wordsOf(protocol: Protocol, isStream: boolean, text: string): string {
  const events = isStream
    ? text
        .replace(/^\uFEFF/, '')
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:') && !line.includes('[DONE]'))
        .map((line) => JSON.parse(line.slice(5)))
    : [JSON.parse(text)];
  const pick: Record<Protocol, (event: never) => string | undefined> = {
    chat: ({ choices }: never) =>
      (choices as never[])
        ?.map(
          ({ delta, message }: never) =>
            (delta as { content?: string })?.content ?? (message as { content?: string })?.content ?? '',
        )
        .join(''),
    responses: (event: { type?: string; delta?: string; output?: { content: { text: string }[] }[] }) =>
      event.type === 'response.output_text.delta' ? event.delta : event.output?.[0]?.content[0]?.text,
    messages: (event: { delta?: { text?: string }; content?: { text: string }[] }) =>
      event.delta?.text ?? event.content?.[0]?.text,
    gemini: (event: { candidates?: { content: { parts: { text: string }[] } }[] }) =>
      event.candidates?.[0]?.content.parts[0]?.text,
  };
  return events.map((event) => pick[protocol](event as never) ?? '').join('');
}

/** Checks that an error is one that the caller's own library understands. */
function assertErrorShape(protocol: Protocol, body: { [key: string]: unknown }, status: number): void {
  const error = body.error as { message?: unknown; type?: unknown; code?: unknown; status?: unknown };
  assert.equal(typeof error?.message, 'string', JSON.stringify(body));
  if (protocol === 'messages') assert.deepEqual([body.type, typeof error.type], ['error', 'string']);
  else if (protocol === 'gemini') assert.deepEqual([error.code, typeof error.status], [status, 'string']);
  else assert.equal(typeof error.type, 'string');
}

/** Returns the last event of a cut stream. */
function assertStreamError(protocol: Protocol, text: string): void {
  const last = text.trimEnd().split('\n\n').at(-1) ?? '';
  const data = JSON.parse(
    last
      .split('\n')
      .find((line) => line.startsWith('data:'))!
      .slice(5),
  );
  if (protocol === 'responses') assert.deepEqual([data.type, typeof data.message], ['error', 'string'], last);
  else assertErrorShape(protocol, data, 502);
}

interface Expected {
  status: number;
  outcome: CallOutcome;
  /** The client receives the whole text. */
  isAnswer?: boolean;
  /** The stream started but could not be finished. */
  isCut?: boolean;
  /** Token counts as reported by the upstream, otherwise estimated, or none. */
  usage?: 'told' | 'estimated' | 'none';
  /** The error comes from the upstream. */
  isRelayed?: boolean;
  attempts?: number;
}

const ANSWERED: Expected = { status: 200, outcome: 'ok', isAnswer: true, usage: 'told' };
const BAD: Expected = { status: 502, outcome: 'failed', usage: 'none', attempts: 2 };
const CUT: Expected = { status: 200, outcome: 'cut', isCut: true, usage: 'estimated' };
const LATE: Expected = { status: 504, outcome: 'failed', usage: 'estimated', attempts: 1 };
const relayed = (status: number, attempts = 1): Expected => ({
  status,
  outcome: 'failed',
  isRelayed: true,
  usage: 'none',
  attempts,
});

/** The expectation for a whole answer, and for a stream if it differs. */
const TABLE: Readonly<Record<Fault, [Expected, Expected?]>> = {
  none: [ANSWERED],
  reset_before: [BAD],
  reset_after_head: [BAD],
  reset_within: [BAD, CUT],
  reset_after: [BAD, ANSWERED],
  closed_before: [BAD],
  closed_within: [BAD, CUT],
  short_of_length: [BAD, ANSWERED],
  ends_early: [BAD, CUT],
  html_502: [BAD],
  html_200: [BAD],
  never_streams: [ANSWERED, { ...BAD, attempts: 1 }],
  untyped: [ANSWERED],
  status_400: [relayed(400)],
  status_401_with_key: [{ status: 401, outcome: 'failed', usage: 'none', attempts: 1 }],
  status_429_seconds: [relayed(429)],
  status_429_date: [relayed(429)],
  status_404: [relayed(404)],
  status_503: [relayed(503, 2)],
  // A provider that names a time is not retried before it.
  status_503_seconds: [relayed(503)],
  status_529: [relayed(529)],
  error_200: [relayed(500, 2)],
  redirect: [{ ...BAD, attempts: 1 }],
  stall_before: [LATE],
  stall_after_head: [LATE],
  stall_within: [LATE, CUT],
  no_end: [LATE, ANSWERED],
  flood: [{ ...BAD, attempts: 1 }, ANSWERED],
  one_byte_chunks: [ANSWERED],
  byte_order_mark: [ANSWERED],
  crlf: [ANSWERED],
  comments: [ANSWERED],
  no_last_blank_line: [ANSWERED],
  gzip: [ANSWERED],
  gzip_cut: [BAD, CUT],
  many_small: [ANSWERED],
  error_within: [ANSWERED, { status: 200, outcome: 'failed', usage: 'estimated' }],
  usage_never: [{ ...ANSWERED, usage: 'estimated' }],
  usage_always: [ANSWERED],
  key_in_header: [ANSWERED],
  key_within: [ANSWERED, { status: 200, outcome: 'failed', usage: 'estimated' }],
};

/** A chat stream is complete once it has a finish reason; later connection errors do not matter. */
const IN_CHAT: Partial<Readonly<Record<Fault, Expected>>> = { gzip_cut: ANSWERED };

/** A timeout ends these, so it is short; other faults must not hit it on a busy machine. */
const STALLS: readonly Fault[] = ['stall_before', 'stall_after_head'];
const SHORT = { firstByteMs: 150, shortFirstByteMs: 150, idleMs: 150 };
/** These must start, however long that takes. */
const BREAKS: readonly Fault[] = ['stall_within', 'no_end'];
const SHORT_IDLE = { idleMs: 500 };

describe("a call survives every fault of an upstream, and ends in the caller's own form, booked once", {
  concurrency: true,
}, () => {
  for (const protocol of PROTOCOLS)
    describe(protocol, { concurrency: false }, () => {
      let upstream: Upstream;
      let patient: GatewayRig;
      let hasty: GatewayRig;
      let restless: GatewayRig;
      before(async () => {
        upstream = await startUpstream();
        const base = protocol === 'chat' || protocol === 'responses' ? `${upstream.url}/v1` : upstream.url;
        const settings = {
          providers: [
            makeProvider(base, { protocols: [protocol] }),
            makeProvider(`http://127.0.0.1:${CLOSED_PORT}`, {
              name: 'refused',
              protocols: [protocol],
            }),
          ],
        };
        const limits = { attempts: 2, pauseMs: 1, mostBytes: 1024 ** 2 };
        patient = await makeGateway({ settings, limits });
        hasty = await makeGateway({ settings, limits: { ...limits, ...SHORT } });
        restless = await makeGateway({ settings, limits: { ...limits, ...SHORT_IDLE } });
      });
      after(async () => {
        await patient.close();
        await hasty.close();
        await restless.close();
        await upstream.close();
      });
      const booked = new Map<GatewayRig, number>();
      async function readLastRow(rig: GatewayRig): Promise<CallRow> {
        const count = (booked.get(rig) ?? 0) + 1;
        booked.set(rig, count);
        const rows = await rig.calls(count);
        assert.equal(rows.length, count);
        return rows.at(-1)!;
      }

      for (const isStream of [false, true])
        test(`an unreachable upstream: ${isStream ? 'a stream' : 'one answer'}`, async () => {
          const { path, body } = requestFor(protocol, isStream, `svc/refused/${MODEL}`);
          const got = await read(await patient.post(path, body));
          assert.equal(got.status, 502);
          const error = JSON.parse(got.text);
          assertErrorShape(protocol, error, 502);
          assert.match(error.error.message, /refused: the upstream cannot be reached \(ECONNREFUSED\)/);
          const row = await readLastRow(patient);
          assert.deepEqual([row.outcome, row.attempts, row.input, row.output], ['failed', 2, 0, 0]);
        });

      for (const [fault, [whole, stream]] of Object.entries(TABLE) as [Fault, [Expected, Expected?]][])
        for (const isStream of [false, true])
          test(`${fault}: ${isStream ? 'a stream' : 'one answer'}`, async () => {
            const own = protocol === 'chat' ? IN_CHAT[fault] : undefined;
            const expected = isStream ? (own ?? stream ?? whole) : whole;
            const rig = STALLS.includes(fault) ? hasty : BREAKS.includes(fault) ? restless : patient;
            upstream.plan(fault);
            const { path, body } = requestFor(protocol, isStream, `svc/up/${MODEL}`);
            const got = await read(await rig.post(path, body));
            assert.equal(got.status, expected.status, got.text);
            assert.doesNotMatch(`${got.text}${JSON.stringify([...got.headers])}`, new RegExp(REAL_KEY));
            assert.equal(got.isWhole, expected.isCut !== true, 'the connection ends like the answer');
            if (expected.isAnswer) {
              const words = wordsOf(protocol, isStream, got.text);
              if (fault === 'many_small' && isStream)
                assert.ok(words.length > 1000 && !words.includes('\uFFFD'));
              else assert.equal(words, WORDS);
            }
            if (expected.isCut) assertStreamError(protocol, got.text);
            if (expected.status >= 400) {
              const error = JSON.parse(got.text);
              if (expected.isRelayed) assert.equal(error.error.type, 'upstream');
              else assertErrorShape(protocol, error, expected.status);
            }
            if (fault.startsWith('status_429')) assert.ok(got.headers.get('retry-after'));
            if (fault.endsWith('_seconds'))
              assert.equal(got.headers.get('retry-after'), String(RETRY_AFTER_SEC));
            const row = await readLastRow(rig);
            assert.equal(row.outcome, expected.outcome);
            if (expected.attempts !== undefined) assert.equal(row.attempts, expected.attempts);
            const tokens = [row.input, row.cache_read, row.output];
            if (expected.usage === 'told') assert.deepEqual([tokens, row.is_estimated], [[9, 3, 5], 0]);
            else if (expected.usage === 'none') assert.deepEqual(tokens, [0, 0, 0]);
            else assert.ok(row.is_estimated === 1 && row.input > 0, JSON.stringify(row));
            assert.doesNotMatch(rig.logged.join(''), new RegExp(`${REAL_KEY}|Hello|Grüße`));
          });
    });
});
