import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { temporaryFolder } from '../../../support/workspaces/git.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

interface Start {
  command: string;
  program: string;
  path: string | null;
}
interface Row {
  agent: string;
  is_default: boolean;
  headless: Start | null;
  interactive: Start | null;
  acp: Start | null;
  notify: string | null;
}

describe('svc agents', () => {
  let ws: TestWorkspace;
  let bin: string;
  before(async () => {
    ws = await makeWorkspace();
    bin = join(ws.repository.folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'claude'), '#!/bin/sh\nexit 1\n');
    chmodSync(join(bin, 'claude'), 0o755);
  });
  after(() => ws.close());

  const named = (rows: readonly Row[], name: string): Row =>
    rows.find(({ agent }) => agent === name) ?? assert.fail(`no row ${name}`);

  test('the presets of the workspace are listed with the installed programs, and no engine starts', async () => {
    const { code, json } = await ws.svc(['agents', '--json'], { env: { PATH: bin } });
    assert.equal(code, 0);
    const rows = json<Row[]>();
    const claude = named(rows, 'claude');
    assert.deepEqual(claude.interactive, { command: 'claude', program: 'claude', path: join(bin, 'claude') });
    assert.equal(claude.headless?.path, join(bin, 'claude'));
    assert.deepEqual([claude.acp?.program, claude.acp?.path], ['claude-agent-acp', null]);
    assert.deepEqual([claude.notify, named(rows, 'opencode').notify], ['file', 'http']);
    assert.equal(named(rows, 'codex').headless?.path, null);
    assert.deepEqual([named(rows, 'kiro').headless, named(rows, 'kiro').acp], [null, null]);
    const scripted = named(rows, 'scripted');
    assert.deepEqual([scripted.is_default, scripted.headless?.path], [true, process.execPath]);
    assert.deepEqual([scripted.interactive, scripted.notify, claude.is_default], [null, null, false]);
    assert.equal(ws.daemonPid(), null);
  });

  test('missing programs are named in words, one line for each preset', async () => {
    const { stdout, stderr } = await ws.svc(['agents'], { env: { PATH: bin } });
    assert.match(stdout, new RegExp(`^claude\tyes\tyes\tmissing\tfile\t${join(bin, 'claude')}$`, 'm'));
    assert.match(stdout, /^kiro\t-\tmissing\t-\tfile\tnot installed$/m);
    assert.match(stdout, /^scripted\tyes\t-\t-\t-\t/m);
    assert.match(stderr, /svc\.yaml; scripted runs tasks that name none$/m);
  });

  test('the built-in presets are listed outside a workspace, and a broken one is an error', async () => {
    const cwd = temporaryFolder();
    try {
      const { code, stdout, stderr } = await ws.svc(['agents'], { cwd, env: { PATH: bin } });
      assert.equal(code, 0);
      assert.equal(stdout.trim().split('\n').length, 11);
      assert.match(stderr, /no svc\.yaml here/);
      writeFileSync(join(cwd, 'svc.yaml'), 'agents: { cmd: {} }\n');
      assert.equal((await ws.svc(['agents'], { cwd })).code, 2);
      assert.equal((await ws.svc(['agents'], { env: { SVC_CONFIG: join(cwd, 'nothing.yaml') } })).code, 4);
    } finally {
      rmSync(cwd, { recursive: true });
    }
  });
});
