import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { locateProgram } from '../../../../engine/core/base/own-package.ts';
import { createForwardedReader } from '../../../../engine/gateway/index.ts';
import { findJsonMembers } from '../../../../engine/gateway/json-members.ts';
import type { GatewaySettings } from '../../../../engine/gateway/settings.ts';
import { readCorpus } from '../../../support/gateway/corpus.ts';
import { type GatewayRig, LIVE_ZONE, makeGateway, makeProvider } from '../../../support/gateway/gateway.ts';
import { until } from '../../../support/wait.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

const shortener = locateProgram('shorten-output');
/** Longer than any run of these tests. */
const PATIENT = { shortener, limits: { shorteningMs: 60_000 } };

const [one, other] = readCorpus('noise').filter(({ name }) => ['apt-install', 'cargo-test'].includes(name));
const source = readCorpus('content').find(({ text }) => text.length > 5000);
assert.ok(one !== undefined && other !== undefined && source !== undefined);

/** Reports the first difference between two long texts instead of printing both. */
function assertSame(found: string | undefined, wanted: string | undefined, what = ''): void {
  if (found === wanted) return;
  const at = [...(wanted ?? '')].findIndex((letter, index) => found?.[index] !== letter);
  const part = (text: string | undefined) => JSON.stringify(text?.slice(Math.max(0, at - 40), at + 80));
  assert.fail(`${what} differs at ${at}: ${part(found)} instead of ${part(wanted)}`);
}

/** An upstream that records the bodies that it received, and answers each protocol briefly. */
async function startListener(): Promise<{ url: string; bodies: string[]; server: Server }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      bodies.push(body);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, server };
}

interface Turn {
  tool: string;
  output: string;
  /** The tool's input. */
  input?: object;
  /** The call's id; by default `c` and its number; null for none, as in Gemini's protocol. */
  id?: string | null;
}

const idOf = ({ id }: Turn, at: number): string => id ?? `c${at}`;

/** For each protocol: a conversation of successive tool calls, and the output in a message. */
const FORMS: Record<
  string,
  {
    path: string;
    protocol: 'chat' | 'messages' | 'responses' | 'gemini';
    body(turns: readonly Turn[]): Record<string, unknown>;
    outputs(body: never): string[];
  }
> = {
  chat: {
    path: '/v1/chat/completions',
    protocol: 'chat',
    body: (turns) => ({
      model: 'm',
      messages: [
        { role: 'user', content: 'Go' },
        ...turns.flatMap((turn, at) => [
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: idOf(turn, at),
                type: 'function',
                function: { name: turn.tool, arguments: JSON.stringify(turn.input ?? {}) },
              },
            ],
          },
          { role: 'tool', tool_call_id: idOf(turn, at), content: turn.output },
        ]),
      ],
    }),
    outputs: ({ messages }: { messages: { role: string; content: string }[] }) =>
      messages.filter(({ role }) => role === 'tool').map(({ content }) => content),
  },
  messages: {
    path: '/v1/messages',
    protocol: 'messages',
    body: (turns) => ({
      model: 'm',
      max_tokens: 10,
      messages: [
        { role: 'user', content: 'Go' },
        ...turns.flatMap((turn, at) => [
          {
            role: 'assistant',
            content: [{ type: 'tool_use', id: idOf(turn, at), name: turn.tool, input: turn.input ?? {} }],
          },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: idOf(turn, at),
                content: at % 2 === 0 ? turn.output : [{ type: 'text', text: turn.output }],
                // Claude moves this marker to the last message.
                ...(at === turns.length - 1 ? { cache_control: { type: 'ephemeral' } } : {}),
              },
            ],
          },
        ]),
      ],
    }),
    outputs: ({ messages }: { messages: { role: string; content: never }[] }) =>
      messages.flatMap(({ role, content }) =>
        role === 'user' && Array.isArray(content)
          ? (content as { content: string | { text: string }[] }[]).map((block) =>
              typeof block.content === 'string' ? block.content : (block.content[0]?.text ?? ''),
            )
          : [],
      ),
  },
  responses: {
    path: '/v1/responses',
    protocol: 'responses',
    body: (turns) => ({
      model: 'm',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go' }] },
        ...turns.flatMap((turn, at) => [
          {
            type: 'function_call',
            id: `fc_${at}`,
            call_id: idOf(turn, at),
            name: turn.tool,
            arguments: JSON.stringify(turn.input ?? {}),
          },
          { type: 'function_call_output', call_id: idOf(turn, at), output: turn.output },
        ]),
      ],
    }),
    outputs: ({ input }: { input: { type: string; output: string }[] }) =>
      input.filter(({ type }) => type === 'function_call_output').map(({ output }) => output),
  },
  gemini: {
    path: '/v1beta/models/m:generateContent',
    protocol: 'gemini',
    body: (turns) => ({
      contents: [
        { role: 'user', parts: [{ text: 'Go' }] },
        ...turns.flatMap(({ tool, output, input = {}, id }, at) => [
          { role: 'model', parts: [{ functionCall: { name: tool, args: input } }] },
          {
            role: 'user',
            parts: [
              {
                functionResponse: {
                  name: tool,
                  ...(id === null ? {} : { id: id ?? `c${at}` }),
                  response: { output },
                },
              },
            ],
          },
        ]),
      ],
    }),
    outputs: ({
      contents,
    }: {
      contents: { parts: { functionResponse?: { response: { output: string } } }[] }[];
    }) =>
      contents.flatMap(({ parts }) =>
        parts.flatMap(({ functionResponse: said }) => said?.response.output ?? []),
      ),
  },
};

