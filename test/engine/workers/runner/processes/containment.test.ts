import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { platform, workspaceMark } from '../../../../../engine/core/platform/index.ts';
import {
  endCgroup,
  findCgroupBase,
  findOwnCgroup,
  JOIN,
  listPids,
} from '../../../../../engine/core/platform/linux/containment/cgroup.ts';
import { createProcesses } from '../../../../../engine/workers/runner/processes/index.ts';
import { isRunning } from '../../../../support/processes/processes.ts';
import { settled, until } from '../../../../support/wait.ts';
import { temporaryFolder } from '../../../../support/workspaces/git.ts';

const folder = temporaryFolder();
const data = join(folder, '.svc');
mkdirSync(data);
const { createContainment } = platform;
const name = `svc-${workspaceMark(data)}`;
const env = { PATH: process.env.PATH };
const base = await findCgroupBase(name);
const skip = base === null && 'this user may not make cgroups here';
if (base === null) console.error('NOT TESTED: cgroups, which this user may not make here');
after(() => {
  if (base !== null) void endCgroup(base);
  rmSync(folder, { recursive: true, force: true });
});

/** A run of a shell script, with this machine's containment. */
async function run(script: string, containment = createContainment({ data, env })) {
  const runId = randomUUID();
  const runDir = join(folder, runId);
  mkdirSync(runDir, { recursive: true });
  const processes = createProcesses({ pollMs: 10, containment });
  const spec = {
    runDir,
    runId,
    argv: ['/bin/sh', '-c', script],
    cwd: runDir,
    env: { PATH: '/usr/bin:/bin' },
  };
  const running = await processes.start({ ...spec, logFile: join(runDir, 'log') });
  return { processes, running, runId, runDir, log: () => readFileSync(join(runDir, 'log'), 'utf8') };
}

describe('the cgroup of a run', { skip }, () => {
  test('the cgroup holds its program from the first instruction on, and is removed with it', async () => {
    const { processes, running, runId, log } = await run('cat /proc/self/cgroup');
    assert.equal(running.containment, 'cgroup');
    assert.deepEqual(await settled(running.exited), { code: 0, signal: null });
    assert.ok(log().includes(`/${name}/${runId}`), log());
    assert.deepEqual(await processes.sweep(runId, running.pidStart), { survivors: [] });
    assert.equal(existsSync(join(base ?? '', runId)), false);
  });

  test('the cgroup is ended and removed with those that the run made inside it', async () => {
    const { processes, running, runId, log } = await run(
      `c=${base}/$(basename "$PWD"); mkdir -p $c/a/b && (setsid env -i sh -c "echo 0 >$c/a/b/cgroup.procs; sleep 600" &) ; sleep 0.3; echo ready`,
    );
    await settled(running.exited);
    assert.match(log(), /ready/);
    assert.ok(listPids(join(base ?? '', runId)).length > 0);
    assert.deepEqual(await processes.sweep(runId), { survivors: [] });
    assert.equal(existsSync(join(base ?? '', runId)), false);
  });

  test('the cgroup shows the runs of a process without their marks in its environment', async () => {
    const { processes, running, runId, runDir } = await run(
      '(setsid env -i sh -c "echo \\$\\$ >pid.tmp; mv pid.tmp pid; exec sleep 600" &)',
    );
    await settled(running.exited);
    const file = join(runDir, 'pid');
    const pid = Number(await until(() => existsSync(file) && readFileSync(file, 'utf8')));
    assert.deepEqual(processes.listRunsAbove(pid), [runId]);
    // Another engine that starts now ends it unless it knows the run.
    const later = createContainment({ data, env });
    await later.endUnknownRuns((known) => known === runId);
    assert.ok(isRunning(pid));
    await createContainment({ data, env }).endUnknownRuns(() => false);
    await until(() => !isRunning(pid), 'its end');
  });

  test('a run in a folder that an engine elsewhere has recorded is ended, and other recorded paths are ignored', async () => {
    const elsewhere = join(base ?? '', '..', `svc-test-${process.pid}`, name);
    const [folderOfRun, outside] = [join(elsewhere, randomUUID()), join(folder, name)];
    mkdirSync(folderOfRun, { recursive: true });
    mkdirSync(join(outside, 'run'), { recursive: true });
    const record = join(data, 'cgroups');
    writeFileSync(
      record,
      `${readFileSync(record, 'utf8')}${elsewhere}\n${outside}\n${elsewhere}/../${name}\n`,
    );
    const child = spawn(
      '/bin/sh',
      ['-c', JOIN, 'svc-run', join(folderOfRun, 'cgroup.procs'), 'sleep', '600'],
      {
        env: {},
      },
    );
    await until(() => listPids(folderOfRun).length > 0);
    await createContainment({ data, env }).endUnknownRuns(() => false);
    await until(() => child.signalCode === 'SIGKILL', 'its end');
    assert.equal(existsSync(elsewhere), false);
    assert.ok(existsSync(join(outside, 'run')));
    rmdirSync(dirname(elsewhere));
  });

  test('the trial of a host that ends immediately leaves nothing behind', async () => {
    const brief = join(folder, 'brief');
    const containment = createContainment({ data: brief, env });
    void containment.kind();
    await containment.close();
    assert.equal(existsSync(join(base ?? '', '..', `svc-${workspaceMark(brief)}`)), false);
  });

  test('the processes are ended one by one where the kernel cannot end them together', async () => {
    const { running, runId } = await run(
      'for n in 1 2 3 4 5; do (setsid env -i sleep 600 &); done; sleep 0.2',
    );
    await settled(running.exited);
    const place = join(base ?? '', runId);
    const pids = listPids(place);
    assert.equal(pids.length, 5);
    assert.deepEqual(await endCgroup(place, { atOnce: false }), []);
    assert.ok(pids.every((pid) => !isRunning(pid)));
    assert.equal(existsSync(place), false);
  });
});

