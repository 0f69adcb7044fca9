import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workspaceMark } from '../../../engine/core/platform/index.ts';
import { listCgroups } from '../../../engine/core/platform/linux/containment/cgroup.ts';
import { openCgroupFolders } from '../../../engine/core/platform/linux/containment/cgroup-folders.ts';
import { impossible, makeStrict } from '../../support/agents/strict.ts';
import { asUsers, giveFolderTo, hostile, type TestUser } from '../../support/hostile.ts';
import { isRunning } from '../../support/processes/processes.ts';
import { until } from '../../support/wait.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

/** Returns the running processes whose command line contains a word. */
const having = (word: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word) && isRunning(pid);
      } catch {
        return false;
      }
    });

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process ended together with the previous one.
  }
}

/** Ways in which a worker leaves a process behind: it sheds its parents, session, terminal and environment. */
function leaveBehind(word: string): string {
  const bare = 'env -i PATH=/usr/bin:/bin';
  const long = `sleep 600; : ${word}`;
  // Each starts a successor and exits, so killing the processes that were seen is always too late.
  const bomb = `import os, time, sys
while True:
    if os.fork(): os._exit(0)
    os.setsid()
    time.sleep(0.01)
    if os.fork() == 0: time.sleep(600)
`;
  return `#!/bin/sh
(setsid ${bare} /bin/sh -c '${long}' >/dev/null 2>&1 &)
(setsid ${bare} /bin/sh -c '(setsid /bin/sh -c "${long}" &)' >/dev/null 2>&1 &)
(${bare} nohup /bin/sh -c '${long}' >/dev/null 2>&1 &)
tmux -L ${word} -f /dev/null new -d "${bare} /bin/sh -c '${long}'" 2>/dev/null
(setsid ${bare} timeout 60 python3 -c '${bomb}' ${word} >/dev/null 2>&1 &)
sleep 1
`;
}

type End = 'by itself' | 'cancelled' | 'killed while no engine ran';

async function outlive(ws: TestWorkspace, user: TestUser, word: string, end: End): Promise<void> {
  const json = async <T>(...args: string[]): Promise<T> => {
    const ran = await ws.program([...args, '--json']);
    assert.equal(ran.code, 0, `${args.join(' ')}: ${ran.stderr}`);
    return JSON.parse(ran.stdout) as T;
  };
  const folder = join(ws.root, 'left');
  mkdirSync(folder, { recursive: true });
  const script = join(folder, `${word}.sh`);
  writeFileSync(script, leaveBehind(word));
  giveFolderTo(folder, user);
  const hang = end === 'by itself' ? '' : '\n#agent: ignore-term\n#agent: hang';
  const prompt = `x\n#agent: no-change\n#agent: run sh ${script}${hang}`;
  const { session } = await json<{ session: { task_id: string } }>(
    ...['task', 'add', word, '--agent', 'scripted', '--prompt', prompt, '--run', '--inplace'],
  );
  const { task_id } = session;
  const state = async () => {
    const { task } = await json<{ task: { status: string } }>('task', 'show', task_id);
    return task.status;
  };
  if (end !== 'by itself') await until(() => having(word).length >= 5, 'its processes');
  if (end === 'cancelled') await json('task', 'cancel', task_id);
  if (end === 'killed while no engine ran') {
    await ws.killDaemon();
    // The run's own processes; the escaped ones stay.
    for (const { pid } of ws.survivors()) endNow(pid);
  }
  await until(
    async () => ['done', 'failed', 'assigned', 'cancelled', 'open'].includes(await state()),
    `the end of ${word}`,
  );
}

const LEVELS = ['cgroup', 'pidns', 'strict'] as const;

/** A user's workspace whose containment is a cgroup or a pid namespace alone, or the sandbox as well. */
async function workspaceOf(user: TestUser, level: (typeof LEVELS)[number]): Promise<TestWorkspace> {
  const whose = user.uid === process.getuid?.() ? {} : { user };
  if (level !== 'strict') return makeWorkspace({ ...whose, env: { SVC_CONTAINMENT: level } });
  const ws = await makeStrict('', whose);
  giveFolderTo(ws.home, user);
  return ws;
}

for (const level of LEVELS) {
  hostile(
    {
      attacker: 'worker',
      tries: 'leave processes without parent, terminal and environment',
      lite: 'found and killed; with marks alone not (doctor says so)',
      strict: 'found and killed',
    },
    async (t) => {
      for (const user of asUsers()) {
        const ws = await workspaceOf(user, level);
        try {
          for (const end of ['by itself', 'cancelled', 'killed while no engine ran'] as const) {
            const word = `left-${process.pid}-${user.uid}-${level}-${end.replaceAll(' ', '-')}`;
            await outlive(ws, user, word, end);
            await until(() => having(word).length === 0, `the end of what ${word} left`, 10_000).catch(() => {
              const left = having(word);
              for (const pid of left) endNow(pid);
              assert.fail(`${user.label}, ${level}, ${end}: ${left.length} processes are left`);
            });
            t.diagnostic(`${user.label}, ${level}, ended ${end}: nothing left`);
          }
          const data = join(ws.root, '.svc');
          const ours = openCgroupFolders(data, `svc-${workspaceMark(data)}`);
          // The running engine has a cgroup too.
          const left = ours
            .list()
            .flatMap(listCgroups)
            .filter((name) => name !== 'engine');
          assert.deepEqual(left, [], 'empty cgroups of runs are removed');
        } finally {
          await ws.close();
        }
      }
    },
    { timeoutMs: 600_000, skip: level === 'strict' && impossible },
  );
}
