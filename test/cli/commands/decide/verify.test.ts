import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Task, Verification, WireValue } from '../../../../engine/index.ts';
import { settled, until } from '../../../support/wait.ts';
import { isRunning, makeWorkspace, SVC, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('svc verify', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
  });
  after(() => ws.close());

  /** An ended run with evidence. */
  async function ran(evidence: object | null): Promise<string> {
    const added = await ws.svc([
      'task',
      'add',
      '-p',
      '#agent: edit made.txt by the worker',
      '--run',
      '-f',
      '--json',
    ]);
    assert.equal(added.code, 0, added.stderr);
    const session = added.json<{ task: WireValue<Task> }>().task.session_id ?? assert.fail();
    if (evidence !== null) await (await ws.connect()).call('verify.report', { session, ...evidence });
    return session;
  }
  const passed = (command: string) => ({ command, result: 'passed' });

  test('show prints what was reported and whether it still holds', async () => {
    const session = await ran({
      summary: 'made it',
      criteria: [{ criterion: 'it is\nmade', met: false, note: 'not \u001b[31myet' }],
      tests: [passed('test -f made.txt')],
      symbols: [{ path: 'made.txt' }],
    });
    const { code, stdout } = await ws.svc(['verify', 'show', session]);
    assert.equal(code, 0);
    assert.match(stdout, new RegExp(`^session +${session} reported: by the worker only$`, 'm'));
    assert.match(stdout, /^summary +made it$/m);
    assert.match(stdout, /^why not verified\n {2}not met: it is\n {2}made$/m);
    assert.match(stdout, /^criteria\n {2}not met {5}it is\n {14}made\n {14}\(not \\x1b\[31myet\)$/m);
    assert.match(stdout, /^tests\n {2}passed {6}test -f made\.txt$/m);
    assert.match(stdout, /^symbols\n {2}is there {4}made\.txt/m);
    const shown = await ws.svc(['verify', 'show', session.slice(2), '--json']);
    assert.equal(shown.json<WireValue<Verification>>().session_id, session);
    assert.equal((await ws.svc(['verify', 'show', 's-99'])).code, 4);
    assert.match((await ws.svc(['verify', 'show', await ran(null)])).stdout, /nothing was reported/);
  });

  test('rerun exits with 0 when everything ends as reported, and with 5 otherwise', async () => {
    const honest = await ran({ tests: [passed('test -f made.txt')] });
    const fine = await ws.svc(['verify', 'rerun', honest]);
    assert.equal(fine.code, 0, fine.stderr);
    assert.match(fine.stdout, new RegExp(`^session +${honest} verified: svc reran the tests`, 'm'));
    assert.match(fine.stdout, /^ {2}agrees {6}test -f made\.txt\n {14}\(exit code 0\)$/m);
    assert.match(fine.stderr, /^runs 1 of 1: test -f made\.txt$/m);
    // The checkout of the rerun has been removed.
    assert.doesNotMatch(ws.repository.git('worktree', 'list'), /verify-/);
    assert.deepEqual(
      readdirSync(join(ws.root, '.svc', 'agents', honest)).filter((each) => /^verify-/.test(each)),
      [],
    );
    const lying = await ran({ tests: [passed('echo never ran; test -f missing.txt')] });
    const caught = await ws.svc(['verify', 'rerun', lying]);
    assert.equal(caught.code, 5);
    assert.match(caught.stdout, new RegExp(`^session +${lying} disagrees: svc reran`, 'm'));
    assert.match(caught.stdout, /\(exit code 1\)\n {4}never ran$/m);
    const json = await ws.svc(['verify', 'rerun', lying, '--json']);
    assert.deepEqual([json.code, json.json<WireValue<Verification>>().rerun?.agrees], [5, false]);
    assert.equal((await ws.svc(['verify', 'rerun', await ran(null)])).code, 4);
    const asWorker = { env: { SVC_RUN_ID: 'of another workspace' } };
    assert.equal((await ws.svc(['verify', 'rerun', honest], asWorker)).code, 3);
  });

  /** A rerun whose command writes a file when it starts, and then runs for a long time. */
  async function hanging(name: string) {
    const file = join(ws.repository.folder, name);
    const session = await ran({ tests: [passed(`echo $$ > '${file}'; setsid sleep 600; sleep 600`)] });
    const child = spawn(process.execPath, [SVC, 'verify', 'rerun', session], {
      cwd: ws.root,
      env: ws.env,
      stdio: 'ignore',
    });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
    return { session, child, ended, pid: Number(readFileSync(file, 'utf8')) };
  }

  test('an interrupted rerun ends what it runs and records nothing', async () => {
    const { session, child, ended, pid } = await hanging('interrupted');
    child.kill('SIGINT');
    assert.equal(await settled(ended), 5);
    assert.equal(isRunning(pid), false);
    const { rerun } = (await ws.svc(['verify', 'show', session, '--json'])).json<WireValue<Verification>>();
    assert.equal(rerun, null);
  });

  test('processes of a rerun end with the next start of a daemon that was killed in between', async () => {
    const { session, ended, pid } = await hanging('killed');
    await ws.killDaemon();
    assert.equal(await settled(ended), 1);
    assert.equal(isRunning(pid), true);
    const { rerun } = (await ws.svc(['verify', 'show', session, '--json'])).json<WireValue<Verification>>();
    assert.equal(rerun, null);
    await until(() => !isRunning(pid));
    await until(() => !/verify-/.test(ws.repository.git('worktree', 'list')));
  });
});
