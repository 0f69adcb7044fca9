import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runGit, temporaryFolder } from '../support/workspaces/git.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

describe('the environment of the engine', () => {
  let ws: TestWorkspace;
  let env: NodeJS.ProcessEnv;
  let home: string;
  before(async () => {
    home = temporaryFolder('svc-person-');
    writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = Ada\n\temail = ada@example.test\n');
    ws = await makeWorkspace({ env: { HOME: home }, commands: { fresh: 'fresh-agent -- {{prompt}}' } });
    delete ws.env.GIT_CONFIG_GLOBAL;
    const bin = join(home, 'bin');
    mkdirSync(bin);
    assert.equal((await ws.program(['up'])).code, 0);
    // The program is installed after the engine was started.
    writeFileSync(join(bin, 'fresh-agent'), '#!/bin/sh\ntrue\n');
    chmodSync(join(bin, 'fresh-agent'), 0o755);
    env = { PATH: `${bin}${delimiter}${process.env.PATH}` };
  });
  after(() => ws.close());

  test("doctor names the environment as the reason when only the person's PATH has a program", async () => {
    const refused = await ws.program(['task', 'add', 'w', '--agent', 'fresh', '--run'], { env });
    assert.notEqual(refused.code, 0);
    assert.match(
      refused.stderr,
      /hint: fresh-agent is on your PATH, but not on the engine’s: svc down, then svc up/,
    );
    const elsewhere = await ws.program(['task', 'add', 'w', '--agent', 'fresh', '--run']);
    assert.doesNotMatch(elsewhere.stderr, /is on your PATH/);
  });

  test("doctor compares the engine's environment with the person's", async () => {
    const { stdout } = await ws.program(['doctor'], { env: { ...env, HOME: temporaryFolder('svc-other-') } });
    assert.match(stdout, /engine PATH +the engine does not find fresh-agent, which is on your PATH/);
    assert.match(stdout, /engine HOME +the engine has .*, you have /);
    assert.doesNotMatch((await ws.program(['doctor'])).stdout, /engine (?:PATH|HOME) /);
  });

  test('doctor says which account pays where a key is set next to a login', async () => {
    mkdirSync(join(home, '.claude'));
    writeFileSync(join(home, '.claude/.credentials.json'), '{}');
    await ws.program(['down']);
    const bin = join(home, 'bin');
    writeFileSync(join(bin, 'claude'), '#!/bin/sh\necho 2.0.0\n');
    chmodSync(join(bin, 'claude'), 0o755);
    const paying = { ...env, ANTHROPIC_API_KEY: 'sk-not-shown' };
    await ws.program(['up'], { env: paying });
    const added = await ws.program(['task', 'add', 'paid', '--agent', 'claude', '--json'], { env: paying });
    const { task_id: id } = added.json() as { task_id: string };
    const client = await ws.connect();
    assert.equal((await client.call('task.plan', { id })).key_before_login, 'ANTHROPIC_API_KEY');
    const posted = await ws.program(['webhook', 'test', '--agent', 'claude', '--prompt', 'x', '--json'], {
      env: paying,
    });
    assert.equal(posted.code, 0, posted.stderr);
    const decision = await ws.program(['decision', 'show', 'd-1'], { env: paying });
    assert.match(decision.stdout, /pays +the account of ANTHROPIC_API_KEY, not the login of claude/);
    const { stdout } = await ws.program(['doctor'], { env: paying });
    assert.match(
      stdout,
      /agent claude +ANTHROPIC_API_KEY is set, so runs of claude are billed to its account and not to the login/,
    );
    assert.doesNotMatch(stdout, /sk-not-shown/);
  });

  test('workers get the git identity of the person, even where HOME was not set', async () => {
    await ws.program(['down']);
    delete ws.env.HOME;
    await ws.program(['up']);
    const client = await ws.connect();
    const body = '#agent: run echo "$HOME" > home.txt';
    const { task_id: id } = await client.call('task.add', { title: 'w', body });
    const { session_id: session } = await client.call('task.run', { id, wait: true });
    assert.equal(runGit(ws.root, 'show', `svc/${session}:home.txt`), userInfo().homedir);
  });
});
