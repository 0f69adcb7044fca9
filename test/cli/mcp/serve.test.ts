import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { CHAIR_TOOLS, MANIFEST } from '../../../engine/core/api/manifest.ts';
import type { EngineClient } from '../../../engine/index.ts';
import { httpClient, type McpClient, mcpEndpoint, stdioClient } from '../../support/agents/mcp.ts';
import { envelope, type RawMessage } from '../../support/agents/mcp-raw.ts';
import { followUpdates } from '../../support/agents/resource-updates.ts';
import { until } from '../../support/wait.ts';
import { isRunning, makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

/** A client of /mcp without any library: initialize, then tools/list. */
const ASKS_FOR_TOOLS = `
const [url, token] = process.argv.slice(1);
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const post = (more, body) => fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: '2.0', ...body }) });
const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'inside', version: '1' } };
const begun = await post({}, { id: 1, method: 'initialize', params });
const session = { 'mcp-session-id': begun.headers.get('mcp-session-id') };
await begun.text();
await (await post(session, { method: 'notifications/initialized' })).text();
console.log(await (await post(session, { id: 2, method: 'tools/list' })).text());
`;

async function pidOf(client: EngineClient, sessionId: string): Promise<number> {
  let pid: number | null = null;
  await until(async () => {
    const [row] = await client.call('session.list', { ids: [sessionId] });
    pid = row?.pid ?? null;
    return pid !== null;
  });
  return pid as unknown as number;
}

let ws: TestWorkspace;
before(async () => {
  ws = await makeWorkspace();
});
after(() => ws.close());

describe('the tools over MCP', () => {
  let chair: McpClient;
  before(async () => {
    chair = await stdioClient(ws);
  });
  after(() => chair.close());

  test('the tools are listed in the order of the manifest, in one page, within their size', async () => {
    const page = await chair.client.listTools();
    const names = page.tools.map(({ name }) => name);
    assert.equal(page.nextCursor, undefined);
    assert.deepEqual(
      names,
      MANIFEST.filter((name) => names.includes(name)),
    );
    for (const name of CHAIR_TOOLS) assert.ok(names.includes(name), name);
    const bytes = Buffer.byteLength(JSON.stringify(page.tools));
    // All 46 have 25 KB; future tools need a share of it.
    const reserved = 600 * (MANIFEST.length - names.length);
    assert.ok(bytes + reserved < 25_000, `${bytes} bytes for ${names.length} tools`);
    for (const tool of page.tools) {
      assert.equal(tool.outputSchema, undefined, `${tool.name} answers in text`);
      assert.ok(tool.description, tool.name);
      assert.equal(tool.inputSchema.type, 'object');
      assert.ok(!('anyOf' in tool.inputSchema), tool.name);
      for (const [name, parameter] of Object.entries(tool.inputSchema.properties ?? {})) {
        const { description, enum: choices } = parameter as { description?: string; enum?: unknown };
        assert.ok(
          name === 'limit' || description !== undefined || choices !== undefined,
          `${tool.name}.${name} has a description`,
        );
      }
    }
  });

  test('the tools plan, start, wait and promote a task', async () => {
    const { id } = await chair.call('task_add', {
      title: 'write a file',
      body: '#agent: edit hello.txt hi',
    });
    const said: (string | undefined)[] = [];
    const run = await chair.call(
      'task_run',
      { id, wait: true },
      { onprogress: ({ message }) => said.push(message) },
    );
    assert.equal(run.status, 'done');
    assert.equal(run.verdict?.sealed, true);
    assert.match(said[0] ?? '', new RegExp(run.session));
    const { worktrees } = await chair.call('worktree_status');
    assert.equal(worktrees.find((each) => each.session === run.session)?.ahead, 1);
    const promoted = await chair.call('worktree_promote', {
      session: run.session,
    });
    assert.equal(ws.repository.git('rev-parse', 'main').trim(), promoted.after);
    assert.equal(promoted.removed, true);
  });

  test('a refusal is a result with code, message and hint', async () => {
    const refused = await chair.refused('worktree_promote', { session: 's-99' });
    assert.equal(refused.code, 'not_found');
    assert.match(refused.message, /s-99/);
    const unknown = await chair.refused('task_list', { limits: 3 });
    assert.equal(unknown.code, 'fields_invalid');
    assert.match(unknown.message, /limits: unknown; known: limit, status/);
  });

  test('an unknown tool name is a protocol error', async () => {
    await assert.rejects(chair.callByName('no_such_tool'), { code: -32602, message: /no_such_tool/ });
  });

  test('a cancelled wait leaves the worker running', async () => {
    const stop = new AbortController();
    const { id } = await chair.call('task_add', {
      title: 'long',
      body: '#agent: hang',
    });
    const waiting = chair.call(
      'task_run',
      { id, wait: true },
      { signal: stop.signal, onprogress: () => stop.abort('enough') },
    );
    await assert.rejects(waiting);
    const running = async () => {
      const { tasks } = await chair.call('task_list', {
        status: 'running',
      });
      return tasks.some((task) => task.id === id);
    };
    await until(running);
    await ws.svc(['task', 'cancel', id]);
  });

  test('resources are read and followed', async () => {
    const { id } = await chair.call('task_add', { title: 'followed' });
    const uri = `svc://task/${id}`;
    const { contents } = await chair.client.readResource({ uri });
    assert.equal(JSON.parse((contents[0] as { text: string }).text).task.title, 'followed');
    const updates = await followUpdates(chair, [uri]);
    await chair.call('task_assign', { id, agent: 'scripted' });
    await until(() => updates.seen.length > 0);
    assert.deepEqual(updates.seen, [uri]);
    await assert.rejects(chair.client.readResource({ uri: 'svc://task/t-999' }), { code: -32602 });
  });
});

describe('the bridge', () => {
  test('the bridge survives a restart of the engine, and repeats no waiting call', async () => {
    const chair = await stdioClient(ws);
    const { id } = await chair.call('task_add', {
      title: 'across a restart',
      body: '#agent: wait-for go\n#agent: edit after.txt x',
    });
    let told = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      told = resolve;
    });
    const waiting = chair.call('task_run', { id, wait: true }, { onprogress: () => told() });
    await begun;
    const { tasks } = await chair.call('task_list', { limit: 1 });
    await ws.killDaemon();
    // Any other client may start the next engine; the bridge finds it.
    const session = tasks[0]?.session ?? '';
    const client = await ws.connect();
    const [row] = await client.call('session.list', { ids: [session] });
    await until(async () => {
      const [now] = await client.call('session.list', {
        ids: [session],
      });
      return now?.state === 'running';
    });
    const [placed] = await client.call('session.list', { ids: [session] });
    const { writeFileSync } = await import('node:fs');
    writeFileSync(`${placed?.cwd ?? row?.cwd}/go`, '');
    const done = await waiting;
    assert.equal(done.session, session);
    assert.equal(done.status, 'done');
    const { sessions } = await client.call('task.show', { id });
    assert.equal(sessions.length, 1);
    await chair.close();
  });

  // As claude does when the answer takes longer than five seconds; it reads the late answer too.
  test('a client that does not wait for discovery and initializes gets its earlier revision', async () => {
    const clientInfo = { name: 'hasty', version: '1' };
    const said = [
      { id: 'probe', method: 'server/discover', params: { _meta: envelope() } },
      {
        id: 0,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
      },
      { method: 'notifications/initialized' },
      { id: 1, method: 'tools/call', params: { name: 'task_list', arguments: {} } },
    ];
    const input = said.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
    const { stdout } = await ws.svc(['mcp'], { input });
    const answers = stdout
      .trim()
      .split('\n')
      .map((line): RawMessage => JSON.parse(line));
    const find = (id: string | number) => answers.find((answer) => answer.id === id)?.result;
    assert.deepEqual(find('probe')?.supportedVersions, ['2026-07-28']);
    assert.equal(find(0)?.protocolVersion, '2025-06-18');
    assert.ok(find(1)?.content, stdout);
  });

  test('the bridge ends with its client, and its seat with it', async () => {
    const chair = await stdioClient(ws);
    const { pid } = chair;
    const client = await ws.connect();
    await chair.call('task_list');
    await chair.close();
    await until(() => pid === null || !isRunning(pid));
    const events = await client.call('event.list', {
      limit: 50,
    });
    const joined = events.find(({ kind }) => kind === 'session_joined');
    await until(async () => {
      const now = await client.call('event.list', {
        limit: 50,
      });
      return now.some(({ kind, data }) => kind === 'session_left' && data.session === joined?.data.session);
    });
  });
});

