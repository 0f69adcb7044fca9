import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { findProgram } from '../../../engine/core/base/find-program.ts';
import type { EngineClient } from '../../../engine/index.ts';
import {
  awaitEnd,
  dispatch,
  makeFleet,
  makeMachine,
  readLogHere,
  showSession,
  type TestFleet,
  type TestMachine,
  writeScript,
} from '../../support/fleet.ts';
import { until } from '../../support/wait.ts';

interface TwoMachines extends TestFleet {
  other: TestMachine;
  client: EngineClient;
}

/** Creates a workspace with two machines of one pool. */
async function makeTwo(config?: string, prepare?: (box: TestMachine) => void): Promise<TwoMachines> {
  const fleet = await makeFleet(
    { hosted: false, ...(config === undefined ? {} : { yaml: config }) },
    prepare === undefined ? {} : { prepare },
  );
  const other = makeMachine(fleet.ws, 'box3');
  await other.add();
  const client = await fleet.ws.connect();
  async function close(): Promise<void> {
    await fleet.close();
    await other.close();
  }
  return { ...fleet, other, client, close };
}

/** The first run commits one file, leaves another, reports, and never ends; a later one finds both and ends. */
const twice = (ledger: string): string =>
  writeScript(
    `count ${ledger}`,
    [
      'run if [ -e early.txt ]; then cat left.txt; else',
      'echo early > early.txt; git add early.txt; git commit -qm early; echo left > left.txt;',
      "svc verify report --passed 'test -f early.txt' --summary fine; echo reported; sleep 600; fi",
    ].join(' '),
    'edit late.txt late',
  );

const listEvents = async (client: EngineClient, kind: string) =>
  (await client.call('event.list', { limit: 1000 })).filter((event) => event.kind === kind);

/** Waits until what a session has not committed is here. */
const awaitSnapshot = (
  { ws }: TestFleet,
  session: string,
  run: number,
  file = 'left.txt',
): Promise<unknown> =>
  until(() => {
    try {
      ws.repository.git('show', `refs/svc/${session}/${session}-run-${run}:${file}`);
      return true;
    } catch {
      return null;
    }
  }, 'the snapshot');

/** Counts what the board has recorded. @param from a table, with conditions */
function count(root: string, from: string): number {
  const db = new Database(join(root, '.svc/svc.db'), { readonly: true });
  try {
    return db.prepare(`SELECT count(*) FROM ${from}`).pluck().get() as number;
  } finally {
    db.close();
  }
}

/** Makes a machine unreachable; its runner and workers continue. */
function cut(box: TestMachine): () => void {
  const svc = join(box.home, 'bin/svc');
  chmodSync(svc, 0o000);
  for (const pid of box.transportPids()) process.kill(pid, 'SIGKILL');
  return () => chmodSync(svc, 0o755);
}

