import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Api } from '../../../../engine/index.ts';
import { until } from '../../../support/wait.ts';
import { requireLocalPath } from '../../../support/workspaces/local-path.ts';
import { isRunning, makeWorkspace, SVC, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

type CommandState = Api['worktree.run']['output'];

/** Serves its folder's name and its pid, so that a test can find the process behind a port. */
const SERVER = `import { createServer } from 'node:http';
createServer((_, response) => response.end(JSON.stringify([process.cwd(), process.pid])))
  .listen(process.env.SVC_PORT, '127.0.0.1', () => console.log('listening'));
`;

describe('a run command of a project', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace({
      yaml: `projects: ${JSON.stringify([
        {
          id: 'own',
          path: '.',
          run: { dev: `'${process.execPath}' serve.mjs`, lost: 'no-such-program', broken: "sh -c 'exit 3'" },
        },
        { id: 'bare', path: 'bare' },
      ])}\n`,
    });
    ws.repository.commit({ 'serve.mjs': SERVER, 'bare/a.txt': 'a\n' });
  });
  after(() => ws.close());

  /** Runs a task to its end and returns its session. */
  async function endedRun(prompt = '#agent: edit made.txt x', ...more: string[]): Promise<string> {
    const ran = await ws.svc(['task', 'add', '-p', prompt, '--run', '-f', '--json', ...more]);
    assert.equal(ran.code, 0, ran.stderr + ran.stdout);
    return ran.json<{ task: { session_id: string } }>().task.session_id;
  }
  const trust = () => ws.svc(['project', 'trust', 'own', '--yes']);
  const run = (...words: string[]) => ws.svc(['worktree', 'run', ...words]);
  const start = async (...words: string[]): Promise<CommandState> => {
    const ran = await run(...words, '--json');
    assert.equal(ran.code, 0, ran.stderr);
    return ran.json();
  };
  const ask = async ({ port }: Pick<CommandState, 'port'>): Promise<[folder: string, pid: number]> =>
    until(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => null);
      return response === null ? null : ((await response.json()) as [string, number]);
    }, 'the server');

  test('without a consent on this machine none of it runs, and no worker starts', async () => {
    const ran = await ws.svc(['task', 'add', '-p', 'x', '--run', '-f']);
    assert.match(ran.stdout, /commands or files for its worktrees that no one on this machine has agreed to/);
    const shown = await ws.svc(['project', 'trust', 'own']);
    assert.match(shown.stderr, /^run dev +.*serve\.mjs$/m);
    const trusted = await trust();
    assert.equal(trusted.code, 0, trusted.stderr);
  });

  test('the output is shown until the person interrupts, which ends the processes of the command', async () => {
    const session = await endedRun();
    const { worktree } = (await ws.svc(['worker', 'show', session, '--json'])).json<{ worktree: string }>();
    const child = spawn(process.execPath, [SVC, 'worktree', 'run', session, 'dev'], {
      cwd: ws.root,
      env: ws.env,
    });
    let said = '';
    child.stdout.on('data', (part: Buffer) => (said += part));
    child.stderr.on('data', (part: Buffer) => (said += part));
    await until(() => said.includes('listening'), 'its output');
    const port = Number(/localhost:(\d+)/.exec(said)?.[1]);
    const [folder, pid] = await ask({ port });
    assert.equal(folder, worktree);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGINT');
    assert.equal(await ended, 0, said);
    assert.equal(isRunning(pid), false);
    assert.match(said, /dev is stopped/);
  });

  test('a command that runs is not started again, and a script stops it', async () => {
    const session = await endedRun();
    const first = await start(session, 'dev');
    const [, pid] = await ask(first);
    assert.deepEqual(await start(session, 'dev'), first);
    assert.deepEqual(await ask(first).then(([, same]) => same), pid);
    assert.match((await run(session, '--stop')).stdout, /^dev is stopped$/m);
    assert.equal(isRunning(pid), false);
    assert.match((await run(session, '--stop')).stdout, /^no command runs$/m);
  });

  test('each worktree has its own port, which its worker and its later runs have too', async () => {
    const prompt = '#agent: edit made.txt x\n#agent: run sh -c "echo port $SVC_PORT"';
    const [one, other] = [await endedRun(prompt), await endedRun(prompt)];
    const [port, another] = await Promise.all([one, other].map(async (id) => (await start(id, 'dev')).port));
    assert.notEqual(port, another);
    const log = readFileSync(join(ws.root, '.svc', 'agents', one, 'log'), 'utf8');
    assert.match(log, new RegExp(`port ${port}`));
    // The port of a server that does not run stays reserved for it.
    await run(one, 'dev', '--stop');
    const followed = await ws.svc(['worker', 'follow-up', one, 'more\n#agent: edit more.txt y', '--json']);
    const { session } = followed.json<{ session: { session_id: string } }>();
    await ws.svc(['worker', 'log', session.session_id, '-f']);
    assert.equal((await start(session.session_id, 'dev')).port, port);
  });

  test('a command ends with its engine, with a killed engine, and before its worktree is removed', async () => {
    const session = await endedRun();
    const first = await ask(await start(session, 'dev'));
    await ws.svc(['down']);
    assert.equal(isRunning(first[1]), false);
    const second = await ask(await start(session, 'dev'));
    const killed = ws.daemonPid();
    process.kill(killed ?? 0, 'SIGKILL');
    await until(() => !isRunning(second[1]), 'the next engine to end it');
    await ws.connect();
    const third = await ask(await start(session, 'dev'));
    const discarded = await ws.svc(['worktree', 'discard', session]);
    assert.equal(discarded.code, 0, discarded.stderr);
    assert.equal(isRunning(third[1]), false);
    const merged = await endedRun();
    const fourth = await ask(await start(merged, 'dev'));
    const promoted = await ws.svc(['merge', merged, '--json']);
    assert.equal(promoted.json<{ removed: boolean }>().removed, true, promoted.stdout);
    assert.equal(isRunning(fourth[1]), false);
    assert.equal(existsSync(join(ws.root, '.svc', 'agents', '.run', session)), false);
  });

  test('a command that is still being started ends with its engine, and with its worktree', async () => {
    const client = await ws.connect();
    const session = await endedRun();
    const { worktree } = await client.call('session.show', { session });
    const listInside = () =>
      readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .filter((pid) => {
          try {
            return readlinkSync(`/proc/${pid}/cwd`).startsWith(requireLocalPath(worktree));
          } catch {
            return false;
          }
        });
    for (const end of [() => client.call('worktree.discard', { session }), () => ws.svc(['down'])]) {
      const begun = client.call('worktree.run', { session, name: 'dev' }).catch(() => undefined);
      await end();
      await begun;
      await until(() => listInside().length === 0, 'its processes to be gone');
      await ws.svc(['worktree', 'restore', session, '--worktree']);
    }
  });

  test('a failure says which program is missing, which names there are, or why there is no worktree', async () => {
    const session = await endedRun();
    const says = async (words: string[], code: number, text: RegExp): Promise<void> => {
      const ran = await run(...words);
      assert.equal(ran.code, code, ran.stderr);
      assert.match(ran.stderr, text);
    };
    await says([session, 'broken'], 1, /broken runs in the worktree/);
    await says([session, 'lost'], 1, /"no-such-program": no such program on PATH/);
    await says([session, 'deploy'], 4, /no run command "deploy"\nhint: it has dev, lost, broken/);
    await says([session], 2, /several run commands: dev, lost, broken/);
    const bare = await endedRun('#agent: edit made.txt x', '--project', 'bare');
    await says([bare], 4, /the project bare has no run commands/);
    await ws.svc(['worktree', 'discard', session]);
    await says([session, 'dev'], 5, /has no worktree any more/);
  });
});
