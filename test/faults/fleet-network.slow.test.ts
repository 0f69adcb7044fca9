import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import Database from 'better-sqlite3';
import type { EngineClient } from '../../engine/index.ts';
import { impossible } from '../support/agents/strict.ts';
import { BROKER_MISSING } from '../support/broker.ts';
import {
  awaitEnd,
  copyTrust,
  dispatch,
  invite,
  makeMachine,
  readLogHere,
  type TestMachine,
  trustAgent,
  writeScript,
} from '../support/fleet.ts';
import { makeNetwork, NO_NETWORKS, type TestNetwork } from '../support/network.ts';
import { NO_SSHD, startTestHost, type TestHost } from '../support/sshd.ts';
import { until } from '../support/wait.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';

/** One machine is reached by ssh; the others are behind NAT, and join over the broker. */
const MACHINES = ['box2', 'lap', 'pad'] as const;
type Name = (typeof MACHINES)[number];

/** Counts its runs in the worktree, and prints numbered lines until there is a file named go. */
const writeSteady = (...afterwards: string[]): string =>
  writeScript(
    'count ledger',
    'run n=0; until [ -e go ]; do n=$((n+1)); echo "line $n" >&2; sleep 0.05; done; rm go',
    ...afterwards,
    'edit ledger end',
  );

/** Commits a file of one line; a confined worker has no identity. */
const commit = (name: string): string =>
  `run echo ${name} > ${name}.txt && git add ${name}.txt && git -c user.name=A -c user.email=a@b.test commit -qm ${name}`;

const countLines = (log: Buffer): number => log.toString().match(/^line \d+$/gm)?.length ?? 0;

