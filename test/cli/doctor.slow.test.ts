import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { makeWorkspace, SECRET, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';

interface Check {
  check: string;
  state: 'ok' | 'warn' | 'fail';
  found: string;
  remedy: string | null;
}

const named = (checks: readonly Check[], name: string): Check => {
  const found = checks.find((each) => each.check === name);
  assert.ok(found, `no check ${name}`);
  return found;
};

describe('svc doctor in a workspace', () => {
  let workspace: TestWorkspace;
  before(async () => {
    workspace = await makeWorkspace();
  });
  after(() => workspace.close());

  const doctor = async (
    env: NodeJS.ProcessEnv = {},
  ): Promise<{ code: number; checks: Check[]; all: string }> => {
    const { code, stdout, stderr } = await workspace.svc(['doctor', '--json'], { env });
    return { code, checks: JSON.parse(stdout), all: stdout + stderr };
  };

  it('doctor finds everything in place, and starts no engine', async () => {
    const { code, checks } = await doctor();
    assert.equal(code, 0, JSON.stringify(checks.filter(({ state }) => state === 'fail')));
    const names = [
      'node',
      'git',
      'sqlite',
      'svc.yaml',
      'data folder',
      'disk space',
      'file system',
      'socket path',
    ];
    for (const name of [
      ...names,
      'repository',
      'ignored by git',
      'default agent',
      'webhook.secret_env',
      'clock',
    ]) {
      assert.equal(named(checks, name).state, 'ok', name);
    }
    assert.match(named(checks, 'engine').found, /not running/);
    assert.equal(workspace.daemonPid(), null);
  });

  it('doctor gives every row a state, and a fix where something fails', async () => {
    const { checks } = await doctor({ PATH: '/nowhere' });
    for (const each of checks) {
      assert.deepEqual(Object.keys(each), ['check', 'state', 'found', 'remedy']);
      if (each.state === 'fail') assert.ok(each.remedy);
    }
    assert.equal(named(checks, 'git').state, 'fail');
  });

  it('doctor names secrets, never their values', async () => {
    const set = await doctor();
    assert.ok(!set.all.includes(SECRET));
    assert.match(named(set.checks, 'webhook.secret_env').found, /^SVC_WEBHOOK_SECRET set/);
    const unset = await doctor({ SVC_WEBHOOK_SECRET: '' });
    assert.equal(named(unset.checks, 'webhook.secret_env').state, 'warn');
    const short = await doctor({ SVC_WEBHOOK_SECRET: 'zq81' });
    assert.equal(named(short.checks, 'webhook.secret_env').state, 'warn');
    assert.ok(!short.all.includes('zq81'));
  });

  it('doctor asks the built-in agents for their version, gives up on one that hangs, and tries no other program', async () => {
    const folder = join(workspace.repository.folder, 'bin');
    mkdirSync(folder);
    const program = (name: string, script: string): void => {
      writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
      chmodSync(join(folder, name), 0o755);
    };
    program('claude', `printf '\\033[31m9.8.7 (%s)\\033[0m\\nmore\\n' "\${SVC_WEBHOOK_SECRET:-no secret}"`);
    program('codex', 'exec tail -f /dev/null');
    const PATH = [folder, workspace.env.PATH].join(delimiter);
    const { code, checks } = await doctor({ PATH });
    assert.equal(code, 0);
    assert.equal(named(checks, 'agent claude').found, 'claude: 9.8.7 (no secret)');
    assert.match(named(checks, 'agent codex').found, /no version within 5 s/);
    assert.match(named(checks, 'agent scripted').found, /not checked/);
    assert.match(named(checks, 'agents').found, /not installed: .*gemini/);
  });

  it('doctor exits with code 1 when another program holds the address of the receiver', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as AddressInfo;
    const before = (await workspace.svc(['config', 'get', 'ui.addr'])).stdout.trim();
    await workspace.svc(['config', 'set', 'ui.addr', `127.0.0.1:${port}`]);
    await workspace.svc(['config', 'set', 'gateway.addr', '127.0.0.1:1']);
    await workspace.svc(['config', 'set', 'agents.auth', '{claude: gateway}']);
    try {
      const { code, checks } = await doctor();
      assert.equal(code, 1);
      assert.equal(named(checks, 'ui.addr').state, 'fail');
      assert.match(
        named(checks, 'gateway.addr').found,
        /is free: the engine opens it .*; claude goes through it/,
      );
      const alone = named((await doctor({ SVC_SKIP_GATEWAY_AUTOSTART: '1' })).checks, 'gateway.addr');
      assert.equal(alone.state, 'fail');
      assert.match(alone.found, /nothing listens on .*, and claude goes through it/);
    } finally {
      other.close();
      await workspace.svc(['config', 'set', 'ui.addr', before]);
      await workspace.svc(['config', 'set', 'agents.auth', '{}']);
    }
  });

  it('doctor sees the running engine, its version and its clock, and that it holds its own address', async () => {
    await workspace.svc(['config', 'set', 'ui.addr', '127.0.0.1:0']);
    assert.equal((await workspace.svc(['up'])).code, 0);
    await workspace.svc(['config', 'set', 'ui.addr', await workspace.receiver()]);
    const { code, checks } = await doctor();
    assert.equal(code, 0);
    assert.match(named(checks, 'engine').found, new RegExp(`^runs, pid ${workspace.daemonPid()}`));
    assert.match(named(checks, 'ui.addr').found, /held by the engine/);
    assert.match(named(checks, 'clock').found, /in step|from the engine/);
    assert.match(named(checks, 'data folder').found, /0700$/);
  });

  it('doctor distinguishes an engine that hangs from one that does not run, within seconds', async () => {
    const pid = workspace.daemonPid();
    assert.ok(pid);
    process.kill(pid, 'SIGSTOP');
    try {
      const { code, checks } = await doctor();
      assert.equal(code, 1);
      assert.match(named(checks, 'engine').found, /does not answer/);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });

  it('doctor warns of a data folder and of keys that others can read', async () => {
    const data = join(workspace.root, '.svc');
    chmodSync(data, 0o755);
    mkdirSync(join(workspace.repository.folder, 'home'), { recursive: true });
    const keys = join(workspace.repository.folder, 'home', 'keys.env');
    writeFileSync(keys, 'A=b\n', { mode: 0o644 });
    try {
      const { checks } = await doctor();
      assert.match(named(checks, 'data folder').remedy ?? '', /^chmod 700/);
      assert.match(named(checks, 'keys.env').remedy ?? '', /^chmod 600/);
    } finally {
      chmodSync(data, 0o700);
      rmSync(keys);
    }
  });

  it('doctor prints the problems of a broken svc.yaml with their lines, and still checks the machine', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'svc.yaml'), 'agents:\n  timout_sec: 5\n');
    const { code, stdout } = await workspace.svc(['doctor'], { cwd: folder });
    rmSync(folder, { recursive: true });
    assert.equal(code, 1);
    assert.match(stdout, /fail {2}svc\.yaml .*svc\.yaml:2:3 agents\.timout_sec/);
    assert.match(stdout, /ok {4}git /);
    assert.match(stdout, /not checked: svc\.yaml cannot be used/);
  });
});

describe('svc doctor without a workspace', () => {
  it('doctor outside a workspace names the skipped checks and succeeds', async () => {
    const folder = temporaryFolder();
    const env = { PATH: process.env.PATH, SVC_HOME: join(folder, 'home') };
    const stdout = await new Promise<string>((resolve, reject) => {
      execFile(process.execPath, [SVC, 'doctor'], { cwd: folder, env }, (error, text) =>
        error === null ? resolve(text) : reject(error),
      );
    });
    rmSync(folder, { recursive: true });
    assert.match(stdout, /ok {4}node/);
    assert.match(stdout, /no svc\.yaml .*\n.*run svc init/);
    assert.match(stdout, /engine .*not checked: there is no workspace here/);
  });
});
