import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../support/wait.ts';
import { isRunning, makeWorkspace, SVC } from '../../support/workspaces/workspace.ts';

/** Leaves a process behind that ignores SIGTERM. */
const LEAVES_ONE_BEHIND = "setsid sh -c 'trap : TERM; touch begun; while :; do sleep 1; done' & sleep 0.2";

test('an engine that is stopped while a notice command runs ends completely, and is not started again', async (t) => {
  const ws = await makeWorkspace({ env: { SVC_CONTAINMENT: 'marks' } });
  t.after(() => ws.close());
  const yaml = readFileSync(join(ws.root, 'svc.yaml'), 'utf8');
  const notify = JSON.stringify({ scripted: { mode: 'shell', cmd: `sh -c "${LEAVES_ONE_BEHIND}"` } });
  ws.repository.write('svc.yaml', yaml.replace('agents:\n', `agents:\n  notify: ${notify}\n`));
  ws.agree();
  await ws.program(['up']);
  const client = await ws.connect();
  const { task_id } = await client.call('task.add', { title: 'w', body: '#agent: hang' });
  const { session } = await client.call('task.run', { id: task_id });
  await client.call('msg.send', { to_session: session?.session_id ?? '', body: 'x' });
  await until(() => existsSync(join(ws.root, 'begun')), 'the notice command to have begun');
  const [pid, supervisor] = [ws.daemonPid() ?? 0, ws.supervisorPid() ?? 0];
  const { code, stderr } = await ws.program(['down', '--stop-workers']);
  assert.equal(code, 0, stderr);
  await until(() => !isRunning(pid) && !isRunning(supervisor), 'the engine and its supervisor to end');
  assert.doesNotMatch(
    readFileSync(join(ws.root, '.svc', 'log', 'daemon.out'), 'utf8'),
    /is restarted|unsettled/,
  );
});

test('an engine that was started with --stop-workers stops its workers when it gets a signal, and records it', async (t) => {
  const ws = await makeWorkspace();
  t.after(() => ws.close());
  const daemon = spawn(process.execPath, [SVC, 'daemon', '--stop-workers'], {
    cwd: ws.root,
    env: ws.env,
    stdio: 'ignore',
  });
  const ended = once(daemon, 'exit');
  await until(() => ws.daemonPid() === daemon.pid, 'the engine to listen');
  const show = async () =>
    (await ws.svc(['worker', 'show', 's-1', '--json'])).json<{
      state: string;
      failure: { code: string } | null;
    }>();
  await ws.svc(['run', '#agent: hang']);
  await until(async () => (await show()).state === 'running', 'the worker to run');
  daemon.kill('SIGTERM');
  assert.deepEqual(await ended, [0, null]);
  assert.deepEqual(ws.survivors(), []);
  assert.equal((await show()).failure?.code, 'cancelled');
});
