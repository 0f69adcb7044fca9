import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Bench,
  bench,
  evidence,
  sessionRow,
  showEvidence,
  showTask,
  showWork,
  taskRow,
  trial,
} from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const openEndedWorker = (): Bench =>
  showWork(
    bench(100, 33).data({
      sessions: [sessionRow(1)],
      tasks: [taskRow(1, { session_id: 's-1', status: 'done' })],
    }),
    1,
  );
const readScreen = (dash: Bench): string => screenOf(dash.state()).join('\n');
const promoteQuestion = (dash: Bench): string => dash.keys('p').state().armed?.question ?? '';

describe('evidence in a promotion', () => {
  it('p shows the report and that it is verified', () => {
    const dash = showEvidence(openEndedWorker(), 1).keys('p');
    assert.match(dash.state().armed?.question ?? '', /Promote svc\/s-1 into main\? It is verified\./);
    const shown = readScreen(dash);
    assert.match(shown, /Promote t-1 s-1/);
    assert.match(shown, /tests +verify_report: 3 passed, acceptance 2 of 2 met · verified/);
  });

  it('p says plainly that a report is not verified', () => {
    const none = { state: 'none', tests: [], criteria: [], reported_at: null } as const;
    const failed = {
      state: 'reported',
      rerun: null,
      tests: [{ command: 'npm test', result: 'failed', note: null }],
      criteria: [{ criterion: 'it works', status: 'unreported', note: null }],
    } as const;
    assert.match(
      promoteQuestion(showEvidence(openEndedWorker(), 1, { ...none, tests: [], criteria: [] })),
      /Not verified: nothing was reported/,
    );
    assert.match(
      promoteQuestion(
        showEvidence(openEndedWorker(), 1, {
          ...failed,
          tests: [...failed.tests],
          criteria: [...failed.criteria],
        }),
      ),
      /Not verified: the worker says 1 test failed, acceptance 0 of 1 met; svc has not rerun it \(V\)/,
    );
    assert.match(
      promoteQuestion(showEvidence(openEndedWorker(), 1, { state: 'disagrees' })),
      /Not verified.*disagrees/,
    );
  });

  it('a report about another commit than the one to merge is stale', () => {
    const moved = showEvidence(
      showWork(openEndedWorker(), 1, { trial: trial(1, { head: 'd'.repeat(40) }) }),
      1,
    );
    assert.match(promoteQuestion(moved), /Not verified.*stale/);
  });

  it("a report that svc has not rerun is the worker's word, and says if a rerun is planned", () => {
    const said = (rerun_state: 'waiting' | 'running' | null) =>
      promoteQuestion(showEvidence(openEndedWorker(), 1, { state: 'reported', rerun: null, rerun_state }));
    assert.match(
      said(null),
      /Not verified: the worker says 3 tests passed, .*; svc has not rerun them \(V\)\./,
    );
    assert.match(said('waiting'), /by the worker only · its tests wait to be rerun/);
    assert.match(said('running'), /by the worker only · its tests are being rerun/);
  });

  it('p waits for the evidence, and loads it again when a report arrives', () => {
    assert.equal(promoteQuestion(openEndedWorker()), 'promote s-1? fetching its evidence …');
    const dash = showEvidence(openEndedWorker(), 1).keys('p');
    const event = {
      seq: 9,
      at: '2026-03-01T12:00:00Z',
      kind: 'verification_reported',
      task_id: 't-1',
      decision_id: null,
      session_id: 's-1',
      actor: null,
      via: null,
      data: {},
    } as const;
    dash.data({ events: [event] }).keys('m');
    assert.deepEqual(dash.calls(), []);
    assert.match(dash.state().message?.text ?? '', /s-1/);
  });

  it('evidence that could not be read is shown as an error', () => {
    const dash = openEndedWorker();
    const loaded = {
      kind: 'evidence',
      id: 's-1',
      stamp: '',
      detail: null,
      problem: 'no such session',
    } as const;
    assert.match(
      promoteQuestion(dash.send({ type: 'detail', loaded })),
      /Not verified: its evidence could not be read/,
    );
  });
});

