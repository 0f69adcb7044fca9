import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { runOnTerminal } from '../support/terminals/pty.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';

const ESC = '\u001b';

describe('output on a terminal', () => {
  let ws: TestWorkspace;
  const show = (line: string, env: NodeJS.ProcessEnv = {}) =>
    runOnTerminal([process.execPath, SVC, ...line.split(' ')], {
      cwd: ws.root,
      env: { ...ws.env, ...env },
    });

  before(async () => {
    ws = await makeWorkspace();
    await ws.svc(['task', 'add', 'one', '--prompt', `first\n${ESC}[31mred${ESC}]0;owned\u0007`]);
  });
  after(() => ws.close());

  test('long output goes through SVC_PAGER, else PAGER, with its colours', async () => {
    const { text } = await show('task list', { SVC_PAGER: "sed 's/^/svc /'", PAGER: "sed 's/^/no /'" });
    assert.match(text, new RegExp(`^svc ${ESC}\\[1mID`, 'm'));
    assert.match(text, /^svc t-1 /m);
    assert.match((await show('task list', { SVC_PAGER: '', PAGER: "sed 's/^/no /'" })).text, /^\u001b\[1mID/);
    const env = { SVC_PAGER: undefined, PAGER: "sed 's/^/his /'", NO_COLOR: '1' };
    assert.match((await show('task show t-1', env)).text, /^his task +t-1: one\r$/m);
  });

  test('a missing pager, or one that is closed early, is not a failure', async () => {
    const missing = await show('task list', { SVC_PAGER: 'no-such-pager' });
    assert.equal(missing.code, 0);
    assert.match(missing.text, /^t-1 /m);
    assert.equal((await show('task show t-1', { SVC_PAGER: 'true' })).code, 0);
  });

  test('neither JSON nor the output of an action is paged', async () => {
    const env = { SVC_PAGER: "sed 's/^/svc /'" };
    assert.doesNotMatch((await show('task list --json', env)).text, /^svc |\u001b/m);
    assert.doesNotMatch((await show('task add two', env)).text, /^svc /m);
  });

  test('hostile text brings no colours or commands, even with --color', async () => {
    for (const line of ['task show t-1', 'task show t-1 --color always']) {
      const { text } = await show(line, { SVC_PAGER: 'cat' });
      assert.match(text, /^ {2}\\x1b\[31mred\\x1b\]0;owned\\x07\r$/m);
      assert.doesNotMatch(text, /\u001b\[31mred|\u001b\]|\u0007/);
    }
  });

  test('--color overrides NO_COLOR, and without a terminal there is no colour', async () => {
    const piped = await ws.svc(['task', 'list']);
    assert.doesNotMatch(piped.stdout, /\u001b/);
    const always = await ws.svc(['task', 'list', '--color', 'always'], { env: { NO_COLOR: '1' } });
    assert.match(always.stdout, /\u001b\[33mopen\u001b\[m/);
    assert.doesNotMatch((await show('task list --color never')).text, /\u001b\[\d+m/);
    assert.doesNotMatch((await show('task list', { NO_COLOR: '1' })).text, /\u001b\[\d+m/);
  });
});
