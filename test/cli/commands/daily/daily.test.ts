import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { until } from '../../../support/wait.ts';
import { AGENT, makeWorkspace, SVC, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

interface Listed {
  task_id: string;
  status: string;
  agent: string;
}

const listTasks = async (ws: TestWorkspace): Promise<Listed[]> =>
  (await ws.svc(['ls', '--json'])).json<Listed[] & Record<string, unknown>>();

describe('the short commands', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace({
      commands: { asker: `'${process.execPath}' '${SVC}' ask open {{prompt}} -o yes -o no` },
    });
  });
  after(() => ws.close());

  /** Runs a command line that must succeed; returns its output. */
  async function succeed(...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await ws.svc(words);
    assert.equal(code, 0, stderr);
    return stdout;
  }

  test('a prompt is run, read and merged by the id of its task', async () => {
    assert.match(await succeed('run', '#agent: edit one.txt first', '-f'), /t-1 done/);
    assert.match(await succeed('ls'), /^t-1\tdone\tscripted/);
    assert.match(await succeed('log', 't-1'), /committed/);
    assert.match(await succeed('diff', 't-1'), /\+first/);
    assert.match(await succeed('merge', 't-1'), /svc\/s-1 into main/);
    assert.match(ws.repository.git('log', '--oneline', 'main'), /Merge svc\/s-1/);
  });

  test('svc run starts an existing task by its id', async () => {
    await succeed('task', 'add', 'Later', '--agent', 'scripted');
    const { code, stderr } = await ws.svc(['run', 't-2', '-a', 'asker']);
    assert.equal(code, 2);
    assert.match(stderr, /svc task assign t-2 asker/);
    assert.match(await succeed('run', 't-2', '-f'), /t-2 done/);
  });

  test('a waiting request is approved by the id of its task', async () => {
    const { body } = await ws.post('Requested');
    assert.match(await succeed('approve', body.task_id, '-f'), /done/);
  });

  test('a question is answered, and another task is stopped', async () => {
    await succeed('run', 'Keep it?', '-a', 'asker');
    await until(async () => /Keep it/.test(await succeed('ask', 'list')), 'the question');
    assert.match(await succeed('answer', '1', 'yes'), /ask 1 is answered/);
    await succeed('run', '#agent: hang');
    const [{ task_id: id } = { task_id: '' }] = await listTasks(ws);
    await succeed('stop', id);
    await until(async () => (await listTasks(ws))[0]?.status === 'failed', 'the end of the task');
  });

  test('a task without a session is named in the error, with the way to one', async () => {
    await succeed('task', 'add', 'Not started', '--agent', 'scripted');
    const [{ task_id: id } = { task_id: '' }] = await listTasks(ws);
    const { code, stderr } = await ws.svc(['diff', id]);
    assert.equal(code, 4);
    assert.match(stderr, new RegExp(`${id} has no session yet\nhint: svc task run ${id} starts one`));
  });
});

describe('a task that is added and run together', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace({ hosted: true });
  });
  after(() => ws.close());

  /** Replaces the agents of svc.yaml. */
  function configure(agents: object): void {
    const file = join(ws.root, 'svc.yaml');
    const text = readFileSync(file, 'utf8').replace(
      /agents:.*\n(?: .*\n)*/,
      `agents: ${JSON.stringify(agents)}\n`,
    );
    writeFileSync(file, text);
    ws.agree();
  }
  const scripted = `'${process.execPath}' '${AGENT}' -- {{prompt}}`;
  const none = { PATH: '/nonexistent' };

  test('an agent that is not installed leaves no task behind', async () => {
    for (const words of [
      ['run', 'x', '-a', 'codex'],
      ['task', 'add', 'x', '-a', 'codex', '--run'],
      ['run', 'x', '-a', 'unknown'],
    ]) {
      const { code, stderr } = await ws.svc(words, { env: none });
      assert.notEqual(code, 0);
      assert.match(stderr, /codex is not installed|no agent "unknown"/);
    }
    assert.deepEqual(await listTasks(ws), []);
  });

  test('an error after the creation leaves no task behind, and says so', async () => {
    const { code, stderr } = await ws.svc(['task', 'add', 'x', '--ledger', 'missing.md', '--run']);
    assert.notEqual(code, 0);
    assert.match(stderr, /no task was created/);
    assert.doesNotMatch(stderr, /t-1/);
    assert.deepEqual(await listTasks(ws), []);
  });

  test('the only usable agent is used, and of several one has to be named', async () => {
    configure({ cmds: { mine: scripted } });
    const { code, stdout } = await ws.svc(['run', 'Alone', '-f']);
    assert.equal(code, 0);
    assert.match(stdout, /t-1 done/);
    assert.deepEqual(
      (await listTasks(ws)).map(({ agent }) => agent),
      ['mine'],
    );
    configure({ cmds: { mine: scripted, other: scripted } });
    const refused = await ws.svc(['run', 'Two']);
    assert.equal(refused.code, 5);
    assert.match(refused.stderr, /several agents are installed: mine, other\nhint: name one with --agent/);
    assert.equal((await listTasks(ws)).length, 1);
  });

  test('a refused run of an existing task says which state it is in', async () => {
    configure({ cmds: { mine: scripted, gone: '/nonexistent/agent {{prompt}}' } });
    await ws.svc(['task', 'add', 'Kept', '--agent', 'gone']);
    const { stderr } = await ws.svc(['task', 'run', 't-2']);
    assert.match(stderr, /t-2 is still assigned/);
  });
});
