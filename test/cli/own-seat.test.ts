import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type McpClient, stdioClient, type ToolApi } from '../support/agents/mcp.ts';
import { followUpdates } from '../support/agents/resource-updates.ts';
import { until } from '../support/wait.ts';
import { takePart } from '../support/workspaces/seats.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

describe('a seat over MCP', () => {
  let ws: TestWorkspace;
  let chair: McpClient;
  let own: string;
  before(async () => {
    ws = await makeWorkspace({ yaml: 'projects: [{ id: app, path: app }]\n' });
    chair = await stdioClient(ws);
    own = (await chair.call('msg_inbox')).session ?? assert.fail();
  });
  after(async () => {
    await chair?.close();
    await ws.close();
  });

  test('a seat learns who and where it is, and which names it may use', async () => {
    const said = chair.client.getInstructions() ?? '';
    assert.ok(said.includes('You are the Chair (me means your session') && said.includes(ws.root), said);
    const before = await stdioClient(ws, { mode: 'legacy' });
    const { session } = await before.call('msg_inbox');
    assert.ok(before.client.getInstructions()?.includes(`You are the Chair, session ${session} (me means`));
    await before.close();
    const plain = await stdioClient(ws, { env: { SVC_SESSION: 'ada' } });
    assert.match(plain.client.getInstructions() ?? '', /You are session ada .*not the Chair/);
    await plain.close();
    assert.doesNotMatch(said, /SVC_/);
    const { tools } = await chair.client.listTools();
    const tool = tools.find(({ name }) => name === 'dispatch_worker');
    const { agent, project } = (tool?.inputSchema.properties ?? {}) as Record<
      string,
      { description: string }
    >;
    assert.match(agent?.description ?? '', /; one of .*scripted/);
    assert.match(project?.description ?? '', /; one of app$/);
    assert.deepEqual((await chair.call('task_list')).projects, ['app']);
    const limit = tools.find(({ name }) => name === 'task_list')?.inputSchema.properties?.limit;
    assert.match((limit as { description: string }).description, /at most 1000/);
  });

  test('a seat may use me and chair wherever a session is named, and no other alias', async () => {
    for (const [name, path] of [
      ['me', 'a'],
      ['Chair', 'b'],
      [own, 'c'],
    ] as const)
      assert.equal((await chair.call('lock_acquire', { holder: name, path })).holder, own);
    assert.equal((await chair.call('msg_inbox', { session: 'ME' })).session, own);
    assert.equal((await chair.call('msg_roster', { session: 'me' })).session, own);
    for (const [tool, input] of [
      ['lock_acquire', { holder: 'nobody', path: 'd' }],
      ['lock_check', { holder: 'SVC_SESSION', path: 'a' }],
      ['task_claim', { holder: 'nobody', ledger: 'README.md', item: 1 }],
      ['msg_inbox', { session: 'nobody' }],
      ['msg_ack', { id: 1, session: 'nobody' }],
      ['msg_send', { from_session: 's-99', to_session: 'me', body: 'x' }],
      ['ask_list', { session: 'nobody' }],
      ['verify_status', { session: 's-99' }],
      ['dispatch_worker', { agent: 'scripted', prompt: 'x', session: 'nobody' }],
    ] as const) {
      const { code, hint } = await chair.refused(tool, input);
      assert.equal(code, 'not_found', tool);
      if (tool === 'lock_acquire') assert.match(hint ?? '', new RegExp(`live: .*${own}.*; me is your own`));
    }
    assert.deepEqual((await chair.call('task_list')).tasks, [], 'nothing was made');
    const look = ['hook', 'pre-write', '--agent', 'claude'];
    const write = { tool_name: 'Write', tool_input: { file_path: join(ws.root, 'a') }, cwd: ws.root };
    const hook = await ws.program(look, { input: JSON.stringify(write) });
    assert.doesNotMatch(hook.stdout, /deny/, 'its own hook does not deny writes to what it has locked');
    const gone = await stdioClient(ws);
    const { holder } = await gone.call('lock_acquire', { holder: 'me', path: 'e' });
    await gone.close();
    await until(async () => {
      const { locks } = await chair.call('lock_status');
      return locks.every((lock) => lock.holder !== holder);
    }, 'the lock to end with its seat');
  });

  test('a seat sees only its own mail, and is notified only of it', async () => {
    await takePart(ws, 'bob');
    const ada = await stdioClient(ws, { env: { SVC_SESSION: 'ada' } });
    const before = await stdioClient(ws, { env: { SVC_SESSION: 'ada' }, mode: 'legacy' });
    for (const uri of ['svc://inbox/bob', 'svc://task/t-99'])
      await assert.rejects(before.client.subscribeResource({ uri }), { code: -32602 });
    const uris = ['svc://inbox/bob', 'svc://task/t-99', 'svc://inbox/ada'];
    const subscription = await ada.client.listen({ resourceSubscriptions: uris });
    assert.deepEqual(subscription.honoredFilter, { resourceSubscriptions: ['svc://inbox/ada'] });
    await subscription.close();
    const updates = await followUpdates(ada, uris);
    const updatesBefore = await followUpdates(before, ['svc://inbox/ada']);
    for (const to of [
      { to_session: 'bob' },
      { to_session: 'chair' },
      { to_agent: 'claude' },
      { to_session: 'ada' },
    ])
      await chair.call('msg_send', { ...to, kind: 'alert', body: JSON.stringify(to) });
    await until(() => updates.seen.length > 0 && updatesBefore.seen.length > 0);
    const stale = async (client: McpClient): Promise<string[]> =>
      (await client.call('msg_stale', { older_min: 0 })).messages.map(
        ({ to_session, to_agent }) => to_session ?? to_agent ?? '',
      );
    assert.deepEqual(await stale(ada), ['ada']);
    assert.deepEqual(await stale(chair), ['bob', 'chair', 'claude', 'ada']);
    assert.deepEqual([updates.seen, updatesBefore.seen], [['svc://inbox/ada'], ['svc://inbox/ada']]);
    const { content } = (await ada.client.callTool({ name: 'msg_inbox', arguments: {} })) as {
      content: { text: string }[];
    };
    assert.match(content[0]?.text ?? '', /^ada: 1 unread, 0 read\n\n\d+ alert from chair-\d+ to ada, /);
    await before.close();
    await ada.close();
  });

  test('a seat is refused an agent that is not installed before anything is created', async () => {
    const { code, hint } = await chair.refused('dispatch_worker', { agent: 'droid', prompt: 'x' });
    assert.equal(code, 'tool_missing');
    assert.match(hint ?? '', /installed: .*scripted/);
    const { id } = (await chair.callByName('task_add', {
      title: 'later',
      agent: 'droid',
      body: '',
      context: null,
    })) as ToolApi['task_add']['output'];
    assert.equal((await chair.refused('task_run', { id, name: '', timeout_sec: null })).code, 'tool_missing');
    const { tasks } = await chair.call('task_list');
    assert.deepEqual(
      tasks.map((task) => [task.id, task.status]),
      [[id, 'assigned']],
    );
  });

  test('the seat of a worker in a project below the repository has its brief in its start folder, and learns where', async () => {
    const { verdict, session } = await chair.call('dispatch_worker', {
      agent: 'scripted',
      project: 'app',
      prompt: '#agent: run cat .svc/TASK_BRIEF.md\n#agent: run git status --short\n#agent: no-change',
      wait: true,
    });
    assert.equal(verdict?.sealed, true);
    const folder = join(ws.root, '.svc/agents/worktrees', session, 'app');
    const brief = join(folder, '.svc/TASK_BRIEF.md');
    if (existsSync(brief)) assert.match(readFileSync(brief, 'utf8'), new RegExp(session));
    const worker = await stdioClient(ws, { env: { SVC_SESSION: session } });
    const said = worker.client.getInstructions() ?? '';
    assert.ok(said.includes(`session ${session} (worker`) && said.includes(brief), said);
    await worker.close();
    const log = (await ws.svc(['worker', 'log', session])).stdout;
    assert.match(log, /# t-\d+:/);
    assert.doesNotMatch(log, /\?\? /, 'git does not see it');
  });
});
