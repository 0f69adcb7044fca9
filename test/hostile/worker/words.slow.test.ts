import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { quoteForShell } from '../../../engine/core/base/text.ts';
import { LEVELS } from '../../support/agents/seat-attacks.ts';
import { impossible } from '../../support/agents/strict.ts';
import { hostile } from '../../support/hostile.ts';
import { until } from '../../support/wait.ts';
import { requireLocalPath } from '../../support/workspaces/local-path.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../../support/workspaces/workspace.ts';

const svc = `'${process.execPath}' '${SVC}'`;

/** Has a worker run a shell script, and waits until it reports its end. */
async function byWorker(ws: TestWorkspace, script: string): Promise<string> {
  const at = join(ws.repository.folder, `script-${Math.random().toString(36).slice(2)}`);
  writeFileSync(at, `#!/bin/sh\n(\n${script}\n) >${at}.out 2>&1\ntouch ${at}.done\n`);
  const client = await ws.connect();
  const body = `x\n#agent: no-change\n#agent: run sh ${at}`;
  const { task_id } = await client.call('task.add', { title: 'w', body });
  await client.call('task.run', { id: task_id, inplace: true });
  await until(() => existsSync(`${at}.done`), 'the worker to have tried');
  client.close();
  return readFileSync(`${at}.out`, 'utf8');
}

hostile(
  {
    attacker: 'worker',
    tries: 'send messages as the Chair, another agent or a person',
    lite: 'sent under its own name',
    strict: 'sent under its own name',
  },
  async () => {
    const ws = await makeWorkspace();
    try {
      const send = `tool call msg_send --to_session somebody --body x`;
      const out = await byWorker(
        ws,
        [
          `${svc} ${send} --from_agent claude --name 'the person'`,
          `SVC_NAME='the person' SVC_AGENT=claude ${svc} ${send}`,
          `SVC_ACTOR=root SVC_NAME=chair ${svc} ${send} --name chair --from_agent chair`,
          `SVC_SESSION=chair-1 SVC_NAME=chair ${svc} ${send} --from_agent codex`,
          `${svc} ${send} --from_session chair`,
        ].join('\n'),
      );
      assert.match(out, /holder_mismatch|not chair/);
      const client = await ws.connect();
      const { messages } = await client.call('msg.inbox', {
        session: 'somebody',
      });
      assert.equal(messages.length, 4, out);
      for (const each of messages)
        assert.deepEqual([each.from_session, each.from_agent, each.name], ['s-1', 'scripted', 'w-1']);
    } finally {
      await ws.close();
    }
  },
);

hostile(
  {
    attacker: 'worker',
    tries: 'act as a listed person by SVC_ACTOR',
    lite: 'refused',
    strict: 'refused',
  },
  async () => {
    const ws = await makeWorkspace({
      yaml: 'policy: { mode: allowlist, actors: [ada] }\n',
      env: { SVC_ACTOR: 'ada' },
    });
    try {
      const out = await byWorker(
        ws,
        ['ada', 'ADA', ' ada', "ada' "]
          .map((name) => `SVC_ACTOR=${JSON.stringify(name)} ${svc} tool call lock_acquire --path src`)
          .join('\n'),
      );
      assert.equal(out.match(/is not in policy.actors/g)?.length, 4, out);
      assert.doesNotMatch(out, /SVC_ACTOR/, 'the hint does not name the workaround');
      // People who are not listed change nothing either, but may stop what runs on their machine.
      const bob = { env: { SVC_ACTOR: 'bob' } };
      assert.equal((await ws.program(['task', 'add', 'x'], bob)).code, 3);
      assert.equal((await ws.program(['down', '--stop-workers'], bob)).code, 3);
      const down = await ws.program(['down'], bob);
      assert.equal(down.code, 0, down.stderr);
    } finally {
      await ws.close();
    }
  },
);

