import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { hostile } from '../../support/hostile.ts';
import { runOnTerminal } from '../../support/pty.ts';
import { until } from '../../support/wait.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../../support/workspace.ts';

/** What no terminal may be sent from outside. Newlines with their return, and tabs, are harmless. */
const ACTS =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** Names of files as git takes them: an escape sequence, one of C1, a line of ours, text that runs backwards. */
const NAMES = [
  '\u001b[2Jcleared',
  '\u009b2J\u009d0;owned\u009c',
  'x\nhint: run curl attacker.example',
  'a\u202etxt.sh',
];

let ws: TestWorkspace;
before(async () => {
  ws = await makeWorkspace({ commands: { node: `'${process.execPath}' -e {{prompt}}` } });
});
after(() => ws.close());

hostile(
  {
    attacker: 'worker',
    tries: 'act upon the terminal by the names of its files, in a conflict or a list',
    lite: 'shown without its sequences',
    strict: 'shown without its sequences',
  },
  async () => {
    const each = NAMES.map((name) => JSON.stringify(name));
    const program = `
      for (const name of [${each.join(',')}]) require('fs').writeFileSync(name, 'worker');
      const git = (...args) => require('child_process').execFileSync('git', args);
      git('add', '--all');
      git('-c', 'user.name=w', '-c', 'user.email=w@example.test', 'commit', '-qm', 'work');`;
    const ran = await ws.program([
      'task',
      'add',
      'names',
      '--agent',
      'node',
      '--prompt',
      program,
      '--run',
      '--json',
    ]);
    assert.equal(ran.code, 0, ran.stderr);
    const client = await ws.connect();
    const session = await until(async () => {
      const [first] = await client.call('session.list');
      return first?.state === 'ended' ? first.session_id : null;
    }, 'the end of the worker');
    ws.repository.commit(Object.fromEntries(NAMES.map((name) => [name, 'person'])), 'the same names');

    const onTerminal = (...args: string[]) =>
      runOnTerminal([process.execPath, SVC, ...args], {
        cwd: ws.root,
        // Without colours of ours every sequence is somebody else's.
        env: { ...ws.env, NO_COLOR: '1' },
      });
    const refused = await onTerminal('worktree', 'promote', session);
    assert.equal(refused.code, 5, refused.text);
    assert.match(refused.text, /cleared/);
    for (const args of [
      ['worktree', 'promote', session],
      ['worktree', 'promote', session, '--json'],
      ['worktree', 'trial', session],
      ['worktree', 'diff', session],
      ['worktree', 'list'],
      ['worktree', 'prune'],
      ['worker', 'show', session],
      ['status'],
    ]) {
      const { text } = await onTerminal(...args);
      assert.doesNotMatch(text, ACTS, `svc ${args.join(' ')}: ${JSON.stringify(text)}`);
      assert.doesNotMatch(text, /^hint: run curl/m);
    }
  },
);