describe('a seat', () => {
  test("a worker's seat sees and calls only what workers may, even after clearing its mark", async () => {
    const client = await ws.connect();
    const { session } = await client.call('task.run', {
      id: (await client.call('task.add', { title: 'w', body: '#agent: hang' })).task_id,
    });
    assert.ok(session);
    const worker = await stdioClient(ws, { env: { SVC_SESSION: session.session_id } });
    const names = await worker.tools();
    for (const name of CHAIR_TOOLS) assert.ok(!names.includes(name), name);
    assert.ok(names.includes('task_list'));
    assert.equal((await worker.refused('task_add', { title: 'more' })).code, 'chair_only');
    assert.equal((await worker.refused('task_done', { id: 't-1' })).code, 'chair_only');
    await worker.close();
    // A client of /mcp in a worker's process tree counts as the worker, even with the Chair's token.
    const mark = /SVC_RUN_ID=([^\0]+)/.exec(
      readFileSync(`/proc/${await pidOf(client, session.session_id)}/environ`, 'utf8'),
    );
    const { url, token } = mcpEndpoint(ws);
    const inside = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '-e', ASKS_FOR_TOOLS, url.href, token],
      {
        env: { ...ws.env, SVC_RUN_ID: mark?.[1] },
      },
    );
    assert.ok(!inside.stdout.includes('task_add'), inside.stdout);
    assert.ok(inside.stdout.includes('task_list'), inside.stdout);
    await client.call('task.cancel', {
      id: (await client.call('task.list', { limit: 1 })).tasks[0]?.task_id ?? '',
    });
  });

  test('a seat with its own name joins as a plain session', async () => {
    const plain = await stdioClient(ws, { env: { SVC_SESSION: 'planner' } });
    assert.equal((await plain.refused('task_add', { title: 'more' })).code, 'chair_only');
    const { resources } = await plain.client.listResources();
    assert.equal(resources[0]?.uri, 'svc://inbox/planner');
    await plain.close();
  });
});

