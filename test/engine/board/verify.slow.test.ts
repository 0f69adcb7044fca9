import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Caller } from '../../../engine/core/api/operation.ts';
import type { SvcError } from '../../../engine/core/base/errors.ts';
import type { LoggedEvent, Session, Verification, WireValue } from '../../../engine/index.ts';
import { findLocalPath } from '../../../engine/index.ts';
import { until } from '../../support/wait.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { AGENT, isRunning, makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

type Shown = WireValue<Verification>;
type Reported = { session: string; task: string | null; state: string; reasons: string[] };

describe('evidence', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  let count = 0;
  before(async () => {
    ws = await makeWorkspace();
    here = await engineHere(ws, { workerCap: 100 });
  });
  after(async () => {
    await here?.end();
    await ws.close();
  });

  interface Working {
    id: string;
    taskId: string;
    caller: Partial<Caller>;
    worktree: string;
    /** Commits in its worktree. */
    commit(files: Record<string, string>): string;
    report(input: object): Promise<Reported>;
    status(): Promise<Shown>;
    /** Lets the worker finish and waits for its end. */
    end(): Promise<WireValue<Session>>;
  }

  const session = async (id: string): Promise<WireValue<Session>> =>
    (await here.call('session.list', { ids: [id] }))[0] ?? assert.fail(id);

  /** A worker that waits; its prompt says what it does at its end. */
  async function works({
    criteria = [] as string[],
    last = '#agent: no-change',
    inplace = false,
  } = {}): Promise<Working> {
    count += 1;
    const go = join(ws.repository.folder, `go-${count}`);
    const { task_id: taskId } = await here.call('task.add', {
      title: 'work',
      body: `#agent: wait-for ${go}\n${last}`,
      agent: 'scripted',
      acceptance_criteria: criteria,
    });
    const { session: started } = await here.call('task.run', {
      id: taskId,
      inplace,
    });
    const id = started.session_id;
    const { worktree } = await until(async () => {
      const at = await session(id);
      return at.state === 'running' && at;
    });
    const caller: Partial<Caller> = { seat: 'worker', sessionId: id };
    return {
      id,
      taskId,
      caller,
      /** Empty for work in place. */
      worktree: findLocalPath(worktree) ?? '',
      commit: (files) => ws.repository.commit(files, 'work', findLocalPath(worktree) ?? ''),
      report: (input) => here.call('verify.report', input, caller),
      status: () => here.call('verify.status', {}, caller),
      async end() {
        writeFileSync(go, '');
        return until(async () => {
          const at = await session(id);
          return at.state === 'ended' && at;
        });
      },
    };
  }
  const events = (id: string): LoggedEvent[] =>
    here.engine.events.listEvents({ limit: 500 }).filter(({ sessionId }) => sessionId === id);

  const OWN_WORD = 'svc has not rerun the reported tests';

  test("evidence is only the reporter's word until svc has rerun its tests", async () => {
    const work = await works({ criteria: ['it builds', 'it is tested'] });
    assert.deepEqual(
      [(await work.status()).state, (await work.status()).reasons],
      ['none', ['nothing was reported']],
    );
    assert.deepEqual(
      (await work.status()).criteria.map(({ status }) => status),
      ['unreported', 'unreported'],
    );
    const head = work.commit({ 'made.txt': 'made\n' });
    const reported = await work.report({
      criteria: [
        { criterion: ' it builds ', met: true, note: 'see the log' },
        { index: 2, status: 'met' },
      ],
      tests: [
        { command: 'true', passed: true },
        { command: 'later', result: 'skipped' },
      ],
      symbols: [{ path: 'made.txt', symbol: 'made' }, { path: './none.txt' }],
      summary: 'made it',
    });
    assert.deepEqual(reported, {
      session: work.id,
      task: work.taskId,
      state: 'reported',
      reasons: ['missing: none.txt', OWN_WORD],
    });
    const status = await work.status();
    assert.deepEqual(status.criteria, [
      { criterion: 'it builds', status: 'met', note: 'see the log' },
      { criterion: 'it is tested', status: 'met', note: null },
    ]);
    assert.deepEqual(status.symbols, [
      { path: 'made.txt', symbol: 'made', exists: true },
      { path: 'none.txt', symbol: null, exists: false },
    ]);
    assert.deepEqual([status.head_commit, status.reported_by, status.summary], [head, work.id, 'made it']);
    const [event] = events(work.id);
    assert.deepEqual(event?.data, {
      session: work.id,
      state: 'reported',
      met: 2,
      criteria: 2,
      failed: 0,
      tests: 2,
    });
    const ended = await work.end();
    assert.equal((await here.call('verify.status', { session: ended.session_id })).state, 'reported');
    // Only a rerun improves the state, and missing programs are still missing.
    const again = await here.call('verify.rerun', { session: work.id });
    assert.deepEqual([again.state, again.reasons], ['reported', ['missing: none.txt']]);
  });

  test('evidence is stale once the branch has moved, by the worker, at its end, or by a person', async () => {
    const work = await works();
    work.commit({ 'one.txt': 'one\n' });
    const tests = [{ command: 'true', result: 'passed' as const }];
    assert.equal((await work.report({ tests })).state, 'reported');
    const second = work.commit({ 'two.txt': 'two\n' });
    const status = await work.status();
    assert.equal(status.state, 'stale');
    assert.match(status.reasons.join(), new RegExp(`ends at ${second.slice(0, 10)}; it was reported at`));
    assert.equal((await work.report({ tests })).state, 'reported');

    // Uncommitted files are committed at the worker's end, after the evidence.
    writeFileSync(join(work.worktree, 'left.txt'), 'left\n');
    const warned = await work.report({ tests });
    assert.equal(warned.state, 'reported');
    assert.match(warned.reasons.join(), /1 file is not committed/);
    await work.end();
    assert.equal((await work.status()).state, 'stale');
    // A rerun of a report about another commit is not evidence for this one.
    assert.equal((await here.call('verify.rerun', { session: work.id })).state, 'stale');

    assert.equal((await here.call('verify.report', { session: work.id, tests })).state, 'reported');
    assert.equal((await here.call('verify.rerun', { session: work.id })).state, 'verified');
    ws.repository.git('branch', '--force', 'elsewhere', `svc/${work.id}`);
    const next = ws.repository.git('commit-tree', '-p', 'elsewhere', '-m', 'more', 'elsewhere^{tree}');
    ws.repository.git('update-ref', `refs/heads/svc/${work.id}`, next);
    const moved = await work.status();
    assert.equal(moved.state, 'stale');
    assert.match(moved.reasons.join(), /; it was reported at .*; it was run again at /);
    assert.deepEqual(moved.rerun?.agrees, true);
  });

  test("evidence of work in place is compared with the session's result, not with later changes", async () => {
    const work = await works({ inplace: true, last: '#agent: no-change' });
    ws.repository.commit({ 'inplace.txt': 'by the worker\n' });
    const tests = [{ command: 'true', result: 'passed' as const }];
    assert.deepEqual(await work.report({ tests, symbols: [{ path: 'inplace.txt' }] }), {
      session: work.id,
      task: work.taskId,
      state: 'reported',
      reasons: [OWN_WORD],
    });
    await work.end();
    ws.repository.commit({ 'later.txt': 'by a person\n' });
    assert.equal((await work.status()).state, 'reported');
  });

  test('evidence names each criterion that is unmet or unreported, each failed test, and a missing report', async () => {
    const work = await works({ criteria: ['a', 'b'] });
    const reasons = async (input: object): Promise<string[]> => {
      const { state, reasons: all } = await work.report(input);
      assert.equal(state, 'reported', JSON.stringify(input));
      assert.equal(all.length, 2, all.join());
      return all.slice(0, 1);
    };
    assert.deepEqual(await reasons({ criteria: [{ criterion: 'a', met: true }] }), ['not reported: b']);
    assert.deepEqual(
      await reasons({
        criteria: [
          { index: 1, met: false },
          { index: 2, met: true },
        ],
      }),
      ['not met: a'],
    );
    const met = [
      { criterion: '1', met: true },
      { criterion: '2', met: true },
    ];
    const failing = { criteria: met, tests: [{ command: 'false', result: 'failed' }] };
    assert.deepEqual(await reasons(failing), ['failed: false']);
    assert.deepEqual(await reasons({ criteria: [...met, { criterion: 'c', met: false }] }), ['not met: c']);
    assert.deepEqual((await work.report({ criteria: [...met, { criterion: 'c', met: true }] })).reasons, [
      'no executed test was reported, so there is nothing to rerun',
    ]);
    assert.deepEqual(
      (await work.status()).criteria.map(({ criterion }) => criterion),
      ['a', 'b', 'c'],
    );
    await work.end();
    const bare = await works();
    const nothing = /^neither a criterion nor an executed test was reported/;
    assert.match((await bare.report({ summary: 'all is well' })).reasons.join(), nothing);
    const skipped = await bare.report({ tests: [{ command: 'x', result: 'skipped' }] });
    assert.match(skipped.reasons.join(), nothing);
    await bare.end();
  });

  test('evidence comes from the worker or from the Chair', async () => {
    const [one, two] = [await works(), await works()];
    const tests = [{ command: 'true', result: 'passed' as const }];
    await assert.rejects(one.report({ session: two.id, tests }), { code: 'holder_mismatch' });
    await assert.rejects(one.report({ task: two.taskId, tests }), { code: 'holder_mismatch' });
    await assert.rejects(one.report({ task: 't-9999', tests }), { code: 'not_found' });
    const plain = { seat: 'plain', sessionId: null } as const;
    await assert.rejects(here.call('verify.report', { session: one.id, tests }, plain), {
      code: 'holder_mismatch',
    });
    await assert.rejects(here.call('verify.report', { tests }), { code: 'fields_invalid' });
    await assert.rejects(here.call('verify.report', { session: 's-9999', tests }), { code: 'not_found' });
    await assert.rejects(here.call('verify.status', {}), { code: 'fields_invalid' });
    assert.equal((await one.status()).state, 'none');
    await here.call('verify.report', { session: two.id, tests }, { sessionId: null });
    assert.equal((await two.status()).reported_by, 'ada');
    const seat = {
      kind: 'plain',
      agent: null,
      title: null,
      notifyBase: null,
      pid: null,
      project: null,
    } as const;
    await here.engine.attend({ ...seat, name: 'by-hand' });
    const byHand = { seat: 'plain', sessionId: 'by-hand', env: { SVC_TASK: one.taskId } } as const;
    const symbols = [{ path: 'README.md' }];
    assert.deepEqual(await here.call('verify.report', { tests, symbols }, byHand), {
      session: 'by-hand',
      task: one.taskId,
      state: 'reported',
      reasons: [OWN_WORD],
    });
    await assert.rejects(here.call('verify.report', { symbols: [{ path: '../x' }] }, byHand), {
      code: 'path_outside',
    });
    assert.equal((await here.call('verify.status', {}, byHand)).task_id, one.taskId);
    await Promise.all([one.end(), two.end()]);
  });

  test('evidence with a path outside the worktree, or without readable content, is refused', async () => {
    const work = await works({ criteria: ['a'] });
    symlinkSync(ws.repository.folder, join(work.worktree, 'out'));
    for (const path of ['../x', '/etc/passwd', 'out', 'out/go-1', join(ws.root, 'README.md'), 'a/../../b']) {
      await assert.rejects(
        work.report({ symbols: [{ path }] }),
        { code: 'path_outside' },
        JSON.stringify(path),
      );
    }
    rmSync(join(work.worktree, 'out'));
    const inside = await work.report({
      symbols: [{ path: join(work.worktree, 'README.md') }, { path: 'a/../b' }],
    });
    assert.equal(inside.state, 'reported');
    assert.deepEqual(
      (await work.status()).symbols.map(({ path }) => path),
      ['README.md', 'b'],
    );
    const many = (length: number, one: object) => Array.from({ length }, () => one);
    for (const input of [
      { criteria: [{ criterion: 'a' }] },
      { criteria: [{ met: true }] },
      { criteria: [{ index: 2, met: true }] },
      { criteria: [{ index: 0, met: true }] },
      { criteria: [{ criterion: 'a', met: true, status: 'not_met' }] },
      { criteria: [{ criterion: 'x'.repeat(4001), met: true }] },
      { criteria: 'a' },
      { tests: [{ command: 'true' }] },
      { tests: [{ command: ' ', passed: true }] },
      { tests: [{ command: 'a\0b', passed: true }] },
      { symbols: [{ path: 'a\0b' }] },
      { tests: [{ command: 'true', result: 'ok' }] },
      { tests: many(51, { command: 'true', passed: true }) },
      { symbols: many(501, { path: 'a' }) },
      { summary: 'x'.repeat(20_001) },
      { proof: true },
    ]) {
      await assert.rejects(
        work.report(input),
        { code: 'fields_invalid' },
        JSON.stringify(input).slice(0, 100),
      );
    }
    for (let more = 0; more < 30; more += 1) await work.report({ criteria: [{ index: 1, met: true }] });
    assert.deepEqual((await work.status()).criteria[0]?.status, 'met');
    await work.end();
  });

  describe('a rerun', () => {
    /** Returns an ended session that has reported these commands as passed, except those it reported as failed. */
    async function reported(...tests: (string | { command: string; result: string })[]): Promise<Working> {
      const work = await works();
      await work.report({
        tests: tests.map((each) => (typeof each === 'string' ? { command: each, result: 'passed' } : each)),
      });
      await work.end();
      return work;
    }
    const rerun = (id: string, input: object = {}) => here.call('verify.rerun', { session: id, ...input });

    test('a rerun agrees with tests that end as reported, in a clean checkout and environment', async () => {
      const work = await reported(
        'test "$(cat README.md | wc -l)" -gt 0',
        { command: 'exit 3', result: 'failed' },
        { command: 'touch skipped', result: 'skipped' },
        'pwd; test -z "$SVC_WEBHOOK_SECRET"; test -n "$SVC_RUN_ID"; read x; test -z "$x"',
      );
      const { rerun: result, state } = await rerun(work.id);
      assert.deepEqual(
        result?.results.map(({ agrees, exit_code }) => [agrees, exit_code]),
        [
          [true, 0],
          [true, 3],
          [true, 0],
        ],
      );
      assert.deepEqual([result?.agrees, result?.by, state], [true, 'ada', 'reported']);
      assert.match(result?.results[2]?.output ?? '', new RegExp(`/agents/${work.id}/verify-[0-9a-f]+\n`));
      assert.equal(existsSync(join(work.worktree, 'skipped')), false);
      const head = ws.repository.git('rev-parse', `svc/${work.id}`);
      assert.deepEqual(
        events(work.id)
          .filter(({ kind }) => kind === 'verification_rerun')
          .map(({ data }) => data),
        [{ state: 'ended', agrees: true, tests: 3, head }, { state: 'running' }],
      );
      const fine = await reported('true');
      assert.equal((await rerun(fine.id)).state, 'verified');
    });

    test('a rerun disagrees with a lie, keeps the end of its output, and is reset by a new report', async () => {
      const noise = `i=0; while [ $i -lt 3000 ]; do echo "line $i"; i=$((i+1)); done; echo the end >&2; exit 1`;
      const work = await reported(noise, 'true', { command: 'true # not so', result: 'failed' });
      const { state, reasons, rerun: result } = await rerun(work.id);
      assert.equal(state, 'disagrees');
      assert.match(reasons[0] ?? '', /^the rerun ended with exit code 1, unlike the report: i=0/);
      assert.deepEqual(
        result?.results.map(({ agrees }) => agrees),
        [false, true, false],
      );
      const output = result?.results[0]?.output ?? '';
      assert.ok(Buffer.byteLength(output) <= 8192, `${output.length}`);
      assert.match(output, /^line \d+\n/);
      assert.match(output, /the end\n$/);
      const again = { session: work.id, tests: [{ command: 'true', passed: true }] };
      assert.equal((await here.call('verify.report', again)).state, 'reported');
    });

    test('a rerun ends commands that take too long, and leaves no process behind, even detached ones', async () => {
      const file = join(ws.repository.folder, 'detached');
      const agent = `'${process.execPath}' '${AGENT}' --`;
      const work = await reported(
        `${agent} '#agent: detach ${file}\n#agent: no-change'`,
        `sleep 600 & echo $! >> '${file}'`,
        `env -i sleep 600 & echo $! >> '${file}'`,
      );
      const { rerun: ended } = await rerun(work.id);
      assert.deepEqual(
        ended?.results.map(({ exit_code }) => exit_code),
        [0, 0, 0],
      );
      const hangs = await reported(
        `echo $$ >> '${file}'; trap '' TERM; setsid sleep 600 & echo $! >> '${file}'; while :; do sleep 600; done`,
      );
      const { rerun: late, state } = await rerun(hangs.id, { timeout_sec: 1 });
      assert.deepEqual([late?.results[0]?.exit_code, late?.agrees, state], [null, false, 'disagrees']);
      assert.match(late?.results[0]?.output ?? '', /\[svc: ended after 1 s\]$/);
      const pids = readFileSync(file, 'utf8').trim().split('\n').map(Number);
      assert.equal(pids.length, 5);
      for (const pid of pids) await until(() => !isRunning(pid), `the end of ${pid}`);
    });

    test('a rerun with a hash runs exactly the inspected commands', async () => {
      const file = join(ws.repository.folder, 'ran');
      const work = await reported('true', { command: 'exit 1', result: 'skipped' });
      const look = async (): Promise<string> => (await work.status()).rerun_hash ?? '';
      const refuse = async (hash: string): Promise<void> => {
        await assert.rejects(rerun(work.id, { hash }), (error: SvcError) => {
          assert.deepEqual([error.code, existsSync(file)], ['conflict', false]);
          assert.match(error.message, /have changed since you looked at them/);
          return true;
        });
        assert.equal((await work.status()).rerun, null);
      };
      const first = await look();
      await work.report({ tests: [{ command: `touch '${file}'`, result: 'passed' }] });
      await refuse(first);

      const before = await look();
      const tree = `svc/${work.id}^{tree}`;
      const moved = ws.repository.git('commit-tree', '-p', `svc/${work.id}`, '-m', 'more', tree);
      ws.repository.git('update-ref', `refs/heads/svc/${work.id}`, moved);
      await refuse(before);

      const again = await look();
      const report = async (result: string, note: string) =>
        work.report({ tests: [{ command: `touch '${file}'`, result, note }] });
      await report('passed', 'words that nobody runs');
      assert.equal(await look(), again);
      await report('failed', '');
      await refuse(again);
      assert.equal((await rerun(work.id, { hash: await look() })).state, 'disagrees');
      assert.ok(existsSync(file));
      assert.equal((await (await reported()).status()).rerun_hash, null);
    });

    test('a rerun ends with the wait of its caller, and leaves no record', async () => {
      const file = join(ws.repository.folder, 'cancelled');
      const work = await reported(`echo $$ > '${file}'; sleep 600`, 'true');
      const stop = new AbortController();
      const said: string[] = [];
      const caller: Caller = {
        seat: 'chair',
        actor: 'ada',
        via: 'tui',
        sessionId: null,
        project: null,
        env: {},
      };
      const running = here.engine.operations.call('verify.rerun', { session: work.id }, caller, {
        signal: stop.signal,
        progress: (message) => said.push(message),
      });
      running.catch(() => undefined);
      await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
      assert.match(said.join('\n'), /^checks out [0-9a-f]{10} and makes it ready\nruns 1 of 2: echo/);
      await assert.rejects(rerun(work.id), { code: 'conflict', message: /already being rerun/ });
      stop.abort();
      await assert.rejects(running, { code: 'cancelled' });
      assert.equal(isRunning(Number(readFileSync(file, 'utf8'))), false);
      assert.equal((await work.status()).rerun, null);
    });

    test('a rerun needs an ended session, reported tests and a branch', async () => {
      const live = await works();
      await assert.rejects(rerun(live.id), { code: 'conflict', message: /still running/ });
      await live.end();
      await assert.rejects(rerun(live.id), { code: 'not_found', message: /reported no test/ });
      const inplace = await works({ inplace: true });
      await inplace.report({ tests: [{ command: 'true', passed: true }] });
      await inplace.end();
      await assert.rejects(rerun(inplace.id), { code: 'not_found', message: /no separate branch/ });
      const gone = await reported('true');
      rmSync(gone.worktree, { recursive: true });
      // Only the commit matters, and it is on the branch.
      assert.equal((await rerun(gone.id)).state, 'verified');
      await assert.rejects(here.call('verify.rerun', { session: gone.id }, gone.caller), {
        code: 'chair_only',
      });
      assert.equal((await gone.status()).state, 'verified');
    });
  });
});
