import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { asSvcError, type SvcError } from '../../engine/core/base/errors.ts';
import type { Task, WireValue } from '../../engine/index.ts';
import { httpClient, type McpClient, stdioClient } from '../support/agents/mcp.ts';
import { bench } from '../support/terminals/dashboard.ts';
import { screenOf } from '../support/terminals/render.tsx';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

const BRACES = '{task.run t-1}.md';

describe('the wording of a hint', () => {
  let ws: TestWorkspace;
  let task: WireValue<Task>;
  const clients: McpClient[] = [];

  before(async () => {
    ws = await makeWorkspace();
    ws.repository.write(BRACES, '## Clarify\n- [ ] which\n');
    const added = await ws.svc([
      'task',
      'add',
      '{task.list}',
      '-a',
      'scripted',
      '--ledger',
      BRACES,
      '--json',
    ]);
    task = added.json<WireValue<Task>>();
    clients.push(await stdioClient(ws), await httpClient(ws));
  });
  after(async () => {
    for (const each of clients) await each.close();
    await ws.close();
  });

  test('hints are commands on the command line, as text and as JSON', async () => {
    const line = ['task', 'show', 't-99'];
    const { stderr } = await ws.svc(line);
    assert.match(stderr, /^error: no task t-99\nhint: svc task list lists them$/m);
    const { stdout } = await ws.svc([...line, '--json']);
    assert.equal(JSON.parse(stdout).error.hint, 'svc task list lists them');
    const parameter = await ws.svc(['ask', 'open', 'x', '--to-session', 'chair-99']);
    assert.match(parameter.stderr, /^hint: .*svc msg peers lists them/m);
  });

  test('hints are tools for agents, over MCP and svc tool', async () => {
    for (const client of clients) {
      const { hint } = await client.refused('task_assign', { id: 't-99', agent: 'scripted' });
      assert.equal(hint, 'task_list lists them');
    }
    const { stderr } = await ws.svc(['tool', 'call', 'task_assign', '--id', 't-99', '--agent', 'scripted']);
    assert.match(stderr, /^hint: task_list lists them$/m);
  });

  test('hints are commands in the problem details of HTTP', async () => {
    const { stdout, stderr } = await ws.svc([
      'webhook',
      'test',
      '--route',
      'approve',
      '--decision',
      'd-99',
      '--addr',
      await ws.receiver(),
    ]);
    assert.match(`${stdout}${stderr}`, /svc decision list lists them/);
  });

  test('hints are keys on the dashboard, where there is one', async () => {
    const client = await ws.connect();
    const refusalOf = (call: Promise<unknown>): Promise<SvcError> =>
      call.then(() => assert.fail('it was not refused'), asSvcError);
    const gone = await refusalOf(client.call('decision.deny', { id: 'd-99', reason: 'x' }));
    const { task_id } = await client.call('task.add', { title: 'done by hand', agent: 'scripted' });
    await client.call('task.done', { id: task_id, status: 'failed' });
    const failed = await refusalOf(client.call('task.assign', { id: task_id, agent: 'scripted' }));
    client.close();
    assert.match(showRefusal(gone), /no decision d-99 · next: svc decision list lists them/);
    assert.match(showRefusal(failed), new RegExp(`· next: r \\(run\\) on ${task_id}`));

    function showRefusal({ message, hint }: SvcError): string {
      return screenOf(bench(200, 40).send({ type: 'refused', busy: 'x', text: message, hint }).state()).join(
        '\n',
      );
    }
  });

  test('hints show quoted text unchanged', async () => {
    const shown = new RegExp(`settle and check off ${BRACES.replace(/[{}.]/g, '\\$&')}:2`);
    assert.match((await ws.svc(['task', 'run', task.task_id])).stderr, shown);
    assert.match((await ws.svc(['tool', 'call', 'task_run', '--id', task.task_id])).stderr, shown);
    for (const client of clients) {
      assert.match((await client.refused('task_run', { id: task.task_id })).hint ?? '', shown);
    }
  });
});
