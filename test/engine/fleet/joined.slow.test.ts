import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readBrokerSetting } from '../../../engine/fleet/broker/broker-files.ts';
import { createIdentity } from '../../../engine/fleet/broker/identity.ts';
import { readJoinedFleet } from '../../../engine/fleet/machine/joined-fleet.ts';
import {
  formatJoinLine,
  joinAnswer,
  openMessage,
  parseJoinLine,
  sealMessage,
  subjectsOf,
} from '../../../engine/fleet/wire/join-line.ts';
import { FLEET_PROTOCOL } from '../../../engine/fleet/wire/link.ts';
import { connectToBroker, createBrokerKey } from '../../../engine/fleet/wire/nats.ts';
import type { EngineClient } from '../../../engine/index.ts';
import { BROKER_MISSING } from '../../support/broker.ts';
import {
  awaitEnd,
  copyTrust,
  dispatch,
  invite,
  makeJoinedFleet,
  makeMachine,
  readLogHere,
  showSession,
  type TestMachine,
  trustAgent,
  writeScript,
} from '../../support/fleet.ts';
import { isRunning } from '../../support/processes/processes.ts';
import { until } from '../../support/wait.ts';
import { makeWorkspace } from '../../support/workspaces/workspace.ts';

const readPid = (root: string): number =>
  (JSON.parse(readFileSync(join(root, '.svc/fleet/process.json'), 'utf8')) as { pid: number }).pid;

const awaitReady = (client: EngineClient) =>
  until(async () => {
    const [listed] = await client.call('runner.list', {});
    return listed?.state === 'ready' ? listed : null;
  }, 'the machine');

const awaitMachine = (client: EngineClient, wanted: string) =>
  until(async () => {
    const found = (await client.call('runner.list', {})).find(({ pool }) => pool === wanted);
    return found?.state === 'ready' ? found : null;
  }, `a machine of ${wanted}`);

const COMMIT = (name: string): string =>
  `run echo ${name} > ${name}.txt && git add ${name}.txt && git commit -qm ${name}`;

