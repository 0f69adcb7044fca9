import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Task, WireValue } from '../../../../engine/index.ts';
import { takePart } from '../../../support/workspaces/seats.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('a ledger on the command line', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace({ hosted: true });
  });
  after(() => ws.close());

  const codeOf = (ran: { json<T>(): T }) => ran.json<{ error: { code: string } }>().error.code;

  test('the ledger is shown with who works on each item', async () => {
    ws.repository.write(
      'docs/plan.md',
      '## Clarify\n- [x] which\n- [ ] where\n## Steps\n1. [ ] build\u001b[2J it\n',
    );
    const client = await ws.connect();
    await takePart(ws, 'ada');
    await client.call('task.claim', { holder: 'ada', item: 3, ledger: 'docs/plan.md' });
    const shown = await ws.svc(['ledger', 'show', 'plan.md'], { cwd: join(ws.root, 'docs') });
    assert.equal(shown.code, 0, shown.stderr);
    const [first, , third] = shown.stdout.split('\n').map((line) => line.split('\t'));
    assert.deepEqual(first, ['1', 'x', '-', '-', 'which']);
    assert.deepEqual([third?.[0], third?.[2]], ['3', 'ada']);
    assert.doesNotMatch(shown.stdout, /\u001b/);
    assert.match(shown.stderr, /section Clarify: 1 open/);
    assert.equal((await ws.svc(['ledger', 'show', 'none.md'])).code, 4);
    assert.equal((await ws.svc(['ledger', 'show', '/etc/passwd'])).code, 3);
  });

  test('a task can name a ledger and its evidence, and the ledger holds its runs', async () => {
    ws.repository.write('docs/gate.md', '## Clarify\n- [ ] which\n');
    const words = [
      'task',
      'add',
      'a task',
      '--accept',
      'tests pass',
      '--accept',
      'docs say so',
      '--context',
      'since then',
    ];
    const added = await ws.svc([...words, '--ledger', 'gate.md', '-a', 'scripted', '--json'], {
      cwd: join(ws.root, 'docs'),
    });
    assert.equal(added.code, 0, added.stderr);
    const task = added.json<WireValue<Task>>();
    assert.deepEqual(
      [task.ledger, task.acceptance_criteria, task.context],
      ['docs/gate.md', ['tests pass', 'docs say so'], 'since then'],
    );
    const refused = await ws.svc(['task', 'run', task.task_id]);
    assert.equal(refused.code, 3);
    assert.match(
      refused.stderr,
      /^error: the ledger of t-\d+ has 1 item to clarify first; t-\d+ is still assigned$/m,
    );
    assert.match(refused.stderr, /^hint: settle and check off docs\/gate\.md:2$/m);

    const ran = await ws.svc(['task', 'run', task.task_id, '--force', '-f', '--json']);
    assert.equal(ran.code, 0, ran.stderr);
    assert.match(
      (await ws.svc(['task', 'show', task.task_id])).stdout,
      /dispatched .*skipped the ledger gate by force/,
    );
  });

  test('the ledger also holds a retry; --force and SVC_LEDGER_FORCE override it', async () => {
    ws.repository.write('docs/gate.md', '## Clarify\n- [ ] which\n');
    const force = { env: { SVC_LEDGER_FORCE: '1' } };
    const words = [
      'task',
      'add',
      '-p',
      '#agent: fail 1',
      '-a',
      'scripted',
      '--ledger',
      'docs/gate.md',
      '--json',
    ];
    const atOnce = await ws.svc([...words, '--run']);
    assert.deepEqual([atOnce.code, codeOf(atOnce)], [3, 'ledger_gate']);
    const failed = await ws.svc([...words, '--run', '-f'], force);
    assert.equal(failed.code, 1, failed.stderr);
    const id = failed.json<{ task: WireValue<Task> }>().task.task_id;
    assert.equal(codeOf(await ws.svc(['task', 'retry', id, '--json'])), 'ledger_gate');
    const again = await ws.svc(['task', 'retry', id, '--force', '-f', '--json']);
    assert.equal(again.json<{ task: WireValue<Task> }>().task.attempt, 2);
  });

  test('a ledger outside the workspace is refused', async () => {
    const { code } = await ws.svc(['task', 'add', 'x', '--ledger', '/etc/passwd']);
    assert.equal(code, 3);
  });
});