describe('finding cgroups', () => {
  const proc = (cgroup: string, mountinfo: string): string => {
    const at = join(folder, randomUUID());
    mkdirSync(at);
    writeFileSync(join(at, 'cgroup'), cgroup);
    writeFileSync(join(at, 'mountinfo'), mountinfo);
    return at;
  };
  const v1 = '30 24 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu';
  const v2 = (root: string, at: string) => `31 24 0:27 ${root} ${at} rw,nosuid - cgroup2 cgroup2 rw`;

  test('cgroups are read for version 2 alone, next to version 1, in a part of it, and not at all', () => {
    const own = (cgroup: string, ...mounts: string[]) => findOwnCgroup(proc(cgroup, mounts.join('\n')));
    assert.deepEqual(own('0::/user.slice/a.scope\n', v2('/', '/sys/fs/cgroup')), {
      mount: '/sys/fs/cgroup',
      path: '/user.slice/a.scope',
    });
    assert.deepEqual(own('3:cpu:/x\n0::/\n', v1, v2('/', '/sys/fs/cgroup/unified')), {
      mount: '/sys/fs/cgroup/unified',
      path: '/',
    });
    assert.deepEqual(own('0::/docker/abc/d\n', v2('/docker/abc', '/sys/fs/cgroup')), {
      mount: '/sys/fs/cgroup',
      path: '/d',
    });
    assert.deepEqual(own('0::/\n', v2('/', '/with\\040blank'))?.mount, '/with blank');
    assert.equal(own('3:cpu:/x\n', v1), null);
    assert.equal(own('0::/../other\n', v2('/', '/sys/fs/cgroup')), null);
    assert.equal(findOwnCgroup(join(folder, 'nowhere')), null);
  });

  test('a machine where none can be made has none, and the search ends', async () => {
    assert.equal(await findCgroupBase(name, { mount: '/proc', path: '/' }), null);
    assert.equal(await findCgroupBase(name, null), null);
  });
});

describe('a run that is held by marks only', () => {
  test('the run reports it, and starts as usual', async () => {
    const { running } = await run(
      'exit 3',
      createContainment({ data, env: { ...env, SVC_CONTAINMENT: 'marks' } }),
    );
    assert.equal(running.containment, 'marks');
    assert.equal((await settled(running.exited)).code, 3);
  });

  test('an invalid setting does not weaken containment', async () => {
    const odd = createContainment({ data, env: { ...env, SVC_CONTAINMENT: 'none' } });
    assert.equal(await odd.kind(), await createContainment({ data, env }).kind());
  });
});

describe('identifying a caller', () => {
  test('a process that has lost its parents below the host leads to the host, and is cleaned up', async () => {
    const kernel = await platform.loadKernel();
    assert.equal(kernel.problem, null);
    const stop = kernel.adoptOrphans();
    let child: ChildProcess | undefined;
    try {
      const file = join(folder, 'orphan');
      child = spawn(
        '/bin/sh',
        ['-c', `(setsid env -i sh -c 'echo $$ >${file}.tmp; mv ${file}.tmp ${file}; exec sleep 600' &)`],
        { stdio: 'ignore' },
      );
      const pid = Number(await until(() => existsSync(file) && readFileSync(file, 'utf8')));
      await until(() => readFileSync(`/proc/${pid}/status`, 'utf8').includes(`PPid:\t${process.pid}\n`));
      const processes = createProcesses();
      const pidStart = processes.readStartTime(pid) ?? '';
      assert.equal(processes.traceProcess({ pid, pidStart }).doubt, 'the engine itself started it');
      assert.match(processes.traceProcess({ pid, pidStart: '1' }).doubt ?? '', /has ended/);
      assert.match(processes.traceProcess(null).doubt ?? '', /does not report/);
      process.kill(pid, 'SIGKILL');
      await until(() => !existsSync(`/proc/${pid}`), 'the zombie to be cleared away');
    } finally {
      stop();
      child?.kill();
    }
  });
});
