import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { encodeLogBlock } from '../../../engine/fleet/log-blocks.ts';
import type { EngineClient } from '../../../engine/index.ts';
import {
  awaitEnd,
  dispatch,
  makeFleet,
  makeMachine,
  readLogHere,
  type TestFleet,
  type TestMachine,
} from '../../support/fleet.ts';
import { until } from '../../support/wait.ts';
import { runGit } from '../../support/workspaces/git.ts';
import type { TestWorkspace } from '../../support/workspaces/workspace.ts';
import type { Lie } from './liar-child.ts';

const CHILD = fileURLToPath(new URL('./liar-child.js', import.meta.url));

describe('a runner that lies', () => {
  let fleet: TestFleet;
  let ws: TestWorkspace;
  let liar: TestMachine;
  let client: EngineClient;
  /** The repository from which it packs. */
  let mirror: string;
  let main: string;
  const alerts: { session: string | null; detail: string }[] = [];
  before(async () => {
    fleet = await makeFleet();
    ({ ws } = fleet);
    client = await ws.connect();
    liar = makeMachine(ws, 'liar');
    liar.install('svc', `exec '${process.execPath}' '${CHILD}' "$@"`);
    tellLies({});
    await liar.add('--pool', 'other');
    mirror = join(liar.home, 'mirror');
    runGit(liar.home, 'clone', '--quiet', ws.root, mirror);
    main = ws.repository.git('rev-parse', 'main');
    await client.subscribe('events.subscribe', { after: 0 }, ({ params }) => {
      const {
        kind,
        session_id: session,
        data,
      } = params.event as { kind: string; session_id: string | null; data: { detail?: string } };
      if (kind === 'alert') alerts.push({ session, detail: data.detail ?? '' });
    });
  });
  after(async () => {
    await fleet?.close();
    await liar?.close();
  });

  function tellLies(lie: Lie): void {
    writeFileSync(join(liar.home, 'lie'), JSON.stringify(lie));
    rmSync(join(liar.home, 'heard'), { force: true });
  }
  const listHeard = (): unknown[] =>
    existsSync(join(liar.home, 'heard'))
      ? readFileSync(join(liar.home, 'heard'), 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as unknown)
      : [];
  async function run(lie: Lie) {
    tellLies(lie);
    const { session } = await dispatch(client, { body: 'x', on: 'liar' });
    return awaitEnd(client, session);
  }
  const findAlert = (session: string): Promise<string> =>
    until(() => alerts.find((each) => each.session === session)?.detail, `an alert about ${session}`);
  /** Nothing but the session's own branch and refs has moved, and the other machine works. */
  async function checkUnharmed(): Promise<void> {
    assert.equal(ws.repository.git('rev-parse', 'main'), main);
    assert.equal(ws.repository.git('status', '--porcelain'), '');
    ws.repository.git('fsck', '--strict', '--no-dangling');
    const { session } = await dispatch(client, { body: 'x', on: 'box2' });
    assert.equal((await awaitEnd(client, session)).exit_code, 0);
  }

  it('about the place of a session is refused with answer_invalid', async () => {
    const lies: Record<string, unknown>[] = [
      ...[{ branch: 'svc/s-99' }, { branch: 'main' }, { branch: '../x' }, { baseCommit: 'a'.repeat(40) }],
      ...[{ baseCommit: main.slice(0, 8) }, { worktree: 'relative' }, { cwd: 'x/y' }, { worktree: null }],
      ...[{ repository: 'f'.repeat(24) }, { repository: '/etc' }, { port: -1 }, { runner: 'r-1' }],
    ];
    for (const placement of lies) {
      const ended = await run({ answers: { placement } });
      assert.equal(ended.failure?.code, 'answer_invalid', JSON.stringify(placement));
    }
    await checkUnharmed();
  });

  it('about anything else in another form is refused with answer_invalid', async () => {
    for (const answers of [
      { prepare: { svc: 5 } },
      { prepare: { outputFrom: -1 } },
      { start: { pid: 'x' } },
      { tips: { length: 3 } },
    ]) {
      const ended = await run({ answers });
      assert.equal(ended.failure?.code, 'answer_invalid', JSON.stringify(answers));
    }
    await checkUnharmed();
  });

  it('about its commits moves no branch', async () => {
    const commit = (files: Record<string, string>, from = main): string => {
      runGit(mirror, 'checkout', '--quiet', '--detach', from);
      return ws.repository.commit(files, 'made', mirror);
    };
    const first = commit({ 'a.txt': 'a'.repeat(3000) });
    const second = commit({ 'b.txt': 'b' }, first);
    const orphan = runGit(mirror, 'commit-tree', '-m', 'x', `${main}^{tree}`);
    const blob = runGit(mirror, 'rev-parse', `${main}:README.md`);
    const raw = (text: string): string => {
      writeFileSync(join(liar.home, 'raw'), Buffer.from(text, 'latin1'));
      return runGit(mirror, 'hash-object', '-w', '-t', 'tree', '--literally', join(liar.home, 'raw'));
    };
    const bytes = (id: string): string => Buffer.from(id, 'hex').toString('latin1');
    const inner = raw(`100644 config\0${bytes(blob)}`);
    const tree = raw(`40000 .git\0${bytes(inner)}`);
    const planted = runGit(mirror, 'commit-tree', '-p', main, '-m', 'x', tree);
    const lies: [lie: Lie, detail: RegExp][] = [
      [{ tip: orphan, without: [] }, /kept under refs\/svc\/s-\d+\/off-base-/],
      [{ tip: second, without: [first] }, /objects are missing|cannot be used/],
      [{ tip: planted }, /cannot be used/],
      [{ tip: first, cut: 100 }, /cannot be used/],
      [{ tip: 'b'.repeat(40), cut: 0 }, /cannot be used/],
      [{ tip: 'refs/heads/main' }, /form that is not allowed/],
      [{ tip: blob }, /./],
    ];
    for (const [lie, detail] of lies) {
      const ended = await run(lie);
      const found = await findAlert(ended.session_id);
      assert.match(found, detail, JSON.stringify(lie));
      assert.equal(ws.repository.git('rev-parse', ended.branch ?? ''), main, JSON.stringify(lie));
    }
    await checkUnharmed();
    // The same machine is believed when it tells the truth.
    const ended = await run({ tip: second });
    assert.equal(ws.repository.git('rev-parse', ended.branch ?? ''), second);
  });

  it('speaks for no run but its own', async () => {
    const own = await dispatch(client, { body: 'x\n#agent: hang', on: 'box2' });
    await until(
      async () => (await client.call('session.list', { ids: [own.session] }))[0]?.state === 'running',
    );
    const { default: Database } = await import('better-sqlite3');
    const db = new Database(join(ws.root, '.svc/svc.db'), { readonly: true });
    const find = (where: string) =>
      db.prepare(`SELECT 's-' || id AS sessionId, run_id AS runId FROM session WHERE ${where} LIMIT 1`).get();
    const foreign = find("state = 'running'");
    const ended = find("state = 'ended' AND runner IS NOT NULL AND run_id IS NOT NULL");
    db.close();
    const unknown = { sessionId: 's-1', runId: '3f0c4a52-7d1e-4c0b-9f56-0a4e6c1b2d3e' };
    await run({
      speaksFor: [
        ...['seat', 'gateway'].flatMap((name): [string, unknown][] => [
          [name, foreign],
          [name, ended],
          [name, unknown],
          [name, { sessionId: 'chair', runId: '' }],
        ]),
        ['chair', null],
        ['seat', null],
      ],
    });
    const heard = listHeard().filter((each) => Array.isArray(each)) as [string, string][];
    assert.deepEqual(
      heard.map(([, said]) => said),
      [...Array.from({ length: 9 }, () => 'chair_only'), 'accepted'],
    );
    await client.call('worker.kill', { session: own.session });
    await checkUnharmed();
  });

  it('has a log that starts anywhere, and is copied or refused without harm', async () => {
    const huge = Number.MAX_SAFE_INTEGER - 1;
    const far = await run({
      log: encodeLogBlock({ from: huge, bytes: Buffer.from('far') }).toString('base64'),
    });
    const impossible = Buffer.alloc(12, 0xff);
    const wrong = await run({ log: impossible.toString('base64') });
    // Not as fast as the machine can lie.
    assert.ok(listHeard().filter((each) => each === 'asked for a log').length <= 3);
    for (const { session_id: session } of [far, wrong]) {
      assert.ok(readLogHere(ws, session).length < 1000);
      assert.equal((await ws.svc(['worker', 'log', session])).code, 0);
    }
    await checkUnharmed();
  });

  it('sends reports without an end, and the engine keeps nothing of them', async () => {
    const before = process.memoryUsage.rss();
    const ended = await run({ reports: 300 });
    assert.equal(ended.exit_code, 0);
    assert.equal(ended.activity, null);
    assert.ok(process.memoryUsage.rss() - before < 400e6);
    await checkUnharmed();
  });

  it('says nonsense about itself, and gets no work', async () => {
    for (const about of [{ boot: 5 }, 'x'.repeat(1000)]) {
      tellLies({ about });
      for (const pid of liar.transportPids()) process.kill(pid, 'SIGKILL');
      await until(async () => {
        const listed = (await client.call('runner.list', {})).find(({ name }) => name === 'liar');
        return listed?.state === 'silent' && /facts have a form/.test(listed.reason ?? '');
      });
    }
    await checkUnharmed();
  });
});
