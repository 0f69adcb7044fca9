import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quoteForShell } from '../../../engine/core/base/text.ts';
import type { EngineClient, Session, WireValue } from '../../../engine/index.ts';
import { impossible, logOf, makeStrict } from '../../support/agents/strict.ts';
import { hostile } from '../../support/hostile.ts';
import { until } from '../../support/wait.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../../support/workspaces/workspace.ts';

const svc = `${quoteForShell(process.execPath)} ${quoteForShell(SVC)}`;

/** Runs a task until it ends; returns its session. */
async function ran(here: EngineClient, prompt: string, wish: object = {}): Promise<WireValue<Session>> {
  const { task_id: id } = await here.call('task.add', { body: prompt, agent: 'scripted' });
  await here.call('task.run', { id, ...wish });
  return until(async () => {
    const { sessions } = await here.call('task.show', { id });
    return sessions[0]?.state === 'ended' ? sessions[0] : null;
  }, 'the run to end');
}

const consentFiles = (ws: TestWorkspace): string[] => {
  const folder = join(ws.env.SVC_HOME ?? '', 'consents');
  return readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
};

/** Returns a command's exit code in the worker's shell, from the session's log. */
function said(ws: TestWorkspace, { session_id: id }: { session_id: string }, name: string): string {
  const log = logOf(ws, id);
  return new RegExp(`SAID ${name} (\\d+)`).exec(log)?.[1] ?? assert.fail(`${name} was not tried: ${log}`);
}

const PROFILES = ['lite', 'strict'] as const;
const workspaceOf = (profile: (typeof PROFILES)[number]): Promise<TestWorkspace> =>
  profile === 'strict' ? makeStrict() : makeWorkspace();

for (const profile of PROFILES) {
  hostile(
    {
      attacker: 'worker',
      tries: 'configure the engine with svc config set, svc trust or svc init',
      lite: 'refused',
      strict: 'refused',
    },
    async (t) => {
      const ws = await workspaceOf(profile);
      t.after(ws.close);
      const here = await ws.connect();
      const { folder } = ws.repository;
      const file = join(ws.root, 'svc.yaml');
      // A change needs consent, as after a pull.
      writeFileSync(file, `${readFileSync(file, 'utf8')}policy: { mode: solo }\n`);
      const before = readFileSync(file, 'utf8');
      const consents = consentFiles(ws);
      const trace = join(folder, 'trace');
      const evil = JSON.stringify({ scripted: { mode: 'shell', cmd: `touch ${trace}` } });
      // Directly, in a session without a worker, without its session, and behind a separate shell.
      const tries = {
        plain: `${svc} config set agents.notify ${quoteForShell(evil)}`,
        trust: `${svc} trust --yes`,
        trusted: `SVC_SETUP_YES=1 ${svc} trust`,
        unmarked: `env -u SVC_SESSION -u SVC_ROLE ${svc} config set guard.profile none`,
        named: `SVC_SESSION=somebody ${svc} config set guard.profile none`,
        shell: `sh -c ${quoteForShell(`${svc} config set agents.cmds.scripted 'true {{prompt}}'`)}`,
        edit: `EDITOR=${quoteForShell(`touch ${trace}; echo >>`)} ${svc} config edit`,
        // On a separate terminal.
        terminal: `script --quiet --return --command ${quoteForShell(`EDITOR=${quoteForShell(`touch ${trace}; echo >>`)} ${svc} config edit`)} /dev/null`,
      };
      const lines = Object.entries(tries).map(
        ([name, line]) => `#agent: run ${line} 2>&1; echo SAID ${name} $?`,
      );
      const session = await ran(here, `attack\n${lines.join('\n')}\n#agent: no-change`);
      for (const name of Object.keys(tries))
        assert.equal(said(ws, session, name), '3', `${name}: ${logOf(ws, session.session_id)}`);
      assert.equal(readFileSync(file, 'utf8'), before);
      assert.deepEqual(consentFiles(ws), consents);
      assert.equal(existsSync(trace), false);
    },
    { skip: profile === 'strict' && impossible },
  );
}

for (const profile of PROFILES) {
  hostile(
    {
      attacker: 'worker',
      tries: 'configure the engine while none runs, or start over with svc init',
      lite: 'refused',
      strict: 'refused',
    },
    async (t) => {
      const ws = await workspaceOf(profile);
      t.after(ws.close);
      const here = await ws.connect();
      const { folder } = ws.repository;
      const file = join(ws.root, 'svc.yaml');
      const go = join(ws.root, 'go');
      const lines = [
        `until [ -e ${go} ]; do sleep 0.05; done`,
        `${svc} config set guard.profile none 2>&1; echo SAID alone $?`,
        `${svc} trust --yes 2>&1; echo SAID trust $?`,
        `EDITOR="echo '# worker' >>" script --quiet --return --command ${quoteForShell(`${svc} config edit`)} /dev/null 2>&1; echo SAID edit $?`,
        `mv ${file} ${folder}/aside 2>&1; cd ${ws.root} && env -u SVC_CONFIG ${svc} init --yes 2>&1; echo SAID init $?; mv ${folder}/aside ${file} 2>&1; echo SAID over 0`,
      ];
      const { task_id: id } = await here.call('task.add', {
        body: `attack\n#agent: run ${lines.join('; ')}\n#agent: no-change`,
        agent: 'scripted',
      });
      const [before, consents] = [readFileSync(file, 'utf8'), consentFiles(ws)];
      await here.call('task.run', { id });
      const session = await until(async () => {
        const { sessions } = await here.call('task.show', { id });
        return sessions[0]?.state === 'running' ? sessions[0] : null;
      }, 'the worker');
      await ws.killDaemon();
      writeFileSync(go, '');
      await until(() => /SAID over 0/.test(logOf(ws, session.session_id)), 'the worker to have tried');
      await until(() => ws.survivors().length === 0, 'the end of the run');
      // The sandbox prevents moving svc.yaml.
      const refusals = profile === 'strict' ? ['alone', 'edit'] : ['alone', 'edit', 'init'];
      if (profile === 'strict') assert.equal(said(ws, session, 'init'), '5');
      for (const name of refusals)
        assert.equal(said(ws, session, name), '3', `${name}: ${logOf(ws, session.session_id)}`);
      assert.equal(readFileSync(file, 'utf8'), before);
      assert.deepEqual(consentFiles(ws), consents);
      const { stdout } = await ws.svc(['config', 'get', 'guard.profile']);
      assert.equal(stdout.trim(), profile === 'strict' ? 'strict' : '');
    },
    { skip: profile === 'strict' && impossible },
  );
}

