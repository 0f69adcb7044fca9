import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import type { EngineClient } from '../../../engine/index.ts';
import { type McpClient, stdioClient } from '../../support/agents/mcp.ts';
import { readCorpus } from '../../support/gateway/corpus.ts';
import { until } from '../../support/wait.ts';
import { requireLocalPath } from '../../support/workspaces/local-path.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../../support/workspaces/workspace.ts';

interface Block {
  type: string;
  content?: string;
}

const noise = readCorpus('noise').find(({ name }) => name === 'go-test-verbose');
assert.ok(noise !== undefined);

/** A call of a tool and its answer, as a client of Anthropic's protocol sends them. */
const turn = (id: string, name: string, input: object, output: string): object[] => [
  { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: output }] },
];

describe('an output that the gateway has shortened', () => {
  const bodies: string[] = [];
  let upstream: Server;
  let ws: TestWorkspace;
  let client: EngineClient;
  let mcp: McpClient;
  let ask: (turns: readonly object[]) => Promise<(string | undefined)[]>;
  before(async () => {
    upstream = createServer(async (request, response) => {
      bodies.push(await readAll(request));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    }).listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const { port } = upstream.address() as AddressInfo;
    ws = await makeWorkspace({
      yaml: `gateway: { addr: "127.0.0.1:0" }
ai: { mode: live, passthrough: { anthropic: { base_url: "http://127.0.0.1:${port}", api_key: sk-up } } }
`,
    });
    client = await ws.connect();
    mcp = await stdioClient(ws);
    const { url } = await client.call('gateway.serve', {});
    const { key } = await client.call('gateway.add_key', { name: 'ada' });
    const tools = (await mcp.tools()).map((name) => ({ name: `mcp__svc__${name}`, input_schema: {} }));
    /** Returns each tool output as the model sees it. */
    ask = async (turns) => {
      const from = bodies.length;
      await fetch(`${url}/v1/messages`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: 'm',
          max_tokens: 10,
          tools,
          messages: [{ role: 'user', content: 'Run the tests.' }, ...turns],
        }),
      });
      const { messages } = JSON.parse(bodies[from] ?? '') as { messages: { content: string | Block[] }[] };
      return messages
        .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
        .filter(({ type }) => type === 'tool_result')
        .map(({ content }) => content);
    };
  });
  after(async () => {
    await mcp.close();
    await ws.close();
    upstream.closeAllConnections();
    upstream.close();
  });

  test('a shortened output reaches the model whole once svc mcp, a shell or a worker has read it back', async () => {
    const turns = turn('toolu_1', 'Bash', { command: 'go test -v ./...' }, noise.text);
    // A request that does not wait for the thread shows the whole output.
    const shown = await until(async () => {
      const [text = ''] = await ask(turns);
      return text === noise.text ? null : text;
    }, 'the output to be short');
    const [, id = ''] = /all: context_retrieve (c-[0-9a-f]+)\]/.exec(shown) ?? [];
    assert.ok(id !== '' && shown.length < noise.text.length / 2);

    const { text } = await mcp.call('context_retrieve', { id });
    turns.push(...turn('toolu_2', 'mcp__svc__context_retrieve', { id }, text));
    assert.deepEqual(await ask(turns), [shown, noise.text]);

    const printed = await ws.program(['context', 'get', id]);
    turns.push(...turn('toolu_3', 'Bash', { command: `svc context get ${id}` }, printed.stdout));
    assert.deepEqual(await ask(turns), [shown, noise.text, noise.text]);

    const command = `'${process.execPath}' '${SVC}' context get ${id} > read-back.txt`;
    const { task_id } = await client.call('task.add', { title: `#agent: no-change\n#agent: run ${command}` });
    const { session_id } = await client.call('task.run', { id: task_id });
    const session = await until(async () => {
      const found = await client.call('session.show', { session: session_id ?? '' });
      return found.ended_at === null ? null : found;
    }, 'the worker');
    const read = readFileSync(join(requireLocalPath(session.worktree), 'read-back.txt'), 'utf8');
    turns.push(...turn('toolu_4', 'Bash', { command }, read));
    assert.deepEqual(await ask(turns), [shown, noise.text, noise.text, noise.text]);
  });
});