/** Tries directly, with a cleared environment, and as an orphan; then reports in one step. */
const actAsPerson = (ws: TestWorkspace, task: string, report: string): string => {
  const kept = `PATH=/usr/bin:/bin SVC_HOME='${ws.env.SVC_HOME}' SVC_CONFIG='${join(ws.root, 'svc.yaml')}'`;
  const bare = `env -i ${kept} ${svc} task run ${task}`;
  return [
    '#!/bin/sh',
    `(${svc} task run ${task}; ${bare}) >${report}.part 2>&1`,
    `setsid ${bare} >>${report}.part 2>&1`,
    `mv ${report}.part ${report}`,
    'sleep 600',
  ].join('\n');
};

async function attackByRunCommand(
  level: string,
  profile: 'lite' | 'strict',
  place: (ws: TestWorkspace) => string,
) {
  const projects = JSON.stringify([{ id: 'own', path: '.', run: { dev: 'sh serve.sh' } }]);
  const guard = profile === 'strict' ? 'guard: { profile: strict }\n' : '';
  const ws = await makeWorkspace({
    yaml: `projects: ${projects}\n${guard}`,
    env: { SVC_CONTAINMENT: level },
  });
  try {
    ws.repository.commit({ 'serve.sh': 'sleep 600\n' });
    const trusted = await ws.program(['project', 'trust', 'own', '--yes']);
    assert.equal(trusted.code, 0, trusted.stderr);
    const client = await ws.connect();
    const wanted = await client.call('task.add', { title: 'wanted', body: 'x' });
    const report = place(ws);
    const script = actAsPerson(ws, wanted.task_id, report).split('\n');
    const body = `x\n${script.map((line) => `#agent: run printf '%s\\n' ${quoteForShell(line)} >>serve.new`).join('\n')}\n#agent: run mv serve.new serve.sh`;
    const { task_id } = await client.call('task.add', { title: 'w', body });
    const { session } = await client.call('task.run', { id: task_id });
    assert.ok(session);
    await until(
      async () => (await client.call('session.show', { session: session.session_id })).state === 'ended',
      'the run to end',
    );
    await client.call('worktree.run', { session: session.session_id });
    const { worktree } = await client.call('session.show', { session: session.session_id });
    const file = report.startsWith('/') ? report : join(requireLocalPath(worktree), report);
    await until(() => existsSync(file), 'the command to have tried');
    const shown = await client.call('task.show', { id: wanted.task_id });
    return { said: readFileSync(file, 'utf8'), sessions: shown.sessions };
  } finally {
    await ws.close();
  }
}

hostile(
  {
    attacker: 'worker',
    tries: 'change what a run command of the project starts, so that it acts as the person who starts it',
    lite: 'refused',
    strict: 'it runs in the sandbox, without a way to the engine',
  },
  async (t) => {
    for (const level of LEVELS) {
      const { said, sessions } = await attackByRunCommand(level, 'lite', ({ repository }) =>
        join(repository.folder, 'report'),
      );
      assert.equal(said.match(/task.run is for the Chair seat/g)?.length, 3, `${level}: ${said}`);
      assert.deepEqual(sessions, [], level);
    }
    if (impossible) return t.diagnostic(`not tried in a sandbox: ${impossible}`);
    const { said, sessions } = await attackByRunCommand('cgroup', 'strict', () => 'report');
    assert.doesNotMatch(said, /session_id|dispatched/, said);
    assert.deepEqual(sessions, []);
  },
);