for (const profile of PROFILES) {
  hostile(
    {
      attacker: 'worker',
      tries: 'change svc.yaml by a promotion, or in place',
      lite: 'waits for svc trust',
      strict: 'waits for svc trust; read-only in place',
    },
    async (t) => {
      const ws = await workspaceOf(profile);
      t.after(ws.close);
      const here = await ws.connect();
      const trace = join(ws.repository.folder, 'trace');
      let seen = '';
      const isRead = (keys: string[]) =>
        until(async () => {
          const { consent_pending: now } = await here.call('engine.status');
          seen = now.toSorted().join();
          return seen === keys.toSorted().join();
        }, `${keys.join()} to wait`).catch((error: Error) => assert.fail(`${error.message}; ${seen} waits`));
      const own = readFileSync(join(ws.root, 'svc.yaml'), 'utf8');
      const changed = own.replace(
        'agents:\n',
        `agents:\n  notify: { scripted: { mode: shell, cmd: "touch ${trace}" } }\n`,
      );
      assert.notEqual(changed, own);
      const encoded = Buffer.from(changed).toString('base64');
      const session = await ran(
        here,
        `promoted\n#agent: run echo ${encoded} | base64 -d >svc.yaml && git add svc.yaml && echo x >CLAUDE.md && git add CLAUDE.md && git -c user.name=a -c user.email=a@b commit -qm change\n#agent: no-change`,
      );
      // Shown before and after the merge.
      type Named = { sensitive: { path: string }[] };
      const paths = ({ sensitive }: Named) => sensitive.map(({ path }) => path);
      assert.deepEqual(paths(await here.call('worktree.trial', { session: session.session_id })), [
        'CLAUDE.md',
        'svc.yaml',
      ]);
      if (profile === 'strict') {
        // Unverified work is not promoted; a person merges it manually.
        await assert.rejects(here.call('worktree.promote', { session: session.session_id }), {
          code: 'unverified',
        });
        ws.repository.git('merge', '--quiet', session.branch ?? '');
      } else {
        assert.deepEqual(paths(await here.call('worktree.promote', { session: session.session_id })), [
          'CLAUDE.md',
          'svc.yaml',
        ]);
      }
      assert.equal(readFileSync(join(ws.root, 'svc.yaml'), 'utf8'), changed);
      await isRead(['agents.notify']);
      // A message to an agent of that kind does not run its command.
      await ran(here, `hears\n#agent: run ${svc} msg send --to chair hello\n#agent: no-change`);
      assert.equal(existsSync(trace), false);
      // The alert event lists what needs consent.
      const events = await here.call('event.list', { limit: 100 });
      assert.match(
        String(events.find(({ data }) => data.code === 'consent_missing')?.data.reason),
        /agents\.notify/,
      );
      // Without a worktree, the worker can reach it.
      ws.repository.git('checkout', '--quiet', '--', '.');
      const lifted = Buffer.from(
        `${own}gateway: { addr: "127.0.0.1:9" }\npolicy: { mode: solo }\nbus: { max_acked: 3 }\n`,
      ).toString('base64');
      const inPlace = await ran(
        here,
        `in place\n#agent: run echo ${lifted} | base64 -d >${join(ws.root, 'svc.yaml')}\n#agent: no-change`,
        { inplace: true },
      );
      assert.equal(inPlace.inplace, true);
      if (profile === 'strict') {
        assert.equal(readFileSync(join(ws.root, 'svc.yaml'), 'utf8'), changed, 'it is read-only');
        await isRead(['agents.notify']);
      } else {
        assert.equal(inPlace.failure, null);
        await isRead(['policy.mode', 'gateway.addr']);
      }
      // Untracked, recreated, or a link to another file: it still needs consent.
      ws.repository.git('rm', '--quiet', '--cached', 'svc.yaml');
      const file = join(ws.root, 'svc.yaml');
      renameSync(file, `${file}.old`);
      rmSync(`${file}.old`);
      writeFileSync(file, changed);
      await isRead(['agents.notify']);
      const { code, stdout } = await ws.svc(['config', 'get', 'agents.notify']);
      assert.equal(code, 0);
      assert.equal(stdout.includes(trace), false);
    },
    { skip: profile === 'strict' && impossible },
  );
}
