import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { report } from '../support/processes/faults.ts';
import { until } from '../support/wait.ts';
import { isRunning, makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

interface Ended {
  task: {
    task_id: string;
    status: string;
    session_id: string;
    failure: { code: string; text: string } | null;
  };
}

describe('a worker that misbehaves', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
    await ws.svc(['up']);
  });
  after(() => ws.close());

  async function run(prompt: string, ...args: string[]): Promise<Ended['task']> {
    const ran = await ws.svc([
      'task',
      'add',
      'misbehaves',
      `--prompt=${prompt}`,
      '--run',
      '-f',
      '--json',
      ...args,
    ]);
    return ran.json<Ended>().task;
  }

  test('a worker that ignores SIGTERM is killed at its timeout, and recorded as timeout', async () => {
    const task = await run('#agent: ignore-term\n#agent: hang', '--timeout', '1');
    assert.deepEqual([task.status, task.failure?.code], ['failed', 'timeout']);
    assert.deepEqual(ws.survivors(), []);
    report('a worker that ignores SIGTERM', 'killed at its timeout, no process left');
  });

  test('a silent worker is stopped at the idle timeout', async () => {
    const quiet = await makeWorkspace({ hosted: true });
    try {
      await quiet.svc(['config', 'set', 'agents.idle_timeout_sec', '1']);
      const ran = await quiet.svc(['task', 'add', 'quiet', '--prompt=#agent: hang', '--run', '-f', '--json']);
      const { task } = ran.json<Ended>();
      assert.deepEqual([task.status, task.failure?.code], ['failed', 'idle_timeout']);
    } finally {
      await quiet.close();
    }
  });

  test("a worker's detached child ends with it: nothing of the run survives", async () => {
    const file = join(ws.repository.folder, 'detached.pid');
    const task = await run(`#agent: detach ${file}`);
    assert.equal(task.status, 'done');
    assert.equal(isRunning(Number(readFileSync(file, 'utf8'))), false);
    assert.deepEqual(ws.survivors(), []);
    report('a worker that leaves a detached child and ends', 'the child ended with it');
  });

  test("a cancelled worker's detached child ends with it", async () => {
    const file = join(ws.repository.folder, 'detached-2.pid');
    const added = await ws.svc([
      'task',
      'add',
      'detaches',
      `--prompt=#agent: detach ${file}\n#agent: hang`,
      '--run',
      '--json',
    ]);
    const { task } = added.json<Ended>();
    const pid = Number(await until(() => readText(file), 'the detached child'));
    await ws.svc(['task', 'cancel', task.task_id]);
    await until(() => !isRunning(pid), 'the detached child to end');
    await ws.svc(['task', 'log', task.task_id, '-f']);
    assert.deepEqual(ws.survivors(), []);
    report('a worker that leaves a detached child and is cancelled', 'the child ended with it');
  });

  test('a worker that prints 100 MB ends well, its log is cut to its newest part, and a reader learns of it', async () => {
    const task = await run('#agent: print 100MB');
    assert.equal(task.status, 'done');
    const log = join(ws.root, '.svc', 'agents', task.session_id, 'log');
    assert.ok(statSync(log).size <= 64 * 1024 * 1024, `${statSync(log).size} bytes are kept`);
    const tail = await ws.svc(['task', 'log', task.task_id, '-n', '3']);
    assert.match(tail.stdout, /agent: done/);
    report('a worker that prints 100 MB', 'sealed; the log was cut to its newest part');
  });

  test('a worker whose program is missing is refused by the name of the program, and no task is created', async () => {
    await ws.svc(['config', 'set', 'agents.cmds.absent', 'no-such-agent-program -- {{prompt}}']);
    const ran = await ws.svc(['task', 'add', 'absent', '-a', 'absent', '-p', 'x', '--run', '-f', '--json']);
    const { error } = ran.json<{ error: { code: string; message: string } }>();
    assert.equal(error.code, 'tool_missing');
    assert.match(error.message, /no-such-agent-program/);
    const { tasks } = await (await ws.connect()).call('task.list', { limit: 100 });
    assert.deepEqual(
      tasks.filter(({ agent }) => agent === 'absent'),
      [],
    );
    report('an agent whose program >', 'refused by name, nothing started');
  });

  test('a worker gets a hostile prompt as one argument, byte for byte', async () => {
    const prompt = `--help "quoted" 'single' $(touch /tmp/no) \`id\` \\ {{name}} \n#agent: echo-argv\n#agent: no-change\n-- end`;
    const task = await run(prompt);
    assert.equal(task.status, 'done');
    const log = readFileSync(join(ws.root, '.svc', 'agents', task.session_id, 'log'), 'utf8');
    assert.ok(log.includes(JSON.stringify(prompt).slice(1, -1)), log);
  });

  test("a worker gets its session's variables and none of the host's secrets", async () => {
    const task = await run('#agent: echo-env\n#agent: no-change');
    const log = readFileSync(join(ws.root, '.svc', 'agents', task.session_id, 'log'), 'utf8');
    assert.match(log, new RegExp(`"SVC_TASK":"${task.task_id}"`));
    assert.match(log, new RegExp(`"SVC_SESSION":"${task.session_id}"`));
    assert.doesNotMatch(log, /SVC_WEBHOOK_SECRET|a secret of the tests/);
  });

  test('a worker beyond the cap waits in order and runs when there is room', async () => {
    await ws.svc(['down', '--stop-workers']);
    const { spawn } = await import('node:child_process');
    const { SVC } = await import('../support/workspaces/workspace.ts');
    const daemon = spawn(process.execPath, [SVC, 'daemon', '--max-workers', '1'], {
      cwd: ws.root,
      env: ws.env,
      stdio: 'ignore',
    });
    try {
      await until(() => ws.daemonPid() === daemon.pid, 'the daemon');
      const go = join(ws.repository.folder, 'go');
      const first = (
        await ws.svc(['task', 'add', 'first', `--prompt=#agent: wait-for ${go}`, '--run', '--json'])
      ).json<Ended>().task;
      const second = (await ws.svc(['task', 'add', 'second', '-p', 'x', '--run', '--json'])).json<Ended>()
        .task;
      const status = async (id: string) =>
        (await ws.svc(['task', 'show', id, '--json'])).json<Ended>().task.status;
      await until(async () => (await status(first.task_id)) === 'running', 'the first to run');
      assert.equal(await status(second.task_id), 'assigned');
      const third = (await ws.svc(['task', 'add', 'third', '-p', 'x', '--run', '--json'])).json<Ended>().task;
      await ws.svc(['task', 'cancel', third.task_id]);
      assert.equal(await status(third.task_id), 'failed', 'cancelling does not wait for a free slot');
      const { task, sessions } = (await ws.svc(['task', 'show', third.task_id, '--json'])).json<
        Ended & { sessions: { worktree: string | null }[] }
      >();
      assert.deepEqual([task.failure?.code, sessions[0]?.worktree], ['cancelled', null]);
      (await import('node:fs')).writeFileSync(go, '');
      await ws.svc(['task', 'log', second.task_id, '-f']);
      assert.deepEqual([await status(first.task_id), await status(second.task_id)], ['done', 'done']);
    } finally {
      daemon.kill('SIGTERM');
      await until(() => !isRunning(daemon.pid ?? 0), 'the daemon to stop');
    }
  });
});

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}
