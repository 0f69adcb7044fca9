import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { quoteForShell } from '../../engine/core/base/text.ts';
import { until } from '../support/wait.ts';
import { makeWorkspace, SVC } from '../support/workspaces/workspace.ts';

const FOCUS_ON = '\u001b[?1004h';
const FOCUS_OFF = '\u001b[?1004l';
const hasScript = spawnSync('script', ['--version']).status === 0;

test('a dashboard without the focus shows a decision as a notice of its terminal, and leaves the terminal as it was', {
  skip: !hasScript && 'script(1) is not installed',
}, async (t) => {
  const ws = await makeWorkspace();
  t.after(ws.close);
  await ws.svc(['up']);
  const line = [process.execPath, SVC].map(quoteForShell).join(' ');
  const dash = spawn('script', ['--quiet', '--flush', '--command', line, '/dev/null'], {
    cwd: ws.root,
    env: { ...ws.env, TERM: 'xterm-kitty', COLUMNS: '100', LINES: '30' },
  });
  t.after(() => dash.kill('SIGKILL'));
  let bytes = '';
  dash.stdout.setEncoding('utf8').on('data', (part: string) => {
    bytes += part;
  });
  await until(() => bytes.includes(FOCUS_ON), 'the dashboard');
  await until(() => bytes.includes('Nothing waits for you'), 'the empty list');
  dash.stdin.write('\u001b[O');
  await ws.post('say hello; then \u001b]0;stop\u0007');
  const [, title, text] = await until(
    () =>
      /\u001b\]99;i=svc-[\d-]+:d=0:o=unfocused;([^\u001b]*)\u001b\\\u001b\]99;[^;]*;([^\u001b]*)\u001b\\/.exec(
        bytes,
      ),
    'the notice',
  );
  assert.equal(title, 'svc test');
  assert.match(text ?? '', /^Waits for approval: .*\(t-1, d-1\)$/);
  dash.stdin.write('q');
  await once(dash, 'exit');
  assert.equal(bytes.split(FOCUS_OFF).length - 1, 1);
});