hostile(
  {
    attacker: 'worker',
    tries: 'start a task by a command that the engine runs for it, such as a notice command',
    lite: 'refused',
    strict: 'refused',
  },
  async () => {
    for (const level of LEVELS) {
      const out = (ws: TestWorkspace, name: string) => join(ws.repository.folder, `by-${name}`);
      const ws = await makeWorkspace({ env: { SVC_CONTAINMENT: level } });
      try {
        const client = await ws.connect();
        const wanted = await client.call('task.add', { title: 'wanted', body: 'x' });
        const kept = `PATH=/usr/bin:/bin SVC_HOME='${ws.env.SVC_HOME}' SVC_CONFIG='${join(ws.root, 'svc.yaml')}'`;
        const bare = `env -i ${kept} ${svc} task run ${wanted.task_id}`;
        /** Directly, with a cleared environment, and as an orphan. */
        const script = (name: string): string => {
          const at = out(ws, name);
          const file = join(ws.repository.folder, `${name}.sh`);
          writeFileSync(
            file,
            `#!/bin/sh\n${svc} task run ${wanted.task_id} >${at}-1 2>&1\n${bare} >${at}-2 2>&1\n(setsid /bin/sh -c "sleep 0.2; ${bare.replaceAll('"', '\\"')} >${at}-3.tmp 2>&1; mv ${at}-3.tmp ${at}-3" &)\nn=0; while [ ! -e ${at}-3 ] && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done\ncat\n`,
            { mode: 0o755 },
          );
          return file;
        };
        const yaml = readFileSync(join(ws.root, 'svc.yaml'), 'utf8');
        const notify = JSON.stringify({ scripted: { mode: 'shell', cmd: `sh ${script('notice')}` } });
        writeFileSync(join(ws.root, 'svc.yaml'), yaml.replace('agents:\n', `agents:\n  notify: ${notify}\n`));
        // The person's own setup: only the command must not count as the person.
        ws.agree();
        await client.call('engine.reload');
        const { task_id } = await client.call('task.add', {
          title: 'w',
          body: 'x\n#agent: hang',
        });
        const { session } = await client.call('task.run', {
          id: task_id,
        });
        assert.ok(session);
        await client.call('msg.send', { to_session: session.session_id, body: 'x' });
        const file = (n: number) => `${out(ws, 'notice')}-${n}`;
        await until(() => existsSync(file(3)), 'the notice to have tried');
        for (const n of [1, 2, 3])
          assert.match(readFileSync(file(n), 'utf8'), /task.run is for the Chair seat/, `${level} ${n}`);
        const shown = await client.call('task.show', { id: wanted.task_id });
        assert.equal(shown.sessions.length, 0);
      } finally {
        await ws.close();
      }
    }
  },
);

hostile(
  {
    attacker: 'worker',
    tries: 'point a session’s notices at any path of a local server',
    lite: 'refused: only host and port are used, with the preset’s paths',
    strict: 'refused',
  },
  async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.end('{}');
    }).listen(0, '127.0.0.1');
    const ws = await makeWorkspace();
    try {
      await until(() => server.listening);
      const { port } = server.address() as AddressInfo;
      const base = `http://127.0.0.1:${port}`;
      const addresses = [
        `${base}/admin/delete`,
        `${base}/admin?x=`,
        `${base}/#`,
        `${base}?`,
        `http://user:word@127.0.0.1:${port}`,
        `${base}/..;/admin`,
      ];
      const client = await ws.connect();
      for (const [at, address] of addresses.entries()) {
        const env = { SVC_SESSION: `listener-${at}`, SVC_AGENT: 'opencode', SVC_NOTIFY_URL: address };
        await ws.program(['msg', 'list'], { env });
        await client.call('msg.send', { to_session: `listener-${at}`, body: 'x' });
      }
      const good = { SVC_SESSION: 'good', SVC_AGENT: 'opencode', SVC_NOTIFY_URL: base };
      await ws.program(['msg', 'list'], { env: good });
      await client.call('msg.send', { to_session: 'good', body: 'x' });
      await until(() => asked.length >= 2, 'the good one to be told');
      assert.deepEqual([...new Set(asked)].sort(), ['POST /tui/append-prompt', 'POST /tui/submit-prompt']);
    } finally {
      server.close();
      await ws.close();
    }
  },
);
