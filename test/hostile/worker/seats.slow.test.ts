import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOwnCgroup } from '../../../engine/core/platform/linux/containment/cgroup.ts';
import { answersOf, attackScript, LEVELS, seatAttacks } from '../../support/agents/seat-attacks.ts';
import { impossible } from '../../support/agents/strict.ts';
import { asUsers, giveFolderTo, hostile, type TestUser } from '../../support/hostile.ts';
import { until } from '../../support/wait.ts';
import { isRunning, makeWorkspace, SVC } from '../../support/workspaces/workspace.ts';

interface Shown {
  task: { status: string };
  sessions: { session_id: string; containment: string | null }[];
}

/** Has a worker try everything; returns the answers and the run's containment. */
async function attackedBy(user: TestUser, level: string, profile: 'lite' | 'strict') {
  const ws = await makeWorkspace({
    ...(user.uid === process.getuid?.() ? {} : { user }),
    env: { SVC_CONTAINMENT: level },
    yaml: `guard: { profile: ${profile} }\n`,
  });
  const json = async <T>(...args: string[]): Promise<T> => {
    const ran = await ws.program([...args, '--json']);
    assert.equal(ran.code, 0, `${args.join(' ')}: ${ran.stderr}`);
    return JSON.parse(ran.stdout) as T;
  };
  try {
    const wanted = await json<{ task_id: string }>('task', 'add', 'wanted', '--agent', 'scripted');
    const folder = join(ws.root, 'attack');
    const cgroup = user.isRoot ? findOwnCgroup() : null;
    const attacks = seatAttacks({
      folder,
      data: join(ws.root, '.svc'),
      task: wanted.task_id,
      person: process.pid,
      node: process.execPath,
      svc: SVC,
      config: join(ws.root, 'svc.yaml'),
      cgroups: cgroup === null ? null : join(cgroup.mount, cgroup.path),
    });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'attack.sh'), attackScript(folder, attacks));
    giveFolderTo(folder, user);
    const prompt = `try\n#agent: no-change\n#agent: run sh ${join(folder, 'attack.sh')}`;
    const { session } = await json<{ session: { session_id: string } }>(
      ...['task', 'add', 'attacker', '--agent', 'scripted', '--prompt', prompt, '--run', '--inplace'],
    );
    const answers = await answersOf(folder, attacks);
    const shown = await json<Shown>('task', 'show', wanted.task_id);
    const [run] = await json<{ session_id: string; containment: string }[]>('worker', 'list', '--all');
    assert.ok(run !== undefined && run.session_id === session.session_id);
    return { answers, attacks, wanted: shown, held: run.containment };
  } finally {
    await ws.close();
  }
}

/** Checks that nothing ran, and that each caller was refused as not being the Chair or got no answer. */
function assertRefused({ answers, wanted }: Awaited<ReturnType<typeof attackedBy>>, where: string): void {
  assert.equal(wanted.sessions.length, 0, `${where}: it ran`);
  for (const [name, answer] of Object.entries(answers)) {
    assert.doesNotMatch(answer, /"seat":"chair"/, `${where}, ${name}`);
  }
  const refusals = Object.values(answers).filter((answer) => /chair_only|Chair seat/.test(answer)).length;
  assert.ok(
    refusals >= 10,
    `${where}: only ${refusals} attempts reached a refusal: ${JSON.stringify(answers)}`,
  );
}

hostile(
  {
    attacker: 'worker',
    tries:
      'take the Chair’s seat: clear its environment, lose its parents, name other pids, present the token',
    lite: 'refused',
    strict: 'refused',
  },
  async (t) => {
    for (const user of asUsers()) {
      for (const level of LEVELS) {
        const attacked = await attackedBy(user, level, 'lite');
        t.diagnostic(`${user.label}, SVC_CONTAINMENT=${level}: held by ${attacked.held}`);
        assertRefused(attacked, `${user.label}, ${level}`);
      }
    }
  },
  { timeoutMs: 900_000 },
);

hostile(
  {
    attacker: 'worker',
    tries: 'take the Chair’s seat from inside the sandbox in the same ways',
    lite: 'n/a',
    strict: 'refused',
  },
  async (t) => {
    for (const level of ['cgroup', 'marks'] as const) {
      const { answers, wanted, held } = await attackedBy(asUsers()[0] as TestUser, level, 'strict');
      t.diagnostic(`SVC_CONTAINMENT=${level}: held by ${held}`);
      assert.equal(wanted.sessions.length, 0);
      for (const [name, answer] of Object.entries(answers))
        assert.doesNotMatch(answer, /"seat":"chair"|"seat":"plain"/, name);
      assert.match(answers['a thousand hellos'] ?? '', /worker session s-1/);
      assert.match(answers.plainly ?? '', /worker session s-1/);
    }
  },
  { skip: impossible, timeoutMs: 300_000 },
);

hostile(
  {
    attacker: 'worker',
    tries: 'start an engine from its shell after the person’s has died',
    lite: 'refused: the person’s supervisor restarts it in the person’s environment',
    strict: 'refused: the person’s supervisor restarts it in the person’s environment',
  },
  async () => {
    for (const level of LEVELS) {
      const ws = await makeWorkspace({ env: { SVC_CONTAINMENT: level } });
      try {
        const out = join(ws.repository.folder, 'restarted');
        const svc = `'${process.execPath}' '${SVC}'`;
        // Inside a pid namespace it cannot end the engine, so the test does.
        const script = `touch ${out}.ready; while [ ! -e ${out}.go ]; do sleep 0.1; done; ${svc} up >${out} 2>&1; env -u SVC_RUN_ID -u SVC_SESSION ${svc} task list >>${out} 2>&1; touch ${out}.done; while [ ! -e ${out}.down ]; do sleep 0.1; done; env -u SVC_RUN_ID -u SVC_ENGINE_CHILD ${svc} daemon >>${out}.last 2>&1; ${svc} down >>${out}.last 2>&1; touch ${out}.over`;
        const prompt = `x\n#agent: no-change\n#agent: run ${script}`;
        const client = await ws.connect();
        const { task_id } = await client.call('task.add', { title: 'w', body: prompt });
        await client.call('task.run', { id: task_id, inplace: true });
        await until(() => existsSync(`${out}.ready`), 'the worker');
        const supervisor = ws.supervisorPid();
        process.kill(ws.daemonPid() ?? 0, 'SIGKILL');
        writeFileSync(`${out}.go`, '');
        await until(() => existsSync(`${out}.done`), 'the worker to have tried');
        assert.equal(ws.supervisorPid(), supervisor, level);
        const { receivers } = await (await ws.connect()).call('engine.status');
        assert.equal(receivers.length, 1, `${level}: the receiver has the person's secret`);
        // No process of the person is left, so no engine starts.
        await ws.killDaemon();
        writeFileSync(`${out}.down`, '');
        await until(() => existsSync(`${out}.over`), 'the worker to have tried again');
        const said = readFileSync(`${out}.last`, 'utf8');
        assert.match(said, /a worker cannot start one/, level);
        assert.equal(isRunning(ws.daemonPid() ?? 0), false, level);
        // The person's next command starts one, which adopts the worker.
        const [task] = (await ws.program(['task', 'list', '--json'])).json() as { status: string }[];
        assert.ok(task !== undefined, level);
      } finally {
        await ws.close();
      }
    }
  },
);
