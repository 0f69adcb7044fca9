import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Verification, WireValue } from '../../../../../engine/index.ts';
import {
  attempts,
  commandLines,
  confinementOf,
  ended,
  impossible,
  logOf,
  makeStrict,
  said,
  started,
} from '../../../../support/agents/strict.ts';
import { until } from '../../../../support/wait.ts';
import { type EngineHere, engineHere } from '../../../../support/workspaces/engine.ts';
import { SVC } from '../../../../support/workspaces/workspace.ts';

const CARRIES = { id: 'own', path: '.', setup: ['sh setup.sh'], teardown: ['sh teardown.out'] };
/** Only the sandbox has a different home. */
const SETUP = 'test -e "$HOME/notes.txt" && echo OUTSIDE || echo INSIDE\n';

describe('commands that run for a strict session besides its agent', { skip: impossible ?? false }, () => {
  let ws: Awaited<ReturnType<typeof makeStrict>>;
  let here: EngineHere;

  before(async () => {
    ws = await makeStrict(`projects: [${JSON.stringify(CARRIES)}]\n`);
    ws.repository.commit({ '.gitignore': '.svc/\n*.out\n', 'setup.sh': SETUP }, 'a setup');
    here = await engineHere(ws, { svc: [process.execPath, SVC], graceMs: 500 });
    const { digest } = await here.call('project.show', { id: 'own' });
    await here.call('project.trust', { id: 'own', digest });
  });
  after(async () => {
    await here?.end();
    await ws?.close();
  });

  const worktreeOf = (session: string): string => join(ws.root, '.svc', 'agents', 'worktrees', session);

  /** Actions that a command may take there, then actions that it must not. */
  const tries = (session: string): Record<string, string> => ({
    'write the worktree, its home and /tmp': 'echo x > written.out && echo x > "$HOME/x" && echo x > /tmp/x',
    'run svc': `${process.execPath} ${SVC} --version`,
    'read the checkout': `cat ${ws.root}/README.md`,
    'read a file of the home': `cat ${ws.home}/notes.txt`,
    'read a key of the home': `cat ${ws.home}/.ssh/id_ed25519`,
    'read the database': `cat ${ws.root}/.svc/svc.db`,
    'find the token or a socket of the engine': `test -e ${ws.root}/.svc/daemon.json || find /run -type s | grep .`,
    'write the checkout': `echo x > ${ws.root}/README.md`,
    'write its own log': `echo x >> ${ws.root}/.svc/agents/${session}/log`,
    'write a hook': `mkdir -p ${ws.root}/.git/hooks && echo x > ${ws.root}/.git/hooks/pre-commit`,
    'see other processes': 'test "$(ls /proc | grep -c "^[0-9]")" -gt 12',
    'end the engine': `kill -0 ${process.pid}`,
    'talk to the engine': `${process.execPath} ${SVC} status`,
  });

  function assertConfined(output: string, session: string): void {
    const names = Object.keys(tries(session));
    assert.deepEqual(said(output, 'CAN'), names.slice(0, 3), output);
    assert.deepEqual(said(output, 'CANNOT'), names.slice(3), output);
  }

  /** An ended worker that reports these commands as passed. */
  async function claims(...commands: string[]): Promise<string> {
    const session = await started(here, 'claims\n#agent: no-change');
    assert.equal((await ended(here, session)).failure, null);
    const tests = commands.map((command) => ({ command, result: 'passed' as const }));
    await here.call('verify.report', { session, tests });
    return session;
  }

  const rerun = (session: string, timeoutSec = 60): Promise<WireValue<Verification>> =>
    here.call('verify.rerun', { session, timeout_sec: timeoutSec });

  test("a teardown runs in the sandbox, on the worker's result, or not at all", async () => {
    const first = await started(here, 'leaves\n#agent: no-change');
    await ended(here, first);
    // Written as if by the worker; git ignores it, so the worktree can be removed.
    writeFileSync(join(worktreeOf(first), 'teardown.out'), attempts(tries(first)));
    const [pruned] = (await here.call('worktree.prune', {})).repositories;
    assert.deepEqual(
      pruned?.removed.map(({ branch }) => branch).filter((branch) => branch === `svc/${first}`),
      [`svc/${first}`],
    );
    const torn = logOf(ws, first);
    assertConfined(torn.slice(torn.indexOf('[svc: teardown]')), first);
    const marker = join(ws.repository.folder, 'torn-outside');
    const second = await started(
      here,
      `leaves\n#agent: run echo "touch ${marker}" > teardown.out\n#agent: no-change`,
    );
    await ended(here, second);
    const { PATH } = ws.env;
    try {
      ws.env.PATH = ws.repository.folder;
      const [told] = (await here.call('worktree.prune', {})).repositories;
      assert.match(told?.warnings.join() ?? '', new RegExp(`teardown of ${second} failed: .*bwrap`));
    } finally {
      ws.env.PATH = PATH;
    }
    assert.equal(existsSync(marker), false);
  });

  test('evidence is rerun in the sandbox of its worker, which nothing of it outlives', async () => {
    const session = await claims('true');
    const leaves = `setsid env -i sh -c '(setsid sleep 98771 &) ; exec sleep 98772' & sleep 0.1`;
    await here.call('verify.report', {
      session,
      tests: [attempts(tries(session)), 'exit 3', leaves, 'sleep 98773'].map((command) => ({
        command,
        result: 'passed' as const,
      })),
    });
    const { rerun: told } = await rerun(session, 2);
    const [first, second, third, last] = told?.results ?? [];
    assertConfined(first?.output ?? '', session);
    assert.deepEqual([first?.agrees, second?.exit_code, third?.agrees], [true, 3, true]);
    assert.match(last?.output ?? '', /ended after 2 s/);
    assert.deepEqual(
      commandLines().filter((line) => /^sleep 9877/.test(line)),
      [],
    );
    // The commands run in a temporary checkout, so their files are gone.
    assert.equal(existsSync(join(worktreeOf(session), 'written.out')), false);
    assert.equal(existsSync(join(ws.home, 'x')), false);
  });

  test('evidence is not rerun where its worker cannot be confined any more', async () => {
    const marker = join(ws.repository.folder, 'outside');
    const session = await claims(`touch ${marker}; touch outside`);
    const { PATH } = ws.env;
    const bin = join(ws.repository.folder, 'bin');
    mkdirSync(bin);
    try {
      ws.env.PATH = bin;
      await assert.rejects(rerun(session), { code: 'tool_missing', message: /bwrap/ });
      writeFileSync(join(bin, 'bwrap'), '#!/bin/sh\necho "bwrap: setting up uid map" >&2; exit 1\n', {
        mode: 0o755,
      });
      await assert.rejects(rerun(session), { code: 'confinement_unavailable', message: /uid map/ });
    } finally {
      ws.env.PATH = PATH;
    }
    assert.equal(existsSync(marker), false);
    assert.equal(existsSync(join(worktreeOf(session), 'outside')), false);
    const { rerun: none } = await here.call('verify.status', { session });
    assert.equal(none, null);
  });

  test('a command dies with the process that started it', async () => {
    const session = await claims('true');
    const { paths } = here.engine;
    const confinement = confinementOf(ws, here);
    const env = { PATH: ws.env.PATH ?? '', HOME: ws.home };
    const words = await confinement.wrap({
      argv: ['/bin/sh', '-c', 'env -i setsid sleep 98774 & sleep 98774'],
      cwd: worktreeOf(session),
      env,
      worktree: worktreeOf(session),
      sessionFolder: join(paths.agents, session),
      seatFolder: null,
      home: null,
      endsWithParent: true,
    });
    const parent = spawn('/bin/sh', ['-c', '"$@" & wait', 'sh', ...words], { env, stdio: 'ignore' });
    const sleeping = (): number => commandLines().filter((line) => /^sleep 98774/.test(line)).length;
    await until(() => sleeping() === 2);
    parent.kill('SIGKILL');
    await once(parent, 'exit');
    await until(() => sleeping() === 0);
  });

  test('a setup runs outside, but in the sandbox on files that a worker may have written', async () => {
    const setups = (session: string): string[] =>
      logOf(ws, session)
        .split('\n')
        .filter((line) => line === 'OUTSIDE' || line === 'INSIDE');
    const own = 'git commit -qam "a setup of its own"';
    const writes = `echo "echo MINE" >> setup.sh && ${own} && rm .svc/set-up`;
    const first = await started(here, `first\n#agent: run ${writes}\n#agent: no-change\n#agent: fail 7`);
    await ended(here, first);
    assert.deepEqual(setups(first), ['OUTSIDE']);
    const onItsBranch = await started(here, 'on it\n#agent: no-change', { base: `svc/${first}` });
    assert.equal((await ended(here, onItsBranch)).failure, null);
    assert.deepEqual(setups(onItsBranch), ['INSIDE']);
    assert.match(logOf(ws, onItsBranch), /^MINE$/m);
    // The worker has removed the marker of a prepared worktree.
    const { session_id: next } = await here.call('worker.resume', { session: first });
    await ended(here, next);
    assert.deepEqual(setups(next), ['INSIDE']);
    ws.repository.git('tag', 'taken-in', `svc/${first}`);
    const onTaken = await started(here, 'on it\n#agent: no-change', { base: `svc/${first}` });
    await ended(here, onTaken);
    assert.deepEqual(setups(onTaken), ['OUTSIDE']);
  });
});
