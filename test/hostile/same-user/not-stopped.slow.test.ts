import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { readDaemonRecord } from '../../../engine/index.ts';
import { hostile, runAs } from '../../support/hostile.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

let ws: TestWorkspace;
before(async () => {
  ws = await makeWorkspace();
  (await ws.connect()).close();
});
after(() => ws.close());

const self = { label: 'the same user', name: '', uid: process.getuid?.() ?? 0, gid: 0, isRoot: false };

hostile(
  {
    attacker: 'same-user',
    tries: 'read the token, or run svc, as a program that no engine has started',
    lite: 'not stopped',
    strict: 'not stopped, outside a sandbox',
  },
  async () => {
    const { body } = await ws.post('anything');
    const approved = await ws.program(['decision', 'approve', body.decision_id, '--json']);
    assert.equal(approved.code, 0, approved.stderr);
    const file = `${ws.root}/.svc/daemon.json`;
    const program = `process.stdout.write(JSON.parse(require('node:fs').readFileSync(${JSON.stringify(file)})).token)`;
    const read = await runAs(self, [process.execPath, '-e', program], { cwd: '/', env: {} });
    assert.equal(read.stdout, readDaemonRecord(`${ws.root}/.svc`)?.token);
  },
);
