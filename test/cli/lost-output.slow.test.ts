import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';

/** Every write to it fails, as on a full disk. */
const FULL = '/dev/full';

describe('output that cannot be written', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
    const { code, stderr } = await ws.svc([
      'task',
      'add',
      '-p',
      'say hello\n#agent: no-change',
      '--run',
      '-f',
    ]);
    assert.equal(code, 0, stderr);
  });
  after(() => ws.close());

  async function runInto(file: string, ...args: string[]): Promise<{ code: number | null; stderr: string }> {
    const child = spawn(process.execPath, [SVC, ...args], {
      cwd: ws.root,
      env: ws.env,
      stdio: ['ignore', openSync(file, 'w'), 'pipe'],
    });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (part: string) => {
      stderr += part;
    });
    const [code] = await once(child, 'close');
    return { code, stderr };
  }

  for (const args of [
    ['--version'],
    ['--help'],
    ['help', 'task', 'add'],
    ['completion', 'bash'],
    ['task', 'list'],
    ['task', 'list', '--json'],
    ['task', 'show', 't-1'],
    ['worker', 'log', 's-1', '--raw'],
    ['config', 'keys'],
    ['tool', 'call', 'task_list'],
    ['task', 'show', 't-9', '--json'],
  ])
    test(`svc ${args.join(' ')} exits with code 1 when its output cannot be written`, async () => {
      const { code, stderr } = await runInto(FULL, ...args);
      assert.equal(code, 1);
      assert.match(stderr, /^error: standard output cannot be written: ENOSPC/m);
      assert.equal(stderr.match(/standard output/g)?.length, 1);
    });

  test('a followed log ends when its output is closed, while its worker continues', async () => {
    const added = await ws.svc(['task', 'add', '-p', '#agent: say one\n#agent: hang', '--run', '--json']);
    const { task } = added.json<{ task: { task_id: string } }>();
    const { code, stderr } = await runInto(FULL, 'task', 'log', task.task_id, '-f');
    assert.equal(code, 1);
    assert.match(stderr, /standard output cannot be written/);
    const shown = (await ws.svc(['task', 'show', task.task_id, '--json'])).json<{
      task: { status: string };
    }>();
    assert.equal(shown.task.status, 'running');
    assert.equal((await ws.svc(['task', 'cancel', task.task_id])).code, 0);
  });

  test('an output that is empty or can be written is not an error', async () => {
    assert.equal((await runInto(FULL, 'decision', 'list')).code, 0);
    assert.equal((await runInto('/dev/null', 'task', 'list', '--json')).code, 0);
  });
});
