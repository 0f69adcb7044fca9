import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { until } from '../../support/wait.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

describe('a question on the desktop', {
  skip: process.platform !== 'linux' && 'notify-send is of Linux',
}, () => {
  let ws: TestWorkspace;
  let shown: string;
  before(async () => {
    ws = await makeWorkspace();
    shown = join(ws.repository.folder, 'shown');
    const bin = join(ws.repository.folder, 'bin');
    mkdirSync(bin);
    const program = join(bin, 'notify-send');
    const said = `env >'${shown}.env'; printf '%s\\0' "$@" >'${shown}.part'; mv '${shown}.part' '${shown}'`;
    writeFileSync(program, `#!/bin/sh\n${said}\nexit 1\n`);
    chmodSync(program, 0o755);
    Object.assign(ws.env, {
      PATH: `${bin}${delimiter}${ws.env.PATH}`,
      DISPLAY: ':99',
      DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere',
    });
  });
  after(() => ws.close());

  test('one to the Chair is shown as plain text, with its asker, and its program gets no secret', async () => {
    const question = `Keep <b>it</b> & --go?\u001b[31m ${'x'.repeat(300)}`;
    await (await ws.connect()).call('ask.open', { question });
    await until(() => existsSync(shown), 'the notice');
    const [app, end, text = '', ...more] = readFileSync(shown, 'utf8').split('\0').slice(0, -1);
    assert.deepEqual([app, end, more], ['--app-name=svc', '--', []]);
    assert.match(text, /^svc test: \S+ asks: Keep <b>it<\/b> & --go\?\\x1b\[31m x+…$/);
    assert.doesNotMatch(readFileSync(`${shown}.env`, 'utf8'), /SECRET/);
  });
});
