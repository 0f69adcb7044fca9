import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import type { EngineClient } from '../../engine/index.ts';
import { until } from '../support/wait.ts';
import { takePart } from '../support/workspaces/seats.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';

/** A shell's output and exit code. */
interface Said {
  code: number;
  text: string;
}

describe('seats other than the Chair act for themselves only', { timeout: 120_000 }, () => {
  let ws: TestWorkspace;
  let client: EngineClient;
  let worker: string;
  let mark: string;

  before(async () => {
    ws = await makeWorkspace({ hosted: true });
    client = await ws.connect();
    const { task_id } = await client.call('task.add', {
      title: 'w',
      body: '#agent: hang',
    });
    const { session } = await client.call('task.run', { id: task_id });
    assert.ok(session);
    worker = session.session_id;
    const pid = await until(async () => {
      const [row] = await client.call('session.list', { ids: [worker] });
      return row?.pid;
    });
    mark = await until(() => /SVC_RUN_ID=([^\0]+)/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1]);
    await takePart(ws, 'bob');
    await client.call('lock.acquire', { holder: 'bob', path: 'src' });
    await client.call('msg.send', { to_session: 'bob', body: 'for bob' });
  });
  after(() => ws.close());

  /** A command line inside the worker's process tree. */
  async function inside(command: string): Promise<Said> {
    const run = promisify(execFile)('/bin/sh', ['-c', `${command}; exit $?`], {
      cwd: ws.root,
      env: { ...ws.env, SVC_RUN_ID: mark, SVC_SESSION: worker, svc: SVC, node: process.execPath },
    });
    return run.then(
      ({ stdout }) => ({ code: 0, text: stdout }),
      (error: { code: number; stdout: string; stderr: string }) => ({
        code: error.code,
        text: error.stdout + error.stderr,
      }),
    );
  }
  const svc = '"$node" "$svc"';

  test('a worker stays that worker under an invented mark', async () => {
    for (const disguise of [
      'SVC_RUN_ID=made-up SVC_SESSION=bob',
      'SVC_RUN_ID= SVC_SESSION=bob',
      'SVC_SESSION=bob',
      'env -u SVC_RUN_ID -u SVC_SESSION',
      'SVC_RUN_ID=made-up SVC_SESSION=chair',
    ]) {
      const add = await inside(`${disguise} ${svc} tool call task_add --title more`);
      assert.equal(add.code, 3, disguise);
      assert.match(add.text, new RegExp(`worker session ${worker}`), disguise);
      const release = await inside(`${disguise} ${svc} tool call lock_release --holder bob --path src`);
      assert.equal(release.code, 3, `${disguise}: ${release.text}`);
      const read = await inside(`${disguise} ${svc} tool call msg_inbox --session bob`);
      assert.equal(read.code, 3, `${disguise}: ${read.text}`);
    }
  });

  test('a plain session neither holds, releases, reads nor writes for another', async () => {
    const alice = { env: { SVC_SESSION: 'alice' } };
    const call = async (name: string, input: object): Promise<string> => {
      const ran = await ws.svc(['tool', 'call', name, '--args', JSON.stringify(input)], alice);
      assert.equal(ran.code, 3, `${name} ${ran.stdout}${ran.stderr}`);
      return ran.stderr;
    };
    assert.match(await call('lock_release', { holder: 'bob', path: 'src' }), /alice cannot act for bob/);
    await call('lock_acquire', { holder: worker, path: 'lib' });
    await call('msg_inbox', { session: 'bob' });
    await call('msg_inbox', { session: 'chair' });
    await call('msg_send', { to_session: 'bob', body: 'x', from_session: 'chair' });
    await call('msg_ack', { id: 1, session: 'bob' });
    await call('verify_report', { session: worker, tests: [] });
    await call('task_done', { id: 't-1' });
    const own = await ws.svc(['tool', 'call', 'lock_acquire', '--holder', 'alice', '--path', 'lib'], alice);
    assert.equal(own.code, 0, own.stderr);
  });

  test('no session takes the name of another kind of session', async () => {
    for (const name of ['chair', 'Chair', 'chair-1', 'chair@x', 's-99', 'S-1', 'w-1', 'me', '../x', 'a/b'])
      for (const words of [['msg_inbox'], ['task_add', '--title', 'x'], ['task_list']]) {
        const ran = await ws.svc(['tool', 'call', ...words], { env: { SVC_SESSION: name } });
        assert.equal(ran.code, 2, `${name} ${words[0]}`);
        assert.ok(
          ran.stderr.includes(`SVC_SESSION is ${JSON.stringify(name)}, which is neither a session id`),
          ran.stderr,
        );
      }
  });
});