describe('machines in separate networks', {
  skip: NO_NETWORKS || BROKER_MISSING || NO_SSHD,
}, () => {
  let network: TestNetwork;
  let ws: TestWorkspace;
  let host: TestHost;
  let client: EngineClient;
  const machines = {} as Record<Name, TestMachine>;

  before(async () => {
    network = makeNetwork();
    ws = await makeWorkspace({ yaml: impossible === null ? 'guard: { profile: strict }\n' : '' });
    for (const name of MACHINES) machines[name] = makeMachine(ws, name, { prefix: network.on(name) });
    const { variables } = machines.box2;
    host = await startTestHost({ variables, prefix: network.on('box2'), listen: network.addressOf('box2') });
    ws.env.PATH = host.environment.PATH ?? '';
    const [program = '', ...words] = [...network.on('board'), process.execPath, SVC, 'up'];
    await promisify(execFile)(program, words, { cwd: ws.root, env: ws.env });
    client = await ws.connect();
    const run = async (...args: string[]): Promise<void> => {
      const { code, stderr } = await ws.svc(args);
      assert.equal(code, 0, stderr);
    };
    await run('runner', 'add', 'box', '--name', 'box2', '--yes', '--share', 'workspace');
    await run('fleet', 'init', '--host', network.addressOf('board'));
    for (const name of ['lap', 'pad'] as const) {
      const { code, stderr } = await machines[name].svc('runner', 'join', await invite(ws), '--name', name);
      assert.equal(code, 0, stderr);
    }
    await trustAgent(client, machines.lap);
    copyTrust(machines.lap, machines.pad);
    for (const name of MACHINES) await awaitReady(name);
  });

  after(async () => {
    network?.pass();
    for (const name of MACHINES) network?.join(name);
    // The engine first, since it would start the runner again.
    await ws?.close();
    for (const machine of Object.values(machines)) await machine.close();
    await host?.stop();
    network?.close();
  });

  async function findRunner(name: Name) {
    const found = (await client.call('runner.list', {})).find((each) => each.name === name);
    assert.ok(found !== undefined);
    return found;
  }
  const awaitReady = (name: Name) =>
    until(async () => {
      const found = await findRunner(name);
      return found.state === 'ready' ? found : null;
    }, `the connection of ${name}`);

  /** Starts a run that prints lines until `end`, and waits for the first of them here. */
  async function startSteady(name: Name, ...afterwards: string[]) {
    const { session } = await dispatch(client, { body: writeSteady(...afterwards), on: name });
    await until(() => countLines(readLogHere(ws, session)) > 0, `the first line of ${name}`);
    const root = machines[name].root();
    const worktree = ['.svc/worktrees', '.svc/agents/worktrees']
      .map((folder) => join(root, folder, session))
      .find((folder) => existsSync(folder));
    assert.ok(worktree !== undefined);
    return {
      session,
      /** The lines that were printed there. */
      countThere: () => countLines(machines[name].readLog(session)),
      /** The lines that have arrived here. */
      countHere: () => countLines(readLogHere(ws, session)),
      end: () => writeFileSync(join(worktree, 'go'), ''),
    };
  }

  /** Checks that a run ended well and once, on the machine where it began, and that its whole log is here. */
  async function checkWhole(name: Name, session: string): Promise<void> {
    const { exit_code: code, failure, machine, runs, branch } = await awaitEnd(client, session);
    const log = readLogHere(ws, session);
    const why = `${name}: ${log.toString().slice(-1500)}`;
    assert.deepEqual([code, failure, machine, runs], [0, null, name, 1], why);
    assert.ok(log.equals(machines[name].readLog(session)), why);
    const numbers = [...log.toString().matchAll(/^line (\d+)$/gm)].map(([, number]) => Number(number));
    assert.deepEqual(
      numbers,
      numbers.map((_, at) => at + 1),
      why,
    );
    assert.match(ws.repository.git('show', `${branch}:ledger`), /^\d+\nend$/, why);
    const db = new Database(join(ws.root, '.svc/svc.db'), { readonly: true });
    try {
      const query = 'SELECT kind FROM event WHERE session_id = ?';
      const kinds = db
        .prepare(query)
        .pluck()
        .all(Number(session.slice(2)));
      for (const kind of ['dispatched', 'session_started', 'sealed'])
        assert.equal(kinds.filter((each) => each === kind).length, 1, `${kind} ${why}`);
    } finally {
      db.close();
    }
  }

  it('each is on its own network, and the board has no way to those behind NAT', async () => {
    assert.ok(network.isOn('board', ws.daemonPid() ?? 0));
    for (const name of MACHINES) assert.ok(network.isOn(name, machines[name].runnerPid() ?? 0), name);
    assert.deepEqual(
      MACHINES.filter((name) => network.hasRoute('board', name)),
      ['box2'],
    );
    const listed = await client.call('runner.list', {});
    assert.deepEqual(
      listed.map(({ name, transport }) => [name, transport]),
      [
        ['box2', 'ssh'],
        ['lap', 'broker'],
        ['pad', 'broker'],
      ],
    );
  });

  it('a confined run of each transport is verified by the board and promoted', {
    skip: impossible ?? false,
  }, async () => {
    for (const name of ['box2', 'lap'] as const) {
      const file = `${name}.txt`;
      const { session, task } = await dispatch(client, {
        on: name,
        body: writeScript(
          'run ls /run/svc',
          commit(name),
          `run svc verify report --passed 'test -f ${file}' --summary fine`,
          'print 300KB',
          'no-change',
        ),
      });
      const { exit_code: code, commits, machine } = await awaitEnd(client, session);
      const log = readLogHere(ws, session);
      assert.deepEqual([code, commits, machine], [0, 1, name], log.toString().slice(-1500));
      assert.match(log.toString(), /daemon\.json/, 'it is not confined');
      assert.ok(log.equals(machines[name].readLog(session)));
      // The board reruns the evidence of a confined run by itself.
      let seen: unknown;
      await until(
        async () => {
          const verification = await client.call('verify.status', { session });
          seen = verification;
          return verification.state === 'verified';
        },
        () => `the rerun of its evidence: ${JSON.stringify(seen)}`,
      );
      const merged = await ws.svc(['merge', task]);
      assert.equal(merged.code, 0, merged.stderr);
      assert.equal(readFileSync(join(ws.repository.root, file), 'utf8'), `${name}\n`);
      assert.equal(ws.repository.git('show', `main:${file}`), name);
    }
  });

  it('a worker of one asks a worker of another, and neither takes a file that the other has locked', async () => {
    const { session: near } = await dispatch(client, {
      on: 'box2',
      body: writeScript(
        'run svc lock acquire app/main.txt; until svc ask answer 1 8080 2>&1; do sleep 0.2; done',
        'no-change',
      ),
    });
    await until(async () => (await client.call('lock.status', {})).locks[0]?.holder === near, 'the lock');
    const { session: far } = await dispatch(client, {
      on: 'lap',
      body: writeScript(
        `run svc lock acquire app/main.txt 2>&1; svc ask open "Which port?" --to-session ${near}`,
        'no-change',
      ),
    });
    for (const session of [near, far]) {
      const { exit_code: code } = await awaitEnd(client, session);
      assert.equal(code, 0, readLogHere(ws, session).toString());
    }
    const log = readLogHere(ws, far).toString();
    assert.match(log, new RegExp(`${near} holds app/main\\.txt`));
    assert.match(log, /^8080$/m);
    const { asks } = await client.call('ask.list', { status: 'all' });
    assert.deepEqual(
      asks.map((ask) => [ask.from_session, ask.to_session, ask.answered_by, ask.status]),
      [[far, near, near, 'answered']],
    );
  });

  it('a run continues over its connection when its machine is cut off or one direction is lost for a moment', async () => {
    const names = ['box2', 'lap'] as const;
    const sinces = await Promise.all(names.map(async (name) => (await findRunner(name)).since));
    const running = await Promise.all(names.map((name) => startSteady(name)));
    const strikes = {
      'both directions': (name: Name) => network.cut(name),
      'the way to it': (name: Name) => network.lose('to', name),
      'the way from it': (name: Name) => network.lose('from', name),
    };
    for (const [what, strike] of Object.entries(strikes)) {
      names.forEach(strike);
      const before = running.map(({ countThere }) => countThere());
      await until(
        () => running.every(({ countThere }, at) => countThere() >= (before[at] ?? 0) + 40),
        `the lines without ${what}`,
      );
      const there = running.map(({ countThere }) => countThere());
      if (what !== 'the way to it')
        for (const [at, { countHere }] of running.entries())
          assert.ok(countHere() < (there[at] ?? 0), `${what} of ${names[at]} is not cut`);
      if (what !== 'both directions') assert.ok(network.countLost() > 0);
      network.pass();
      for (const name of names) network.join(name);
      await until(
        () => running.every(({ countHere }, at) => countHere() >= (there[at] ?? 0)),
        `the lines after the loss of ${what}`,
      );
    }
    for (const { end } of running) end();
    for (const [at, name] of names.entries()) {
      await checkWhole(name, running[at]?.session ?? '');
      assert.deepEqual((await findRunner(name)).since, sinces[at], `${name} was connected again`);
    }
  });

  describe('for longer', { concurrency: true }, () => {
    it('a machine whose address changes connects again, and its run has lost nothing', async () => {
      const before = await findRunner('lap');
      const { session, end, countThere, countHere } = await startSteady('lap');
      network.move('lap', '192.168.77.3');
      await until(async () => {
        const { state, since } = await findRunner('lap');
        return state === 'ready' && since !== before.since;
      }, 'the connection from the new address');
      const there = countThere();
      await until(() => countHere() >= there, 'the lines since then');
      end();
      await checkWhole('lap', session);
    });

    for (const name of ['box2', 'pad'] as const)
      it(`${name} is silent while it is cut off for long, and what its workers did in that time is taken over`, async () => {
        const ending = await startSteady(name);
        const calling = await startSteady(name, `run svc lock acquire ${name}.txt 2>&1`);
        network.cut(name);
        await until(async () => (await findRunner(name)).state === 'silent', 'the silence');
        ending.end();
        calling.end();
        const { session } = calling;
        await until(() => machines[name].readLog(ending.session).includes('agent: done'), 'the end there');
        network.join(name);
        await awaitReady(name);
        await checkWhole(name, ending.session);
        await checkWhole(name, session);
        // Its call waited for the connection.
        assert.match(readLogHere(ws, session).toString(), new RegExp(`${session} holds ${name}\\.txt`));
      });
  });
});
