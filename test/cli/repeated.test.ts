import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

describe('a command with several ids', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace({ hosted: true });
    for (const title of ['one', 'two', 'three', 'four']) await ws.svc(['task', 'add', title]);
  });
  after(() => ws.close());

  test('the command handles each id in turn; a failure is reported, stops no other, and sets the exit code', async () => {
    const { code, stdout, stderr } = await ws.svc(['task', 'cancel', 't-1', 't-99', 't-2']);
    assert.equal(stdout, 't-1 cancelled\nt-2 cancelled\n');
    assert.match(stderr, /^error: no task t-99\nhint: .*\n$/);
    assert.equal(code, (await ws.svc(['task', 'cancel', 't-99'])).code);
  });

  test('the command prints one list as JSON, with failures in their places', async () => {
    const { stdout, code } = await ws.svc(['task', 'cancel', 't-3', 't-3', '--json']);
    const [first, second] = JSON.parse(stdout);
    assert.deepEqual([first.task_id, first.status], ['t-3', 'failed']);
    assert.deepEqual([second.argument, second.error.code], ['t-3', 'conflict']);
    assert.notEqual(code, 0);
  });

  test('the command prints a single id as it always did', async () => {
    const { stdout } = await ws.svc(['task', 'cancel', 't-4', '--json']);
    assert.equal(JSON.parse(stdout).task_id, 't-4');
  });
});
