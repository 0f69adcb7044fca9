import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isInstalled } from '../support/agents/agents.ts';
import { inspect, type Target } from '../support/agents/inspector.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';

interface Listed {
  tools: { name: string; description?: string; inputSchema: object }[];
}

interface Called {
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
}

/** A third-party client, over both transports. */
describe('the official inspector', () => {
  let ws: TestWorkspace;
  let why: string | null = null;
  let stdio: Target;
  let http: Target;

  before(async () => {
    if (!isInstalled('mcp-inspector')) {
      why = 'the inspector is not installed; .ci/agents.sh installs it';
      return;
    }
    ws = await makeWorkspace();
    await ws.svc(['up']);
    const record = JSON.parse(readFileSync(join(ws.root, '.svc', 'daemon.json'), 'utf8'));
    stdio = {
      command: [process.execPath, SVC, 'mcp'],
      cwd: ws.root,
      env: { SVC_HOME: String(ws.env.SVC_HOME) },
    };
    http = { url: `http://${record.http.host}:${record.http.port}/mcp`, token: record.token };
  });
  after(() => ws?.close());

  const ask = <T>(target: Target, ...words: string[]) => inspect<T>(target, ws.repository.folder, words);
  const call = (target: Target, tool: string, given: object) =>
    ask<Called>(
      target,
      ...['--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(given)],
    );

  for (const way of ['svc mcp', '/mcp']) {
    const target = (): Target => (way === '/mcp' ? http : stdio);

    test(`lists the tools of ${way}, with schemas that fit every client`, async (t) => {
      if (why !== null) return t.skip(why);
      const listed = await ask<Listed>(target(), '--method', 'tools/list', '--strict');
      assert.equal(listed.code, 0, listed.stderr);
      const { tools } = listed.result;
      assert.ok(tools.some(({ name }) => name === 'task_list'));
      for (const { name, description } of tools) assert.ok(description, `${name} has no description`);
    });

    test(`a tool of ${way} can be called, and its refusal is shown`, async (t) => {
      if (why !== null) return t.skip(why);
      const listed = await call(target(), 'task_list', {});
      assert.equal(listed.code, 0, listed.stderr);
      assert.ok(Array.isArray(listed.result.structuredContent?.tasks));
      const refused = await call(target(), 'task_list', { limit: 'many' });
      assert.notEqual(refused.code, 0);
      assert.match(refused.stderr + JSON.stringify(refused.result), /limit/);
    });
  }

  test('a task that the Chair creates through svc mcp exists afterwards', async (t) => {
    if (why !== null) return t.skip(why);
    const added = await call(stdio, 'task_add', { title: 'Say hello', agent: 'scripted' });
    assert.equal(added.code, 0, added.stderr);
    const id = String(added.result.structuredContent?.id);
    const { task } = (await ws.svc(['task', 'show', id, '--json'])).json<{ task: { title: string } }>();
    assert.equal(task.title, 'Say hello');
    const missing = await call(stdio, 'task_run', { id: 't-999' });
    assert.equal(missing.code, 5, missing.stderr);
    assert.equal(missing.result.isError, true);
  });
});