describe('a machine that has joined over a broker', { skip: BROKER_MISSING }, () => {
  it('its worker asks, locks and reports evidence that is rerun here, and its work is promoted', async () => {
    const fleet = await makeJoinedFleet({ hosted: true });
    const { ws, box } = fleet;
    try {
      const client = await ws.connect();
      const listed = await awaitReady(client);
      assert.deepEqual([listed.transport, listed.name, listed.pool], ['broker', 'box2', 'default']);
      await trustAgent(client, fleet.box);
      const { session, task } = await dispatch(client, {
        body: writeScript(
          COMMIT('early'),
          'run svc lock acquire app/main.txt && svc ask open "Which port?"',
          "run svc verify report --passed 'test -f early.txt' --summary fine",
          'print 300KB',
          'no-change',
        ),
        on: 'box2',
      });
      const ask = await until(async () => (await client.call('ask.list', {})).asks[0]);
      assert.equal((await client.call('lock.status', {})).locks.length, 1);
      await ws.svc(['ask', 'answer', String(ask.id), 'port', '8080']);
      const { exit_code: code, commits } = await awaitEnd(client, session);
      assert.deepEqual([code, commits], [0, 1], readLogHere(ws, session).toString().slice(-1000));
      assert.ok(readLogHere(ws, session).equals(box.readLog(session)));
      const verified = await client.call('verify.rerun', { session });
      assert.equal(verified.state, 'verified', JSON.stringify(verified));
      assert.equal((await ws.svc(['merge', task])).code, 0);
      assert.equal(readFileSync(join(ws.repository.root, 'early.txt'), 'utf8'), 'early\n');
      const removed = await ws.svc(['runner', 'remove', 'box2', '--force', '--json']);
      assert.deepEqual([removed.code, removed.json().left], [0, null], removed.stderr);
      await until(() => !existsSync(box.root()), 'the removal there');
    } finally {
      await fleet.close();
    }
  });

  it('each of its runs ends once when broker, engine or runner are killed', async () => {
    const fleet = await makeJoinedFleet({ hosted: false });
    const { ws, box } = fleet;
    try {
      const first = await ws.connect();
      await awaitReady(first);
      await trustAgent(first, fleet.box);
      first.close();
      const strikes: Record<string, () => unknown> = {
        broker: () => process.kill(readPid(ws.root), 'SIGKILL'),
        engine: () => ws.crashDaemon(),
        runner: () => process.kill(box.runnerPid() ?? 0, 'SIGKILL'),
      };
      for (const [what, strike] of Object.entries(strikes)) {
        const client = await ws.connect();
        const ledger = join(box.home, `ledger-${what}`);
        const directives = [COMMIT(`${what}-1`), 'lines 40 20', COMMIT(`${what}-2`), 'lines 40 20'];
        const { session } = await dispatch(client, {
          ...{ body: writeScript(`count ${ledger}`, ...directives, 'edit last.txt x'), on: 'box2' },
        });
        await until(() => existsSync(ledger));
        client.close();
        const broker = readPid(ws.root);
        await strike();
        // Nothing starts a runner that has joined but its machine.
        if (what === 'runner') assert.equal((await box.svc('runner', 'start')).code, 0);
        const next = await ws.connect();
        const { exit_code: code, commits } = await awaitEnd(next, session);
        assert.deepEqual([what, code, commits], [what, 0, 3]);
        assert.equal(readFileSync(ledger, 'utf8').trim().split('\n').length, 1);
        assert.ok(readLogHere(ws, session).equals(box.readLog(session)));
        assert.equal(readPid(ws.root) === broker, what !== 'broker', 'a running broker is taken over');
        await awaitReady(next);
        next.close();
      }
      const pid = readPid(ws.root);
      await ws.svc(['down']);
      await until(() => !isRunning(pid), 'the end of the broker');
    } finally {
      await fleet.close();
    }
  });

  it('its workers end and its keys open nothing once it is revoked', async () => {
    const fleet = await makeJoinedFleet({ hosted: true });
    const { ws, box } = fleet;
    try {
      const client = await ws.connect();
      await awaitReady(client);
      await trustAgent(client, fleet.box);
      const { session } = await dispatch(client, { body: writeScript('hang'), on: 'box2' });
      await until(async () => (await showSession(client, session)).state === 'running');
      await until(() => box.listWorkers().length > 0);
      assert.equal((await ws.svc(['runner', 'revoke', 'box2'])).code, 0);
      await until(() => box.listWorkers().length === 0, 'the end of its workers');
      const { servers, authority, nkeySeed } = readJoinedFleet(join(box.root(), '.svc'))!;
      await assert.rejects(
        connectToBroker({ servers, authority, inbox: 'x', login: { nkeySeed } }, () => undefined),
        /Authorization/,
      );
      const waiting = await until(async () => {
        const shown = await showSession(client, session);
        return shown.state === 'queued' ? shown : null;
      });
      assert.equal(waiting.runner, null);
      assert.match(waiting.waits_for ?? '', /box2 was revoked/);
    } finally {
      await fleet.close();
    }
  });

  it('its keys let it neither speak for others nor hear them, and the broker stores nothing', async () => {
    const fleet = await makeJoinedFleet({ hosted: true });
    const { ws, box } = fleet;
    try {
      const client = await ws.connect();
      await awaitReady(client);
      const root = join(box.root(), '.svc');
      const { servers, authority, nkeySeed, runner } = readJoinedFleet(root)!;
      const fleetId = box.root().split('/').at(-1) ?? '';
      const subjects = subjectsOf(fleetId);
      const heard: string[] = [];
      const thief = await connectToBroker(
        { servers, authority, inbox: subjects.toRunner(runner).slice(0, -2), login: { nkeySeed } },
        () => undefined,
      );
      thief.subscribe(subjects.all, (_message, subject) => heard.push(subject));
      thief.subscribe(subjects.toRunner('r-2'), (_message, subject) => heard.push(subject));
      thief.publish(subjects.open('r-2'), Buffer.from('0'.repeat(32)));
      thief.publish(subjects.down('r-2', '0'), Buffer.from('x'));
      // Its own second connection ends the first; without its certificate it gets no further.
      thief.publish(subjects.open(runner), Buffer.from(randomUUID().replaceAll('-', '')));
      await until(async () => (await client.call('runner.list', {}))[0]?.state !== 'ready', 'the loss');
      await awaitReady(client);
      await thief.close();
      assert.deepEqual(heard, []);
      const kept = readFileSync(join(ws.root, '.svc/fleet/nats.log'), 'utf8');
      assert.match(kept, /Permissions Violation|Subscription Violation/i);
      assert.ok(!existsSync(join(ws.root, '.svc/fleet/jetstream')));
    } finally {
      await fleet.close();
    }
  });

  it('a machine that joins with --once leaves when its run is acknowledged, and its folders are gone', async () => {
    const fleet = await makeJoinedFleet({ hosted: true });
    const { ws } = fleet;
    const other = makeMachine(ws, 'box3');
    try {
      const client = await ws.connect();
      await awaitReady(client);
      await trustAgent(client, fleet.box);
      copyTrust(fleet.box, other);
      assert.equal((await ws.svc(['project', 'share', 'workspace', '--pool', 'gpu'])).code, 0);
      const staying = other.svc('runner', 'join', await invite(ws, '--pool', 'gpu'), '--once');
      await awaitMachine(client, 'gpu');
      const [first, second] = await Promise.all(
        ['one', 'two'].map((name) =>
          dispatch(client, { body: writeScript(COMMIT(name), 'no-change'), pool: 'gpu' }),
        ),
      );
      const ended = await until(async () => {
        const shown = await client.call('session.list', { ids: [first!.session, second!.session] });
        return shown.find(({ state }) => state === 'ended');
      });
      assert.deepEqual([ended.failure, ended.commits], [null, 1]);
      const { code, stderr } = await staying;
      assert.equal(code, 0, stderr);
      assert.ok(!existsSync(other.root()));
      const left = (await client.call('runner.list', {})).map(({ name }) => name);
      assert.deepEqual(left, ['box2']);
      // The other one waits for the next machine.
      const waiting = [first!, second!].find(({ session }) => session !== ended.session_id)!;
      assert.match((await showSession(client, waiting.session)).waits_for ?? '', /no machine/);
      const status = await client.call('fleet.status', {});
      assert.deepEqual(
        status.pools.map(({ pool, waiting: count, machines }) => [pool, machines, count]),
        [
          ['default', 1, 0],
          ['gpu', 0, 1],
        ],
      );
      const again = other.svc('runner', 'join', await invite(ws, '--pool', 'gpu'), '--idle-exit', '5s');
      assert.equal((await awaitEnd(client, waiting.session)).commits, 1);
      assert.equal((await again).code, 0);
    } finally {
      await other.close();
      await fleet.close();
    }
  });

  it('a machine that joined for some time ends by itself once it was removed', async () => {
    const fleet = await makeJoinedFleet({ hosted: true });
    const { ws } = fleet;
    const other = makeMachine(ws, 'box3');
    try {
      const client = await ws.connect();
      await awaitReady(client);
      const staying = other.svc('runner', 'join', await invite(ws, '--pool', 'gpu'), '--idle-exit', '1h');
      const { name } = await awaitMachine(client, 'gpu');
      assert.equal((await ws.svc(['runner', 'revoke', name])).code, 0);
      assert.equal((await staying).code, 0);
      assert.ok(!existsSync(other.root()));
    } finally {
      await other.close();
      await fleet.close();
    }
  });

  it('the command of a pool starts one once a run has waited for half a minute', async () => {
    const fleet = await makeJoinedFleet({
      hosted: false,
      yaml: 'fleet: { pools: { gpu: { start: sh start.sh } } }\n',
    });
    const { ws } = fleet;
    const other = makeMachine(ws, 'box3');
    try {
      const script = 'cp "$SVC_JOIN_FILE" line && echo "$SVC_POOL $SVC_WANTED" > part && mv part wanted';
      writeFileSync(join(ws.root, 'start.sh'), script);
      const client = await ws.connect();
      await awaitReady(client);
      await trustAgent(client, fleet.box);
      copyTrust(fleet.box, other);
      assert.equal((await ws.svc(['project', 'share', 'workspace', '--pool', 'gpu'])).code, 0);
      const { session } = await dispatch(client, {
        body: writeScript(COMMIT('one'), 'no-change'),
        pool: 'gpu',
      });
      assert.match((await showSession(client, session)).waits_for ?? '', /the pool has no machine/);
      await until(() => existsSync(join(ws.root, 'wanted')), 'the command', 60_000);
      assert.equal(readFileSync(join(ws.root, 'wanted'), 'utf8'), 'gpu 1\n');
      await until(() => !existsSync(join(ws.root, '.svc/fleet/join-gpu')), 'the removal of the lines');
      const line = readFileSync(join(ws.root, 'line'), 'utf8').trim();
      const staying = other.svc('runner', 'join', line, '--once');
      const { failure, commits } = await awaitEnd(client, session);
      assert.deepEqual([failure, commits], [null, 1]);
      assert.equal((await staying).code, 0);
    } finally {
      await other.close();
      await fleet.close();
    }
  });

  it('a line lets one machine join once, and spent, cut, changed and foreign lines are refused', async () => {
    const fleet = await makeJoinedFleet({ hosted: true });
    const { ws } = fleet;
    const others: TestMachine[] = [];
    const refuse = async (line: string, pattern: RegExp): Promise<void> => {
      const other = makeMachine(ws, `other-${others.length}`);
      others.push(other);
      const { code, stderr } = await other.svc('runner', 'join', line);
      assert.notEqual(code, 0);
      assert.match(stderr, pattern);
      assert.equal(other.runnerPid(), null);
    };
    try {
      const line = await invite(ws, '--pool', 'gpu', '--max', '2');
      const parts = parseJoinLine(line);
      await refuse('svcj1.nonsense', /not the whole line/);
      await refuse(line.slice(0, -40), /not the whole line/);
      await refuse('', /missing argument|not the whole line/);
      await refuse(formatJoinLine({ ...parts, password: 'x'.repeat(32) }), /spent or too old/);
      // The broker lets it ask, and the board does not know it.
      await refuse(
        formatJoinLine({ ...parts, secret: 'x'.repeat(32) }),
        /not of the one who was invited|no answer/,
      );
      const setting = readBrokerSetting(join(ws.root, '.svc'))!;
      assert.ok(setting.board.key.includes('PRIVATE'));
      await refuse(
        formatJoinLine({ ...parts, authority: setting.board.certificate }),
        /broker cannot be reached/,
      );
      const second = makeMachine(ws, 'box3');
      others.push(second);
      // As the command line prints it.
      const joined = await second.svc('runner', 'join', `svc runner join ${line}`);
      assert.equal(joined.code, 0, joined.stderr);
      await refuse(line, /spent or too old/);
      assert.match((await second.svc('runner', 'join', line)).stderr, /has joined that fleet already/);
      const client = await ws.connect();
      const listed = await awaitMachine(client, 'gpu');
      assert.equal(listed.max, 2);
    } finally {
      for (const other of others) await other.close();
      await fleet.close();
    }
  });

  it('a machine whose answer was lost asks again, and has joined once', async () => {
    const fleet = await makeJoinedFleet({ hosted: true });
    try {
      const { fleet: id, servers, authority, ...invited } = parseJoinLine(await invite(fleet.ws));
      const subjects = subjectsOf(id);
      const access = { servers, authority, inbox: subjects.joined(invited.id) };
      const login = { user: invited.id, password: invited.password };
      const broker = await connectToBroker({ ...access, login }, () => undefined);
      const ask = async () => {
        const request = sealMessage(invited.secret, 'request', {
          ...{ host: 'box3', name: 'box3', protocol: FLEET_PROTOCOL, version: '0.1.0' },
          ...{ certificate: certificate, nkey: key.nkey },
        });
        const answer = await broker.request(subjects.join(invited.id), request, 20_000);
        return openMessage(invited.secret, 'answer', answer, joinAnswer);
      };
      const [{ certificate }, key] = [await createIdentity('box3'), createBrokerKey()];
      const first = await ask();
      assert.deepEqual(first, { runner: 'r-2', name: 'box3' });
      assert.deepEqual(await ask(), first);
      await broker.close();
    } finally {
      await fleet.close();
    }
  });

  it('a broker whose address is taken starts once it is free', async () => {
    const ws = await makeWorkspace({ hosted: true });
    const taken = createServer().listen(0, '127.0.0.1');
    try {
      await once(taken, 'listening');
      const { port } = taken.address() as AddressInfo;
      const init = await ws.svc(['fleet', 'init', '--host', '127.0.0.1', '--listen', `127.0.0.1:${port}`]);
      assert.match(init.stderr, /another program listens/);
      const client = await ws.connect();
      assert.match((await client.call('fleet.status', {})).broker?.problem ?? '', /another program listens/);
      taken.close();
      await until(async () => (await client.call('fleet.status', {})).broker?.problem === null, 'the broker');
      assert.match(await invite(ws), /^svcj1\./);
    } finally {
      taken.close();
      await ws.close();
    }
  });

  it('each wrong input gets one sentence', async () => {
    const fleet = await makeJoinedFleet({ hosted: true });
    const { ws, box } = fleet;
    try {
      assert.match((await box.svc('runner', 'trust', 'zz')).stderr, /not a digest/);
      assert.match((await ws.svc(['fleet', 'init'])).stderr, /name the host/);
      assert.match((await ws.svc(['fleet', 'init', '--host', 'a b'])).stderr, /host name or an address/);
      assert.match((await ws.svc(['runner', 'invite', '--pool', 'local'])).stderr, /cannot be a pool/);
    } finally {
      await fleet.close();
    }
  });
});