describe('acceptance criteria and tests', () => {
  const mixed = {
    state: 'reported',
    reasons: ['1 of 2 criteria is not met'],
    criteria: [
      { criterion: 'the first holds', status: 'met' as const, note: null },
      { criterion: 'the second holds', status: 'not_met' as const, note: 'no time' },
      { criterion: 'the third holds', status: 'unreported' as const, note: null },
    ],
    tests: [{ command: 'npm test', result: 'passed' as const, note: null }],
  } as const;
  const parts = [
    '✓ met        the first holds',
    '✗ not met    the second holds (no time)',
    '? unreported the third holds',
    '✓ passed     npm test',
  ];
  const more = {
    ...mixed,
    reasons: [...mixed.reasons],
    criteria: [...mixed.criteria],
    tests: [...mixed.tests],
  };

  it('criteria are in the view of the task and of the worker, each sign with its word', () => {
    const inTask = readScreen(showEvidence(showTask(openEndedWorker(), 1).keys('enter'), 1, more));
    const inWork = readScreen(showEvidence(openEndedWorker().keys('enter'), 1, more));
    for (const part of [...parts, '1 of 2 criteria is not met']) {
      assert.ok(inTask.includes(part), `${part} is not in\n${inTask}`);
      assert.ok(inWork.includes(part), `${part} is not in\n${inWork}`);
    }
  });

  it('criteria of a task without work are listed as unreported', () => {
    const dash = showTask(bench(80, 30).data({ tasks: [taskRow(1)] }), 1);
    const loaded = structuredClone(dash.state().details[0]!);
    (loaded.detail as { task: { acceptance_criteria: string[] } }).task.acceptance_criteria = [
      'it says hello',
    ];
    assert.match(readScreen(dash.send({ type: 'detail', loaded })), /\? unreported it says hello/);
  });

  it('a rerun that disagrees shows its results', () => {
    const rerun = {
      at: '2026-03-01T11:59:00Z',
      by: 'user',
      on: null,
      head: 'c'.repeat(40),
      agrees: false,
      results: [{ command: 'npm test', exit_code: 1, agrees: false, output: '1 failing' }],
    };
    const shown = readScreen(showEvidence(openEndedWorker().keys('enter'), 1, { state: 'disagrees', rerun }));
    for (const part of ['DISAGREES with the report', '✗ differs', 'npm test ended with 1', '│ 1 failing'])
      assert.ok(shown.includes(part), `${part} is not in\n${shown}`);
  });
});

describe('rerunning the reported tests', () => {
  it('V names the commands, y runs them', () => {
    const dash = showEvidence(openEndedWorker(), 1).keys('V');
    assert.match(
      dash.state().armed?.question ?? '',
      /Run 3 reported commands .* of s-1\? npm test -- part1 ; /,
    );
    assert.deepEqual(dash.calls(), []);
    assert.deepEqual(dash.keys('y').calls(), [
      { operation: 'verify.rerun', input: { session: 's-1', hash: 'e'.repeat(64) } },
    ]);
    const inTasks = showEvidence(showTask(openEndedWorker(), 1), 1).keys('V', 'y');
    assert.deepEqual(inTasks.calls(), [
      { operation: 'verify.rerun', input: { session: 's-1', hash: 'e'.repeat(64) } },
    ]);
  });

  it('V lists only what would run: no skipped test, and no check that was reported as passed', () => {
    const tests = (['passed', 'failed', 'skipped'] as const).map((result) => ({
      command: `make ${result}`,
      result,
      note: null,
    }));
    const checks = ['make passed', 'make failed', 'make own'];
    const dash = showEvidence(openEndedWorker(), 1, { tests, checks }).keys('V');
    assert.match(
      dash.state().armed?.question ?? '',
      /^Run 2 reported commands and 2 checks .*\? make passed ; make failed ; make failed ; make own/,
    );
  });

  it('V gives the reason for a refusal: nothing reported, still running', () => {
    const said = (dash: Bench): string => dash.keys('V').state().message?.text ?? '';
    const nothing = { tests: [], rerun_hash: null };
    assert.match(said(showEvidence(openEndedWorker(), 1, nothing)), /has reported no test that ran/);
    const running = openEndedWorker().data({ sessions: [sessionRow(1, { state: 'running' })] });
    assert.match(said(showEvidence(running, 1)), /still running/);
    assert.match(said(openEndedWorker()), /still being fetched/);
  });

  it('V reports if the rerun agrees', () => {
    const dash = showEvidence(openEndedWorker(), 1).keys('V', 'y');
    const effect = dash.effects().at(-1)!;
    const rerun = {
      at: '2026-03-01T12:00:00Z',
      by: 'user',
      on: null,
      head: 'c'.repeat(40),
      agrees: false,
      results: [],
    };
    dash.send({
      type: 'answered',
      effect: effect as never,
      answer: evidence(1, { state: 'disagrees', rerun }),
    });
    assert.match(dash.state().message?.text ?? '', /did not end as reported/);
    assert.equal(dash.state().message?.tone, 'bad');
  });
});