describe('the live zone of the gateway', () => {
  let upstream: Awaited<ReturnType<typeof startListener>>;
  let rig: GatewayRig;
  const settingsOf = (liveZone: GatewaySettings['liveZone'], url = upstream.url) => ({
    providers: [
      makeProvider(`${url}/v1`, { protocols: Object.values(FORMS).map(({ protocol }) => protocol) }),
    ],
    liveZone,
  });
  before(async () => {
    upstream = await startListener();
    rig = await makeGateway({ settings: settingsOf(LIVE_ZONE), ...PATIENT });
  });
  after(async () => {
    await rig.close();
    upstream.server.closeAllConnections();
    upstream.server.close();
  });

  /** Sends it unchanged; returns the body that the upstream received. */
  async function send(path: string, body: object | string, key?: string): Promise<string> {
    const from = upstream.bodies.length;
    await rig.post(path, body, key === undefined ? {} : { key });
    return upstream.bodies[from] ?? '';
  }
  const bash = (output: string): Turn => ({ tool: 'Bash', output });

  for (const [name, { path, body, outputs }] of Object.entries(FORMS)) {
    const outputsOf = (text: string): string[] => outputs(JSON.parse(text) as never);

    test(`${name}: the last output is shortened with its facts, and repeated byte for byte in later turns`, async () => {
      const key = await rig.issueKey({ sessionId: `s-1${Object.keys(FORMS).indexOf(name)}` });
      const [first = ''] = outputsOf(await send(path, body([bash(one.text)]), key));
      assert.ok(first.length < one.text.length * 0.6, `${first.length} of ${one.text.length}`);
      assert.deepEqual(
        one.facts.filter((fact) => !first.includes(fact)),
        [],
      );
      const second = outputsOf(await send(path, body([bash(one.text), bash(other.text)]), key));
      assertSame(second[0], first);
      assert.ok((second[1] ?? '').length < other.text.length);
      const [, id = ''] = /all: context_retrieve c-([0-9a-f]+)\]/.exec(first) ?? [];
      const reader = createForwardedReader(rig.data);
      assertSame(reader.find(id)?.text, one.text);
      reader.close();
    });

    test(`${name}: an output that was sent whole stays whole, and nothing else is rewritten`, async () => {
      const key = await rig.issueKey({ sessionId: `s-2${Object.keys(FORMS).indexOf(name)}` });
      // Spaces, escapes, a duplicate key, and a number that a double cannot hold.
      const asked = JSON.stringify(body([bash(one.text), bash(other.text)]), null, 1)
        .replace('"Go"', '"G\\u006f \\/ é"')
        .replace('{', '{ "odd" : 12345678901234567890 , "odd" : 1.0e2 ,');
      const sent = await send(path, asked, key);
      const whole = JSON.stringify(other.text);
      const [before = '', behind = ''] = asked.split(whole);
      assert.ok(sent.startsWith(before.slice(0, 200)) && sent.endsWith(behind));
      const [kept, shortened = ''] = outputsOf(sent);
      assertSame(kept, one.text);
      assert.ok(shortened.length < other.text.length);
      assert.equal(
        sent.replace(JSON.stringify(shortened), () => whole),
        asked,
      );
    });
  }

  /** Clients' names for the tool that returns a text, and the form of its call. */
  const RETRIEVALS: Omit<Turn, 'output'>[] = [
    { tool: 'mcp__svc__context_retrieve' },
    { tool: 'svc_context_retrieve' },
    { tool: 'mcp_workshop_context_retrieve' },
    { tool: 'workshop-ContextRetrieve' },
    { tool: 'use_mcp_tool', input: { server_name: 'workshop', tool_name: 'context_retrieve' } },
    { tool: 'Bash', input: { command: 'svc context get c-4f9' } },
    {
      tool: 'Bash',
      input: { command: 'cd /srv && SVC_HOME=/h "/opt/my svc/svc" context get c-4f9 --json | head -400' },
    },
    { tool: 'Bash', input: { command: 'npx svc context \\\n  --workspace=/srv get 4f91' } },
    { tool: 'shell', input: { command: ['bash', '-lc', "$SVC 'context' 'get' c-4f9"] } },
    { tool: 'shell', input: { command: ['svc', 'context', 'get', 'c-4f9'] } },
    { tool: 'Bash', input: { command: 'read_back c-0123456789abcdef > all; cat all' } },
  ];

  for (const [name, { path, body, outputs }] of Object.entries(FORMS)) {
    const outputsOf = (text: string): string[] => outputs(JSON.parse(text) as never);

    test(`${name}: a shortened output is whole wherever it is read back, and short where it was`, async () => {
      for (const [at, retrieval] of RETRIEVALS.entries()) {
        const what = `${name}, ${JSON.stringify(retrieval)}`;
        // Some servers reuse one id, and some clients omit it.
        for (const id of [undefined, 'call_0', ...(name === 'gemini' ? [null] : [])]) {
          const key = await rig.issueKey({ sessionId: `s-6${at}` });
          const turns: Turn[] = [{ ...bash(one.text), ...(id === undefined ? {} : { id }) }];
          const [first] = outputsOf(await send(path, body(turns), key));
          assert.ok((first ?? '').length < one.text.length, what);
          turns.push({ ...retrieval, output: one.text, ...(id === undefined ? {} : { id }) });
          for (const more of [[], [bash('short')]]) {
            const sent = outputsOf(await send(path, body([...turns, ...more]), key));
            assertSame(sent[0], first, what);
            assertSame(sent[1], one.text, what);
          }
        }
      }
    });

    test(`${name}: an equal output of another call is judged again, and each turn starts with the same bytes`, async () => {
      for (const [at, id] of [undefined, 'call_0', null].entries()) {
        if (id === null && name !== 'gemini') continue;
        const key = await rig.issueKey({ sessionId: `s-7${Object.keys(FORMS).indexOf(name)}${at}` });
        const turn: Turn = { ...bash(one.text), ...(id === undefined ? {} : { id }) };
        // The first two precede the model's last turn, so they are passed on whole.
        const turns = [turn, { ...turn, tool: 'Read' }, turn];
        const first = outputsOf(await send(path, body(turns), key));
        assertSame(first[0], one.text);
        assertSame(first[1], one.text);
        assert.ok((first[2] ?? '').length < one.text.length);
        turns.push(turn);
        const second = outputsOf(await send(path, body(turns), key));
        for (const [index, text] of first.entries())
          assertSame(second[index], text, `${name} ${id} ${index}`);
        assert.ok((second[3] ?? '').length < one.text.length);
        const third = outputsOf(await send(path, body([...turns, bash('short')]), key));
        for (const [index, text] of second.entries())
          assertSame(third[index], text, `${name} ${id} ${index}`);
      }
    });

    test(`${name}: for a person's own key only texts that the request can read back are shortened`, async () => {
      const tools = {
        chat: [{ type: 'function', function: { name: 'svc-context_retrieve', parameters: {} } }],
        messages: [{ name: 'mcp__svc__context_retrieve', input_schema: { type: 'object' } }],
        responses: [{ type: 'namespace', name: 'mcp__svc', tools: [{ name: 'context_retrieve' }] }],
        gemini: [{ functionDeclarations: [{ name: 'svc__context_retrieve' }] }],
      }[name];
      const other = { tools: [{ name: 'Bash' }, { name: 'context_crush', note: 'context_retrieve' }] };
      const asked = (opening: string, more: object): string =>
        JSON.stringify({ ...body([bash(one.text)]), ...more }).replace('"Go"', JSON.stringify(opening));
      const key = rig.personKey;
      const without = asked('Go', other);
      assertSame(await send(path, without, key), without, 'without the tool');
      const first = outputsOf(await send(path, asked('Go', { tools }), key));
      assert.ok((first[0] ?? '').length < one.text.length);
      // Another program of the same person, without this tool.
      assertSame(await send(path, without, key), without, 'another program');
      // Another conversation, in which it precedes the model's last turn.
      const elsewhere = JSON.stringify({ ...body([bash(one.text), bash('short')]), tools }).replace(
        '"Go"',
        '"Go on"',
      );
      assertSame(await send(path, elsewhere, key), elsewhere, 'another conversation');
      // The same conversation, even if its program marks other messages.
      const again = JSON.stringify({ ...body([bash(one.text), bash('short')]), tools });
      assertSame(outputsOf(await send(path, again, key))[0], first[0], 'the next turn');
      await rig.configure(settingsOf({ ...LIVE_ZONE, stores: false }));
      const unstored = asked('Stored nowhere', { tools });
      assertSame(await send(path, unstored, key), unstored, 'without storing');
      await rig.configure(settingsOf(LIVE_ZONE));
    });
  }

  const chat = FORMS.chat as (typeof FORMS)[string];
  const chatOutputs = (text: string): string[] => chat.outputs(JSON.parse(text) as never);

  test('protected tools, unnamed tools, code and short outputs pass byte for byte', async () => {
    for (const turn of [
      { tool: 'Read', output: one.text },
      { tool: 'mcp__svc__context_retrieve', output: one.text },
      { tool: 'Bash', output: source.text },
      { tool: 'Bash', output: 'all 3 tests passed' },
    ]) {
      const asked = JSON.stringify(chat.body([turn]));
      assertSame(await send(chat.path, asked), asked, turn.tool);
    }
    const nameless = JSON.stringify({
      model: 'm',
      messages: [{ role: 'tool', tool_call_id: 'gone', content: one.text }],
    });
    assertSame(await send(chat.path, nameless), nameless);
    await rig.configure(settingsOf({ ...LIVE_ZONE, protectedTools: ['bash'] }));
    const asked = JSON.stringify(chat.body([bash(one.text)]));
    assertSame(await send(chat.path, asked), asked);
    await rig.configure(settingsOf(LIVE_ZONE));
  });

  test('a shortened output is whole where the same text is something else, such as a written file', async () => {
    const key = await rig.issueKey({ sessionId: 's-31' });
    await send(chat.path, chat.body([bash(one.text)]), key);
    const asked = chat.body([bash(one.text)]) as { messages: object[] };
    const args = { role: 'assistant', content: one.text };
    asked.messages.push(args, { role: 'user', content: one.text });
    const { messages } = JSON.parse(await send(chat.path, asked, key)) as { messages: object[] };
    assert.notDeepEqual(messages[2], asked.messages[2]);
    assert.deepEqual(messages.slice(3), asked.messages.slice(3));
  });

  test('each turn starts with the bytes of the one before, for any conversation', async () => {
    let seed = 7;
    const pick = <T>(list: readonly T[]): T => {
      seed = (seed * 48_271) % 2_147_483_647;
      return list[seed % list.length] as T;
    };
    const outputs = [...readCorpus('noise'), ...readCorpus('content')].map(({ text }) => text);
    for (const [name, form] of Object.entries(FORMS)) {
      // Claude marks its last message differently from the earlier ones.
      if (name === 'messages') continue;
      const key = await rig.issueKey({ sessionId: `s-5${Object.keys(FORMS).indexOf(name)}` });
      const turns: Turn[] = [];
      let before = '';
      for (let turn = 0; turn < 12; turn += 1) {
        turns.push({ tool: pick(['Bash', 'exec_command', 'Read']), output: pick(outputs) });
        const sent = await send(form.path, form.body(turns), key);
        assert.ok(sent.startsWith(before), `${name}, turn ${turn}`);
        before = sent.replace(/\]\}$/, '');
      }
      assert.match(before, /svc-crush: /);
    }
  });

  test('nothing of another session is reused', async () => {
    const key = await rig.issueKey({ sessionId: 's-32' });
    const turns = [bash(one.text), bash('short')];
    assertSame(chatOutputs(await send(chat.path, chat.body(turns), key))[0], one.text);
  });

  test('a later gateway continues with the same bytes, even when shortening is off', async () => {
    const key = await rig.issueKey({ sessionId: 's-33' });
    const [first] = chatOutputs(await send(chat.path, chat.body([bash(one.text)]), key));
    const earlier = rig;
    const { data } = earlier;
    await earlier.gateway.close();
    const again = await makeGateway({
      settings: settingsOf({ ...LIVE_ZONE, crushes: false }),
      ...PATIENT,
      data,
    });
    try {
      const second = await again.issueKey({ sessionId: 's-33' });
      const from = upstream.bodies.length;
      await again.post(chat.path, chat.body([bash(one.text), bash('short')]), { key: second });
      assertSame(chatOutputs(upstream.bodies[from] ?? '')[0], first);
    } finally {
      await again.close();
      await earlier.close();
    }
    rig = await makeGateway({ settings: settingsOf(LIVE_ZONE), ...PATIENT });
  });

  test('every output is shortened without the live zone; without crushing it is a stub', async () => {
    const key = await rig.issueKey({ sessionId: 's-34' });
    await rig.configure(settingsOf({ ...LIVE_ZONE, onlyLast: false }));
    const both = chatOutputs(await send(chat.path, chat.body([bash(one.text), bash(other.text)]), key));
    assert.ok(both.every((text, at) => text.length < [one, other][at]!.text.length));
    await rig.configure(settingsOf({ ...LIVE_ZONE, crushes: false }));
    const stub = await rig.issueKey({ sessionId: 's-35' });
    const [text = ''] = chatOutputs(await send(chat.path, chat.body([bash(one.text)]), stub));
    assert.match(text, /^\[svc-stored: c-[0-9a-f]{16}, /);
    await rig.configure(settingsOf(null));
    const asked = JSON.stringify(chat.body([bash(one.text)]));
    const off = await rig.issueKey({ sessionId: 's-40' });
    assertSame(await send(chat.path, asked, off), asked);
    await rig.configure(settingsOf(LIVE_ZONE));
  });

  test('a shortened output stays short when shortening is off, and when the limit is raised', async () => {
    const key = await rig.issueKey({ sessionId: 's-39' });
    const [first] = chatOutputs(await send(chat.path, chat.body([bash(one.text)]), key));
    for (const liveZone of [null, { ...LIVE_ZONE, longBytes: 1_000_000 }]) {
      await rig.configure(settingsOf(liveZone));
      const sent = await send(chat.path, chat.body([bash(one.text), bash(other.text)]), key);
      assertSame(chatOutputs(sent)[0], first);
      assertSame(chatOutputs(sent)[1], other.text);
    }
    await rig.configure(settingsOf(LIVE_ZONE));
  });

  test('a text that cannot be stored is sent whole', async () => {
    const { data } = rig;
    const key = await rig.issueKey({ sessionId: 's-36' });
    const { default: Database } = await import('better-sqlite3');
    // Makes sure that the file exists.
    await send(chat.path, chat.body([bash(one.text)]), key);
    const busy = new Database(`${data}/forwarded.db`);
    busy.exec('BEGIN IMMEDIATE');
    const asked = JSON.stringify(chat.body([bash(`${other.text}\nonce more`)]));
    assertSame(await send(chat.path, asked, key), asked);
    busy.exec('ROLLBACK');
    busy.close();
    assert.ok(rig.logged.some((line) => line.includes('not shortened')));
  });

  test('savings are counted by session, without any content', async () => {
    const key = await rig.issueKey({ sessionId: 's-37' });
    const sent = chatOutputs(await send(chat.path, chat.body([bash(one.text)]), key));
    await send(chat.path, chat.body([bash(one.text), bash('short')]), key);
    const reader = createForwardedReader(rig.data);
    const saving = reader.listSavings().find(({ session }) => session === 's-37');
    reader.close();
    assert.deepEqual([saving?.calls, saving?.bytes_in], [1, Buffer.byteLength(one.text)]);
    assert.equal(saving?.bytes_out, Buffer.byteLength(sent[0] ?? ''));
    assert.ok(!rig.logged.join('').includes(one.text.slice(0, 40)));
  });

  test('a body of any form arrives as JSON with the same members', async () => {
    const odd: unknown[] = [
      [],
      'text',
      null,
      [[], {}, 1, null, 'x'.repeat(9000)],
      [{ role: 'tool', content: [[], { text: 7 }, { text: one.text }] }],
      [{ role: 'tool', tool_call_id: 7, content: { text: one.text } }],
      [{ role: 'tool', tool_call_id: 'c0', name: 'Bash', content: [{ type: 'text', text: one.text }] }],
    ];
    for (const messages of odd) {
      const sent = await send(chat.path, { model: 'm', messages, tool: '"tool"' });
      assert.deepEqual(Object.keys(JSON.parse(sent) as object), ['model', 'messages', 'tool']);
      assert.equal(findJsonMembers(Buffer.from(sent))?.length, 3);
    }
  });

  test('a marker names the hash of the stored text', async () => {
    const key = await rig.issueKey({ sessionId: 's-38' });
    const [text = ''] = chatOutputs(await send(chat.path, chat.body([bash(one.text)]), key));
    const hash = createHash('sha256').update(one.text).digest('hex');
    assert.ok(text.includes(`context_retrieve c-${hash.slice(0, 16)}]`));
  });

  /** Opens another gateway on the same upstream while a test runs. */
  async function withGateway(
    options: Parameters<typeof makeGateway>[0],
    run: (send: (turns: readonly Turn[]) => Promise<string[]>, rig: GatewayRig) => Promise<void>,
  ): Promise<void> {
    const own = await makeGateway({ settings: settingsOf(LIVE_ZONE), ...options });
    try {
      await run(async (turns) => {
        const from = upstream.bodies.length;
        const answer = await own.post(chat.path, chat.body(turns));
        assert.equal(answer.status, 200);
        // A new gateway also asks for the list of models.
        return chatOutputs(upstream.bodies.slice(from).find(Boolean) ?? '');
      }, own);
    } finally {
      await own.close();
    }
  }

  test('an output that takes longer than the budget passes whole, and is short from a later turn on', async () => {
    const long = one.text.repeat(Math.ceil(3_000_000 / one.text.length));
    await withGateway({ shortener, limits: { shorteningMs: 1 } }, async (sendTurns, { data }) => {
      assertSame((await sendTurns([bash(long)]))[0], long);
      const reader = createForwardedReader(data);
      await until(() => reader.listSavings().length > 0, 'the thread to finish');
      reader.close();
      const turns = [bash(long), bash('short')];
      await until(async () => (await sendTurns(turns))[0] !== long, 'the output to be short');
      const [short = ''] = await sendTurns(turns);
      assert.ok(short.length < long.length * 0.6);
      assertSame((await sendTurns([...turns, bash('short')]))[0], short);
    });
  });

  const modules = temporaryFolder();
  after(() => rmSync(modules, { recursive: true, force: true }));

  /** Writes a module whose `shortenOutput` is this function; returns its path. */
  function writeShortener(shortenOutput: string): string {
    const file = join(modules, `${createHash('sha256').update(shortenOutput).digest('hex')}.cjs`);
    writeFileSync(file, `exports.shortenOutput = ${shortenOutput};`);
    return file;
  }

  test('outputs pass whole while the thread is stuck, and the gateway still closes', async () => {
    const stuck = writeShortener('() => { for (;;); }');
    await withGateway({ shortener: stuck, limits: { shorteningMs: 20 } }, async (sendTurns) => {
      for (const text of [one.text, other.text]) assertSame((await sendTurns([bash(text)]))[0], text);
    });
  });

  test('an output that ends the thread passes whole, and another thread shortens the next one', async () => {
    const real = `require(${JSON.stringify(shortener)}).shortenOutput`;
    const fatal = writeShortener(
      `(text, options) => text.startsWith('fatal') ? process.exit() : ${real}(text, options)`,
    );
    await withGateway({ ...PATIENT, shortener: fatal }, async (sendTurns, { logged }) => {
      const text = `fatal\n${one.text}`;
      assertSame((await sendTurns([bash(text)]))[0], text);
      assert.ok(logged.some((line) => line.includes('not shortened')));
      const [short = ''] = await sendTurns([bash(one.text)]);
      assert.ok(short.length < one.text.length);
    });
  });
});
