import assert from 'node:assert/strict';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { contentLogPath } from '../../../../engine/gateway/content-choices.ts';
import { createContentLog, MOST_CONTENT_BYTES } from '../../../../engine/gateway/server/content-log.ts';
import { MODEL, startUpstream, type Upstream, WORDS } from '../../../../fixtures/upstream/upstream.ts';
import { type GatewayRig, makeGateway, makeProvider, REAL_KEY } from '../../../support/gateway/gateway.ts';
import { until } from '../../../support/wait.ts';

const QUESTION = 'what is said between these two is nobody’s business';
const ask = (stream = false, content = QUESTION): object => ({
  model: MODEL,
  stream,
  messages: [{ role: 'user', content }],
});
const chat = '/v1/chat/completions';

interface Line {
  outcome: string | null;
  status: number;
  request: string;
  answer: string;
  request_bytes: number;
}

describe('the content of calls', () => {
  let upstream: Upstream;
  let rig: GatewayRig;
  before(async () => {
    upstream = await startUpstream();
    rig = await makeGateway({ settings: { providers: [makeProvider(`${upstream.url}/v1`)] } });
  });
  after(async () => {
    await rig.close();
    await upstream.close();
  });
  beforeEach(() => upstream.plan('none'));
  const file = (holder: string): string => contentLogPath(rig.data, holder);
  const readLines = (holder: string): Line[] => {
    if (lstatSync(file(holder), { throwIfNoEntry: false }) === undefined) return [];
    const lines = readFileSync(file(holder), 'utf8').trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as Line);
  };
  const waitForLines = (holder: string, count: number): Promise<Line[]> =>
    until(() => {
      const lines = readLines(holder);
      return lines.length >= count ? lines : null;
    }, `${count} lines of ${holder}`);
  /** Reports whether any file of the data folder or any logged line contains the text. */
  const isKept = (text: string): boolean =>
    rig.logged.some((line) => line.includes(text)) ||
    readdirSync(rig.data, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .some((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(text));

  test('content is logged nowhere by default, however a call ends', async () => {
    for (const fault of ['none', 'status_400', 'reset_within', 'html_502'] as const)
      for (const stream of [false, true]) {
        upstream.plan(fault);
        await (await rig.post(chat, ask(stream))).text().catch(() => null);
      }
    await rig.calls(8);
    assert.ok(rig.logged.length >= 8);
    assert.equal(isKept(QUESTION), false);
    assert.equal(isKept(WORDS), false);
  });

  test('content is logged for the session that a person has chosen, and for no other, until it ends', async () => {
    await rig.configure({ contentOf: ['s-3'] });
    const own = await (await rig.post(chat, ask())).text();
    assert.ok(own.includes(WORDS));
    const streamed = await (await rig.post(chat, ask(true))).text();
    upstream.plan('status_400');
    const failed = await (await rig.post(chat, ask())).text();
    upstream.plan('none');
    await (await rig.post(chat, ask(false, 'of a person'), { key: rig.personKey })).text();
    const other = await rig.issueKey({ sessionId: 's-4' });
    await (await rig.post(chat, ask(false, 'of another session'), { key: other })).text();
    const lines = await waitForLines('s-3', 3);
    assert.deepEqual(
      lines.map(({ status, outcome, request, answer }) => [
        status,
        outcome,
        (JSON.parse(request) as { messages: { content: string }[] }).messages[0]?.content,
        answer,
      ]),
      [
        [200, 'ok', QUESTION, own],
        [200, 'ok', QUESTION, streamed],
        [400, 'failed', QUESTION, failed],
      ],
    );
    assert.equal(isKept('of a person') || isKept('of another session'), false);
    assert.equal(lstatSync(file('s-3')).mode & 0o777, 0o600);
    await rig.configure({ contentOf: [] });
    await (await rig.post(chat, ask(false, 'after it'))).text();
    assert.equal(isKept('after it'), false);
  });

  test("content is logged for a person's key, including stub and failed answers, and never with a provider key", async () => {
    await rig.configure({ contentOf: ['key:ada'] });
    const post = async (): Promise<string> => (await rig.post(chat, ask(), { key: rig.personKey })).text();
    upstream.plan('key_within');
    await post();
    upstream.plan('none');
    await rig.configure({ contentOf: ['key:ada'], mode: 'stub' });
    const stub = await post();
    await rig.configure({ contentOf: ['key:ada'], mode: 'off' });
    const off = await post();
    const lines = await waitForLines('key:ada', 3);
    assert.deepEqual(
      lines.slice(1).map(({ answer, outcome, status }) => [answer, outcome, status]),
      [
        [stub, 'stub', 200],
        [off, null, 503],
      ],
    );
    assert.match(lines[0]?.answer ?? '', /\[key\]/);
    assert.equal(isKept(REAL_KEY) || isKept(rig.personKey), false);
    await rig.configure({});
  });

  test('content of a huge request is logged with its start and its size', async () => {
    await rig.configure({ contentOf: ['s-3'], mode: 'stub' });
    const before = readLines('s-3').length;
    await (await rig.post(chat, ask(false, 'x'.repeat(MOST_CONTENT_BYTES)))).text();
    const line = (await waitForLines('s-3', before + 1)).at(-1);
    assert.equal(line?.request.length, MOST_CONTENT_BYTES);
    assert.ok((line?.request_bytes ?? 0) > MOST_CONTENT_BYTES);
    await rig.configure({});
  });

  test('a full content log is rotated, and a folder that cannot be written ends no call', async () => {
    const warned: unknown[] = [];
    const log = { info() {}, warn: (facts: object) => void warned.push(facts), error() {} };
    const write = (data: string): void => {
      const call = {
        holder: { kind: 'person', name: 'bob' },
        body: Buffer.from(QUESTION),
        response: { write() {}, end() {}, headersSent: true, statusCode: 200 },
        row: { id: 1, started_at: 0, outcome: 'ok' },
      };
      const content = createContentLog({
        data,
        chosen: () => ['key:bob'],
        now: Date.now,
        log,
        mostFileBytes: 600,
      });
      content.watch(call as never)?.();
    };
    for (let count = 0; count < 3; count += 1) write(rig.data);
    assert.ok(lstatSync(file('key:bob')).size <= 600);
    assert.ok(lstatSync(`${file('key:bob')}.old`).size <= 600);
    assert.deepEqual(warned, []);
    write(join(rig.data, 'nowhere'));
    assert.equal(warned.length, 1);
  });
});
