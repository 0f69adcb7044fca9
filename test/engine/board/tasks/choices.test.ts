import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TaskChoices, WireValue } from '../../../../engine/index.ts';
import { type EngineHere, engineHere } from '../../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('the choices for a new task', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  before(async () => {
    ws = await makeWorkspace({
      yaml: `
project: { name: shop }
projects: [{ id: api, path: services/api }, { id: elsewhere, path: /elsewhere }]
webhook:
  secret_env: SVC_WEBHOOK_SECRET
  templates:
    fix: { agent: scripted, prompt: Fix it., project: api, timeout_sec: 0 }
    bare: { prompt: Do it. }
`,
    });
    const bin = join(ws.root, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'codex'), '#!/bin/sh\n', { mode: 0o755 });
    writeFileSync(join(bin, 'gemini'), 'not executable', { mode: 0o644 });
    // Programs of the machine must not affect the result.
    ws.env.PATH = [
      bin,
      ...(ws.env.PATH ?? '').split(delimiter).filter((folder) => folder === '/usr/bin'),
    ].join(delimiter);
    await ws.svc(['config', 'set', 'agents.cmds.local', "'bin/codex {{prompt}}'"]);
    here = await engineHere(ws, { workerCap: 0 });
  });
  after(async () => {
    await here?.close();
    await ws.close();
  });

  const choices = (caller: object = {}): Promise<WireValue<TaskChoices>> =>
    here.call('task.choices', {}, caller);

  test('agents are listed with their commands, and whether their programs are installed', async () => {
    const { agents, default_agent } = await choices();
    assert.equal(default_agent, 'scripted');
    const by = new Map(agents.map((agent) => [agent.id, agent]));
    assert.deepEqual(
      ['codex', 'gemini', 'local', 'scripted'].map((id) => by.get(id)?.installed),
      [true, false, true, true],
    );
    assert.equal(by.get('local')?.command, 'bin/codex {{prompt}}');
    assert.match(by.get('claude')?.command ?? '', /^claude .*\{\{prompt\}\}$/);
    assert.equal(by.has('antigravity'), false, 'it does not run headless');
  });

  test('templates are listed with their agent and project', async () => {
    assert.deepEqual((await choices()).templates, [
      { id: 'fix', agent: 'scripted', project: 'api' },
      { id: 'bare', agent: null, project: null },
    ]);
  });

  test("projects are listed, the workspace's own first", async () => {
    assert.deepEqual((await choices()).projects, [
      { id: 'shop', folder: ws.root, own: true },
      { id: 'api', folder: join(ws.root, 'services', 'api'), own: false },
      { id: 'elsewhere', folder: '/elsewhere', own: false },
    ]);
  });

  test('every seat may see the choices, and all of them can be used', async () => {
    const { templates, projects } = await choices({ seat: 'worker', sessionId: 's-1' });
    for (const { id } of templates) await here.call('task.add', { template: id });
    for (const { id } of projects) await here.call('task.add', { title: id, project: id });
  });

  test('a template without a time limit has the default of all agents', async () => {
    const { task_id, timeout_sec } = await here.call('task.add', { template: 'fix' });
    assert.equal(timeout_sec, null);
    assert.equal((await here.call('task.plan', { id: task_id })).timeout_sec, 600);
  });

  test('the choices include agents.default_cmd, as the agent that it runs as', async () => {
    await here.close();
    here = await engineHere(ws, { workerCap: 0, flags: { 'agents.default_cmd': 'codex {{prompt}}' } });
    const { agents, default_agent } = await choices();
    assert.equal(default_agent, 'default');
    assert.deepEqual(
      agents.find(({ id }) => id === 'default'),
      { id: 'default', command: 'codex {{prompt}}', installed: true },
    );
  });
});