describe('/mcp', () => {
  test('/mcp serves the same tools to callers with the token', async () => {
    const chair = await stdioClient(ws);
    const web = await httpClient(ws);
    assert.deepEqual(await web.tools(), await chair.tools());
    const { tasks } = await web.call('task_list', { limit: 1 });
    assert.equal(tasks.length, 1);
    await chair.close();
    await web.close();
  });

  test('/mcp refuses callers without the token, from another origin, or for another host', async () => {
    const { url, token } = mcpEndpoint(ws);
    const post = async (headers: Record<string, string>) => {
      const { request } = await import('node:http');
      const sent = request(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
      });
      sent.end('{}');
      const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    const bearer = { authorization: `Bearer ${token}` };
    assert.equal(await post({}), 401);
    assert.equal(await post({ authorization: 'Bearer wrong' }), 401);
    assert.equal(await post({ ...bearer, origin: 'http://evil.example' }), 403);
    assert.equal(await post({ ...bearer, host: 'evil.example' }), 403);
  });

  test('an expired session is not found, so its client starts a new one', async () => {
    const { url, token } = mcpEndpoint(ws);
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': 'gone',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    assert.equal(answer.status, 404);
  });
});

test('svc tool lists and calls the same tools', async () => {
  const list = (await ws.svc(['tool', 'list', '--json'])).json<{ name: string }[]>();
  assert.ok(list.some(({ name }) => name === 'task_list'));
  const called = await ws.svc([
    'tool',
    'call',
    'task_add',
    '--title',
    'by hand',
    '--acceptance_criteria',
    'one',
    '--acceptance-criteria',
    'two',
  ]);
  assert.equal(called.code, 0, called.stderr);
  const { id } = called.json<{ id: string }>();
  const shown = (await ws.svc(['task', 'show', id, '--json'])).json<{
    task: { acceptance_criteria: string[] };
  }>();
  assert.deepEqual(shown.task.acceptance_criteria, ['one', 'two']);
  const typo = await ws.svc(['tool', 'call', 'task_add', '--titel', 'x']);
  assert.equal(typo.code, 2);
  assert.match(typo.stderr, /no parameter titel/);
  const whole = await ws.svc(['tool', 'call', 'task_list', '--args', '{"limit":1}', '--status', 'open']);
  assert.equal(whole.json<{ tasks: unknown[] }>().tasks.length, 1);
});