describe('a machine that is given up', () => {
  it('a session of a revoked machine continues elsewhere with all that was saved, and its workers end', async () => {
    const fleet = await makeTwo();
    const { ws, box, other, client } = fleet;
    try {
      const ledger = join(box.home, 'ledger');
      const { session, task } = await dispatch(client, { body: twice(ledger), on: 'box2' });
      await awaitSnapshot(fleet, session, 1);
      assert.equal(ws.repository.git('rev-list', '--count', `main..svc/${session}`), '1');
      const revoked = await ws.svc(['runner', 'revoke', 'box2']);
      assert.deepEqual(
        [revoked.code, revoked.stdout.trim()],
        [0, `box2 is cut off; ${session} continues elsewhere`],
      );
      const { failure, machine, runs } = await awaitEnd(client, session);
      assert.deepEqual([failure, machine, runs], [null, 'box3', 2]);
      for (const file of ['early', 'left', 'late'])
        assert.equal(ws.repository.git('show', `svc/${session}:${file}.txt`), file);
      assert.equal(readFileSync(ledger, 'utf8').trim().split('\n').length, 2);
      const log = readLogHere(ws, session).toString();
      assert.match(log, /^agent: .*\n(?:Terminated\n)?\[svc: run 2, after runner_lost\]\nagent: .*\nleft\n/);
      await until(() => box.listWorkers().length === 0, 'the end of its workers');
      const [listed] = await client.call('runner.list', {});
      assert.deepEqual([listed?.state, listed?.running], ['revoked', 0]);
      assert.equal((await client.call('task.show', { id: task })).task.status, 'done');
      assert.equal((await listEvents(client, 'run_lost')).length, 1);
      assert.match((await ws.svc(['runner', 'revoke', 'box2'])).stderr, /was revoked already/);
      const removed = await ws.svc(['runner', 'remove', 'box2', '--json']);
      assert.deepEqual([removed.code, removed.json().left], [0, null], removed.stderr);
      assert.equal(other.listWorktrees().length, 1);
    } finally {
      await fleet.close();
    }
  });

  it('a session that asks on a revoked machine waits for the answer, and continues elsewhere with it', async () => {
    const fleet = await makeTwo();
    const { ws, client } = fleet;
    try {
      const asking = 'run if [ ! -e asked ]; then touch asked; svc ask open "Which port?"; fi';
      const { session } = await dispatch(client, {
        body: writeScript(asking, 'edit late.txt late'),
        on: 'box2',
      });
      const ask = await until(async () => (await client.call('ask.list', {})).asks[0]);
      await awaitSnapshot(fleet, session, 1, 'asked');
      assert.equal((await ws.svc(['runner', 'revoke', 'box2'])).code, 0);
      const waiting = await until(async () => {
        const shown = await showSession(client, session);
        return shown.state === 'queued' ? shown : null;
      });
      assert.equal(waiting.pause?.code, 'unanswered');
      assert.equal((await ws.svc(['ask', 'answer', String(ask.id), 'port', '8080'])).code, 0);
      const { failure, machine } = await awaitEnd(client, session);
      assert.deepEqual([failure, machine], [null, 'box3']);
      const prompt = readFileSync(join(fleet.other.root(), '.svc/agents', session, 'log'), 'utf8');
      assert.match(prompt, /svc: run 2, after unanswered/);
    } finally {
      await fleet.close();
    }
  });

  it('a follow-up of a session whose machine was removed continues on another one, from the branch', async () => {
    const fleet = await makeTwo();
    const { ws, client } = fleet;
    try {
      const { session } = await dispatch(client, { body: writeScript('edit a.txt first'), on: 'box2' });
      await awaitEnd(client, session);
      assert.equal((await ws.svc(['runner', 'remove', 'box2', '--force'])).code, 0);
      const { session: next } = await client.call('worker.follow_up', {
        session,
        prompt: writeScript('run cat a.txt', 'edit b.txt second'),
      });
      const second = next.session_id;
      const { failure, machine, commits, branch } = await awaitEnd(client, second);
      assert.deepEqual([failure, machine, commits, branch], [null, 'box3', 2, `svc/${session}`]);
      assert.match(readLogHere(ws, second).toString(), /^first$/m);
    } finally {
      await fleet.close();
    }
  });

  it('a paused session of a drained machine continues on another one, with its uncommitted files', async () => {
    const fleet = await makeTwo();
    const { ws, client } = fleet;
    try {
      const asking =
        'run if [ -e left.txt ]; then cat left.txt; else echo left > left.txt; svc ask open "Which?"; sleep 600; fi';
      // Its time ends while it waits for an answer.
      const { session } = await dispatch(client, {
        ...{ body: writeScript(asking, 'edit b.txt second'), on: 'box2', timeout_sec: 5 },
      });
      const ask = await until(async () => (await client.call('ask.list', {})).asks[0]);
      await until(async () => (await showSession(client, session)).state === 'queued', 'the pause');
      assert.equal((await ws.svc(['runner', 'drain', 'box2'])).code, 0);
      await ws.svc(['ask', 'answer', String(ask.id), 'this']);
      const { failure, machine } = await awaitEnd(client, session);
      assert.deepEqual([failure, machine], [null, 'box3'], readLogHere(ws, session).toString());
      assert.equal(ws.repository.git('show', `svc/${session}:left.txt`), 'left');
      await until(() => fleet.box.listWorktrees().length === 0, 'the removal of the first worktree');
    } finally {
      await fleet.close();
    }
  });

  it('a session of a lost machine is retried elsewhere, and its later work there is kept under a ref', async () => {
    const fleet = await makeTwo('fleet:\n  on_lost: retry\n  lost_after_sec: 30\n');
    const { ws, box, client } = fleet;
    let restore = (): void => undefined;
    try {
      const ledger = join(box.home, 'ledger');
      const { session } = await dispatch(client, { body: twice(ledger), on: 'box2' });
      await awaitSnapshot(fleet, session, 1);
      restore = cut(box);
      await until(() => box.listWorkers().length === 0, 'the end of the lease', 30_000);
      const ended = await awaitEnd(client, session);
      assert.deepEqual([ended.failure, ended.machine, ended.runs], [null, 'box3', 2]);
      const [lost] = await client.call('runner.list', {});
      assert.equal(lost?.state, 'lost');
      const tip = ws.repository.git('rev-parse', `svc/${session}`);
      assert.equal(box.listWorktrees().length, 1);
      restore();
      await until(async () => (await client.call('runner.list', {}))[0]?.state === 'ready', 'the machine');
      await until(() => box.listWorktrees().length === 0, 'the removal of the lost worktree');
      await until(() => !existsSync(join(box.root(), '.svc/agents', session)), 'the removal of its folder');
      assert.equal(ws.repository.git('rev-parse', `svc/${session}`), tip);
      const superseded = await until(async () => (await listEvents(client, 'run_superseded'))[0]);
      assert.deepEqual(superseded.data, {
        runner: 'r-1',
        run: 1,
        ref: `refs/svc/${session}/${session}-run-1-late`,
      });
      assert.equal(ws.repository.git('show', `refs/svc/${session}/${session}-run-1-late:left.txt`), 'left');
    } finally {
      restore();
      await fleet.close();
    }
  });

  it('a machine that was lost while it made a worktree removes it once it is back', async () => {
    const hold = (box: TestMachine): string => join(box.home, 'hold');
    const fleet = await makeTwo('fleet:\n  on_lost: retry\n  lost_after_sec: 30\n', (machine) => {
      const git = findProgram('git', { cwd: '/', path: process.env.PATH });
      machine.install(
        'git',
        `case " $* " in *" worktree add "*) while [ -e "$HOME/hold" ]; do : > "$HOME/held"; sleep 0.05; done;; esac
exec '${git}' "$@"`,
      );
    });
    const { ws, box, client } = fleet;
    let restore = (): void => undefined;
    try {
      // Only then may the board give it up.
      await until(() => count(ws.root, 'runner WHERE id = 1 AND lease_ms IS NOT NULL') === 1, 'its lease');
      writeFileSync(hold(box), '');
      const { session } = await dispatch(client, { body: writeScript('edit made.txt x'), on: 'box2' });
      await until(() => existsSync(join(box.home, 'held')), 'the order of a worktree');
      restore = cut(box);
      const ended = await awaitEnd(client, session);
      assert.deepEqual([ended.failure, ended.machine], [null, 'box3']);
      restore();
      await until(async () => (await client.call('runner.list', {}))[0]?.state === 'ready', 'the machine');
      rmSync(hold(box));
      await until(
        () => count(ws.root, 'lost_run WHERE settled_at IS NULL') === 0,
        'the cleaning of the machine',
      );
      assert.deepEqual(box.listWorktrees(), []);
      assert.equal(existsSync(join(box.root(), '.svc/agents', session)), false);
      assert.deepEqual(await listEvents(client, 'run_superseded'), []);
    } finally {
      rmSync(hold(box), { force: true });
      restore();
      await fleet.close();
    }
  });

  it('a machine without its engine ends its run in time, which resumes there once the engine is back', async () => {
    const fleet = await makeTwo('fleet:\n  on_lost: retry\n  lost_after_sec: 30\n');
    const { ws, box, client } = fleet;
    try {
      const ledger = join(box.home, 'ledger');
      const { session } = await dispatch(client, { body: twice(ledger), on: 'box2' });
      await awaitSnapshot(fleet, session, 1);
      client.close();
      await ws.svc(['down']);
      assert.ok(box.listWorkers().length > 0);
      await until(() => box.listWorkers().length === 0, 'the end of the lease', 30_000);
      const next = await ws.connect();
      const { failure, machine, runs } = await awaitEnd(next, session);
      assert.deepEqual([failure, machine, runs], [null, 'box2', 2]);
      assert.equal(ws.repository.git('show', `svc/${session}:late.txt`), 'late');
      assert.match(readLogHere(ws, session).toString(), /svc: run 2, after runner_lost/);
      assert.equal((await listEvents(next, 'run_lost')).length, 0);
      // The snapshot is on the branch by now.
      assert.throws(() => ws.repository.git('rev-parse', '--verify', `refs/svc/${session}/${session}-run-2`));
    } finally {
      await fleet.close();
    }
  });

  it('a machine that has not heard of the setting keeps its runs, which are not started elsewhere', async () => {
    const fleet = await makeTwo('fleet:\n  lost_after_sec: 30\n');
    const { ws, box, client } = fleet;
    let restore = (): void => undefined;
    try {
      const { session } = await dispatch(client, { body: twice(join(box.home, 'ledger')), on: 'box2' });
      await awaitSnapshot(fleet, session, 1);
      restore = cut(box);
      const set = await ws.svc(['config', 'set', 'fleet.on_lost', 'retry']);
      assert.equal(set.code, 0, set.stderr);
      const alert = await until(async () => (await listEvents(client, 'alert'))[0], 'the alert', 60_000);
      assert.match(JSON.stringify(alert.data), /box2 has been silent for 30 s/);
      const { state, machine } = await showSession(client, session);
      assert.deepEqual([state, machine], ['running', 'box2']);
      assert.ok(box.listWorkers().length > 0);
      assert.equal((await listEvents(client, 'run_lost')).length, 0);
      restore();
      await client.call('worker.kill', { session });
      await until(async () => (await client.call('runner.list', {}))[0]?.state === 'ready', 'the machine');
      assert.equal((await awaitEnd(client, session)).stop_reason, 'cancelled');
    } finally {
      restore();
      await fleet.close();
    }
  });

  it('a session of a lost machine fails with what had arrived, if that is configured', async () => {
    const fleet = await makeTwo('fleet:\n  on_lost: fail\n  lost_after_sec: 30\n');
    const { ws, box, client } = fleet;
    let restore = (): void => undefined;
    try {
      const { session } = await dispatch(client, { body: twice(join(box.home, 'ledger')), on: 'box2' });
      await awaitSnapshot(fleet, session, 1);
      restore = cut(box);
      const { failure, commits } = await awaitEnd(client, session);
      assert.deepEqual([failure?.code, commits], ['runner_lost', 2]);
      assert.equal(ws.repository.git('show', `svc/${session}:left.txt`), 'left');
      restore();
      await until(async () => (await client.call('runner.list', {}))[0]?.state === 'ready', 'the machine');
      await until(() => box.listWorkers().length === 0, 'the end of its workers');
      // It continues where its worktree is.
      const resumed = await ws.svc(['worker', 'resume', session, '--json']);
      assert.equal(resumed.code, 0, resumed.stderr);
      const { session_id: second } = (await client.call('session.list', {}))[0]!;
      const end = await awaitEnd(client, second);
      assert.deepEqual([end.failure, end.machine], [null, 'box2']);
      assert.equal(ws.repository.git('show', `svc/${session}:late.txt`), 'late');
    } finally {
      restore();
      await fleet.close();
    }
  });
});
