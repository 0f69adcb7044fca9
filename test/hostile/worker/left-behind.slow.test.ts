import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOwnCgroup } from '../../../engine/core/platform/linux/containment/cgroup.ts';
import { LEVELS } from '../../support/agents/seat-attacks.ts';
import { asUsers, giveFolderTo, hostile, type TestUser } from '../../support/hostile.ts';
import { until } from '../../support/wait.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';
import { isRunning, makeWorkspace, SVC } from '../../support/workspaces/workspace.ts';

/** Waits for its turn, kills the engine and its supervisor, and asks twice as a person would. */
const LEFT_BEHIND = `
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
const { folder, data, svc, task, root, home, cgroup, isAlone } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const pause = () => execFileSync('sleep', ['0.1']);
const wait = (name) => { while (!existsSync(folder + '/' + name)) pause(); };
const env = { PATH: '/usr/bin:/bin', HOME: home, SVC_HOME: home, SVC_CONFIG: root + '/svc.yaml' };
// The reader waits for the name, so the whole text appears with it.
const report = (name, text) => {
  writeFileSync(folder + '/' + name + '.part', text);
  renameSync(folder + '/' + name + '.part', folder + '/' + name);
};
const ask = (name, isAlone) => {
  const words = [process.execPath, svc, 'task', 'run', task, '--json'];
  const plainly = spawnSync(words[0], words.slice(1), { env, cwd: root, encoding: 'utf8' });
  if (isAlone) return report(name, plainly.stdout + plainly.stderr);
  // On a separate terminal, in a separate session.
  const line = words.map((word) => "'" + word + "'").join(' ');
  const atTerminal = spawnSync('script', ['-qec', line, '/dev/null'], { env, cwd: root, encoding: 'utf8' });
  report(name, plainly.stdout + plainly.stderr + atTerminal.stdout);
};
if (cgroup !== null) try { writeFileSync(cgroup, '0'); } catch {}
writeFileSync(folder + '/there', String(process.pid));
wait('go');
const { pid, supervisor } = JSON.parse(readFileSync(data + '/daemon.json', 'utf8'));
for (const each of [supervisor.pid, pid]) process.kill(each, 'SIGKILL');
for (;;) try { process.kill(pid, 0); pause(); } catch { break; }
if (isAlone) ask('alone', true);
else report('alone', '');
wait('again');
ask('asked', false);
`;

hostile(
  {
    attacker: 'worker',
    tries: 'change a person’s filter to leave a process that kills the engine and then acts as a person',
    lite: 'plain seat: the process has no proof of age and cannot start an engine',
    strict: 'refused: the person’s checkout is read-only',
  },
  async (t) => {
    for (const user of asUsers()) {
      for (const level of LEVELS) {
        for (const leaves of [false, true]) {
          const cgroup = user.isRoot && leaves ? findOwnCgroup() : null;
          if (leaves && cgroup === null) continue;
          // The attack waits half a minute for another process to start the engine: once is enough.
          const isAlone = !leaves && level === 'marks' && user.isRoot;
          const where = `${user.label}, ${level}${leaves ? ', another cgroup' : ''}`;
          const ws = await makeWorkspace({
            ...(user.uid === process.getuid?.() ? {} : { user }),
            env: { SVC_CONTAINMENT: level },
          });
          try {
            const json = async <T>(...args: string[]): Promise<T> => {
              const ran = await ws.program([...args, '--json']);
              assert.equal(ran.code, 0, `${args.join(' ')}: ${ran.stderr}`);
              return JSON.parse(ran.stdout) as T;
            };
            const folder = temporaryFolder('svc-left-');
            const root = asUsers()[0] as TestUser;
            if (root.isRoot) giveFolderTo(ws.repository.folder, root);
            // The person's own filter: a script in their checkout, which the worker changes.
            ws.repository.git('config', 'filter.x.clean', './clean.sh');
            ws.repository.commit({ '.gitattributes': '*.txt filter=x\n', 'clean.sh': '#!/bin/sh\ncat\n' });
            ws.repository.git('update-index', '--chmod=+x', 'clean.sh');
            ws.repository.git('commit', '-qm', 'a script');
            ws.repository.git('checkout', '-q', '--', '.');
            giveFolderTo(ws.repository.folder, user);
            giveFolderTo(folder, user);
            const wanted = await json<{ task_id: string }>('task', 'add', 'wanted', '--agent', 'scripted');
            const program = join(folder, 'left.mjs');
            const facts = join(folder, 'facts.json');
            writeFileSync(program, LEFT_BEHIND);
            writeFileSync(
              facts,
              JSON.stringify({
                folder,
                data: join(ws.root, '.svc'),
                svc: SVC,
                task: wanted.task_id,
                root: ws.root,
                isAlone,
                home: ws.env.SVC_HOME,
                cgroup: cgroup === null ? null : join(cgroup.mount, cgroup.path, 'cgroup.procs'),
              }),
            );
            const once = join(folder, 'once');
            const script = [
              '#!/bin/sh',
              'cat',
              `mkdir ${once} 2>/dev/null || exit 0`,
              `(setsid env -i PATH=/usr/bin:/bin '${process.execPath}' '${program}' '${facts}' >/dev/null 2>&1 </dev/null &)`,
            ].join('\n');
            writeFileSync(join(folder, 'clean.sh'), `${script}\n`, { mode: 0o755 });
            giveFolderTo(folder, user);
            const prompt = `x\n#agent: no-change\n#agent: run cp ${folder}/clean.sh ${ws.root}/clean.sh; echo more >> new.txt`;
            await json('task', 'add', 'w', '--agent', 'scripted', '--prompt', prompt, '--run');
            await until(
              () => existsSync(join(folder, 'there')),
              `${where}: the process that is left behind`,
              30_000,
            );
            const engine = ws.daemonPid() ?? 0;
            await until(async () => {
              const [run] = await json<{ state: string }[]>('worker', 'list', '--all');
              return run?.state === 'ended';
            }, 'the run to end');
            writeFileSync(join(folder, 'go'), '');
            await until(() => existsSync(join(folder, 'alone')), 'its first question', 60_000);
            assert.equal(isRunning(engine), false, where);
            const alone = readFileSync(join(folder, 'alone'), 'utf8');
            if (isAlone) assert.match(alone, /a worker cannot start one/, where);
            // The person's next command starts an engine.
            const before = await json<{ sessions: unknown[] }>('task', 'show', wanted.task_id);
            assert.deepEqual(before.sessions, [], where);
            writeFileSync(join(folder, 'again'), '');
            await until(() => existsSync(join(folder, 'asked')), 'its second question', 60_000);
            const asked = readFileSync(join(folder, 'asked'), 'utf8');
            t.diagnostic(`${where}: ${asked.slice(0, 300)}`);
            assert.doesNotMatch(asked, /session_id/, where);
            assert.equal([...asked.matchAll(/"chair_only"/g)].length, 2, `${where}: ${asked}`);
            const after = await json<{ sessions: unknown[] }>('task', 'show', wanted.task_id);
            assert.deepEqual(after.sessions, [], where);
          } finally {
            await ws.close();
          }
        }
      }
    }
  },
  { timeoutMs: 600_000 },
);
