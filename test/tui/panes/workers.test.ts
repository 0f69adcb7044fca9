import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import stringWidth from 'string-width';
import { describeChanges } from '../../../tui/plain/describe-changes.ts';
import type { EventRow, HeldRow, ShownSession } from '../../../tui/state/rows.ts';
import {
  type Bench,
  bench,
  messageRow,
  NOW,
  sessionRow,
  sessionUsage,
  showTask,
  showWork,
  taskRow,
} from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const minutesLater = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString();
const clockAt = (minutes: number): string =>
  new Date(NOW + minutes * 60_000).toLocaleTimeString('sv-SE', { hour12: false }).slice(0, 5);

const STEPS = ['read the code', 'find the race', 'fix it', 'add a test', 'run all of it'];
const runningRow = (id: number, more: Partial<ShownSession> = {}): ShownSession =>
  sessionRow(id, {
    state: 'running',
    ended_at: null,
    activity: 'edit src/a.ts',
    model: 'a-model',
    transport: 'acp',
    auth: 'gateway',
    profile: 'strict',
    usage: sessionUsage({ input: 40_000, cached: 30_000, output: 1200 }),
    tool_calls: 12,
    plan: STEPS.map((text, at) => ({ text, state: at < 2 ? 'done' : at === 2 ? 'active' : 'pending' })),
    ...more,
  });
const pausedRow = (id: number, more: Partial<ShownSession> = {}): ShownSession =>
  sessionRow(id, {
    state: 'queued',
    ended_at: null,
    resume_at: minutesLater(40),
    pause: { code: 'usage_limit', text: 'You have hit your limit' },
    ...more,
  });
const failedRow = (id: number, more: Partial<ShownSession> = {}): ShownSession =>
  sessionRow(id, { failure: { code: 'turn_limit', text: 'too many turns' }, ...more });
const heldRow = (agent: string, more: Partial<HeldRow> = {}): HeldRow => ({
  agent,
  failures: 3,
  code: 'auth_failed',
  text: 'token expired',
  opened_at: minutesLater(-1),
  reopen_at: minutesLater(5),
  ...more,
});

const openWorkers = (...sessions: ShownSession[]): Bench => bench().data({ sessions });
/** With everything that a question about a rerun or resume needs on the screen. */
const openReadWorkers = (...sessions: ShownSession[]): Bench => {
  const tasks = sessions.map(({ task_id: id }) => taskRow(Number(id.slice(2))));
  const dash = bench().data({ tasks, sessions });
  for (const { task_id: id } of sessions) showTask(dash, Number(id.slice(2)));
  return dash;
};
const readScreen = (dash: Bench): string => screenOf(dash.state()).join('\n');
const armedQuestion = (dash: Bench): string => dash.state().armed?.question ?? '';
const lastMessage = (dash: Bench): string => dash.state().message?.text ?? '';

describe('the activity of a worker', () => {
  it('the activity is in its row and, with its plan, above its log', () => {
    const dash = openWorkers(runningRow(1));
    assert.match(readScreen(dash), /▶t-1 +running +claude +5m +\+2 -1 edit src\/a\.ts · Task number 1/);
    for (const part of [
      'does  edit src/a.ts',
      'runs  with a-model · over acp · through the gateway · guard strict',
      'spent 40.0k in (30.0k cached), 1.2k out · $0.25 · 12 tool calls',
      'plan  2 of 5 done · ▷ fix it',
    ])
      assert.ok(readScreen(dash).includes(part), `${part} is not in\n${readScreen(dash)}`);
    dash.data({ sessions: [runningRow(1, { activity: 'run npm test', runs: 2 })] });
    assert.match(readScreen(dash), /does {2}run npm test.*strict · run 2/s);
    // The full view has room for all of it.
    for (const part of ['▣ read the code', '▣ find the race', '▷ fix it', '☐ add a test', '☐ run all of it'])
      assert.ok(readScreen(dash.keys('enter').keys('esc').keys('enter')).includes(part), part);
  });

  it('the activity names facts that its agent does not report, where silence proves nothing', () => {
    const untold = ['when its model declines', 'when an answer was cut off'];
    const dash = openWorkers(runningRow(1, { untold, plan: [] })).keys('enter');
    assert.match(
      readScreen(dash),
      /untold this agent does not report when its model declines, or when an answer /,
    );
    assert.doesNotMatch(readScreen(openWorkers(runningRow(2)).keys('enter')), /untold/);
  });

  it('the activity shows saved tokens next to its tokens', () => {
    const shown = (saved_tokens: number): string =>
      readScreen(openWorkers(runningRow(1, { saved_tokens, plan: [] })).keys('enter'));
    assert.match(shown(12_400), /spent .* out · 12\.4k spared/);
    assert.doesNotMatch(shown(0), /spared/);
  });

  it('the facts and the log have a box each where panes are side by side', () => {
    const dash = bench(140, 40).data({ sessions: [runningRow(1)] });
    const lines = screenOf(dash.state());
    assert.ok(
      lines.some((line) => /╗╭─ t-1 s-1 log ─/.test(line)),
      lines.join('\n'),
    );
    assert.ok(lines.some((line) => line.includes('│ ▷ fix it')));
    assert.equal(lines.filter((line) => line.includes('with a-model')).length, 1);
  });

  it('the latest messages to a running worker are queued until it reads them, and then have that time', () => {
    const to = { to_session: 's-1', acked_at: null };
    const dash = openWorkers(runningRow(1)).data({
      messages: [1, 2, 3, 4].map((id) => messageRow(id, { ...to, body: `Note ${id}\nand more` })),
    });
    const listed = (): string[] =>
      screenOf(dash.state()).flatMap((line) => /message +(.*?) *[│║]/.exec(line)?.[1] ?? []);
    const time = '\\d\\d:\\d\\d(?::\\d\\d)?';
    for (const [index, id] of [4, 3, 2].entries())
      assert.match(listed()[index]!, new RegExp(`^${id} queued ${time}, read at its next turn: Note ${id}$`));
    assert.equal(listed().length, 3);
    dash.data({
      messages: [messageRow(4, { ...to, body: 'Note 4', acked_at: new Date(NOW).toISOString() })],
    });
    assert.match(listed()[0]!, new RegExp(`^4 read ${time}: Note 4$`));
    assert.match(listed()[1]!, /^3 queued /);
    dash.data({ messages: [messageRow(5, { ...to, to_session: 's-9', body: 'For another' })] });
    assert.equal(listed().filter((line) => line.includes('another')).length, 0);
    dash.data({ sessions: [sessionRow(1)] });
    assert.deepEqual(listed(), [], 'an ended run reads nothing');
  });

  it('a long plan keeps the current step visible', () => {
    const plan = Array.from({ length: 40 }, (_, at) => ({
      text: `step ${at}`,
      state: at < 30 ? ('done' as const) : at === 30 ? ('active' as const) : ('pending' as const),
    }));
    const text = readScreen(openWorkers(runningRow(1, { plan })).keys('enter'));
    assert.match(text, /plan {2}30 of 40 done/);
    assert.match(text, /▣ step 29.*▷ step 30.*☐ step 31/s);
  });

  it('the lines above the log stay there while the log is read', () => {
    const dash = openWorkers(runningRow(1)).keys('enter');
    const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`);
    dash.send({
      type: 'log',
      source: { session: 's-1', command: null },
      lines: [''],
      ended: false,
      reset: true,
    });
    dash.send({
      type: 'log',
      source: { session: 's-1', command: null },
      lines: [...lines, ''],
      ended: false,
      reset: false,
    });
    assert.match(readScreen(dash), /does {2}edit.*line 99/s);
    assert.match(readScreen(dash.keys('g')), /does {2}edit.*line 0/s);
    assert.match(readScreen(dash.keys('G')), /does {2}edit.*line 99/s);
    assert.equal(dash.state().log.following, true);
  });
});

describe('a paused worker', () => {
  it("a paused worker's keys are in the last line of a narrow screen, and plain says that a question was cancelled", () => {
    const dash = bench(80, 24).data({ tasks: [taskRow(1)], sessions: [pausedRow(1)] });
    showTask(dash, 1);
    assert.match(screenOf(dash.state()).at(-1) ?? '', /x stop .*R resume +A attach .*\? help +q quit/);
    const asked = dash.keys('R').state();
    assert.deepEqual(describeChanges(asked, dash.keys('esc').state()), ['nothing was done']);
  });

  it('a paused worker, alone or marked, has the key that stops it there: an ended one has none', () => {
    const hasStop = (dash: Bench): boolean => / x stop /.test(screenOf(dash.state()).at(-1) ?? '');
    const merged = sessionRow(1, { promoted_at: '2026-03-01T11:00:00Z', branch_state: 'merged' });
    const open = (...sessions: ShownSession[]): Bench =>
      bench(200, 50).data({ sessions, tasks: [taskRow(1, { session_id: 's-1', status: 'done' })] });
    assert.equal(hasStop(open(merged)), false);
    assert.equal(hasStop(open(pausedRow(1))), true);
    assert.equal(hasStop(open(pausedRow(1)).keys('space')), true);
  });

  it('a paused worker is distinguished from a queued one, with its age in lists and its end in previews', () => {
    const dash = openWorkers(pausedRow(1), pausedRow(2, { resume_at: minutesLater(-1) }));
    assert.match(readScreen(dash), /▶t-1 .*paused 40m .*usage_limit · Task/);
    assert.match(readScreen(dash), /t-2 .*queued/);
    assert.match(readScreen(dash), new RegExp(`paused until ${clockAt(40)}, 40m from now; R`));
    assert.match(readScreen(dash), /why +usage_limit: You have hit your limit/);
    assert.match(readScreen(dash.wait(39.5 * 60_000)), /paused <1m/);
    assert.match(readScreen(dash.wait(60_000)), /▶t-1 .*queued/);
  });

  it("a paused worker's task is distinguished too", () => {
    const at = { resume_at: minutesLater(40), session_id: 's-1' };
    const dash = bench().data({ tasks: [taskRow(1, at)], sessions: [pausedRow(1)] });
    assert.match(readScreen(dash), /▶t-1 +paused 40m/);
    dash.keys('t');
    assert.match(readScreen(dash), new RegExp(`─ paused until ${clockAt(40)}`));
    assert.match(readScreen(dash), /paused +until .*: usage_limit: You have hit/);
    assert.match(lastMessage(dash.keys('X')), /s-1 is still paused/);
    dash.keys('/').send({ type: 'paste', text: 'status:paused' });
    assert.deepEqual(dash.state().lists.work.ids, ['t-1']);
  });

  it('R y resumes it now', () => {
    const dash = openReadWorkers(pausedRow(1)).keys('R');
    assert.match(
      armedQuestion(dash),
      new RegExp(`Resume s-1 now and not at ${clockAt(40)}\\?.*spends claude's tokens`),
    );
    assert.deepEqual(dash.keys('R').calls(), []);
    assert.deepEqual(dash.keys('R', 'y').calls(), [
      { operation: 'worker.resume', input: { session: 's-1' } },
    ]);
  });

  it('the question is withdrawn when the worker resumes by itself', () => {
    const dash = openReadWorkers(pausedRow(1))
      .keys('R')
      .data({ sessions: [runningRow(1)] });
    assert.equal(armedQuestion(dash), '');
    assert.deepEqual(dash.keys('y').calls(), []);
  });
});

describe('resuming and entering', () => {
  it('a failed worker resumes as a new session, which is selected', () => {
    const dash = openReadWorkers(failedRow(1, { agent_session: 'c-1' })).keys('R');
    assert.match(armedQuestion(dash), /Resume s-1 in its worktree and conversation, as a new session\?/);
    dash.keys('y');
    const effect = dash.effects().find((each) => each.do === 'call')!;
    dash.send({ type: 'answered', effect: effect as never, answer: runningRow(2, { continues: 's-1' }) });
    assert.equal(lastMessage(dash), 's-2 continues s-1');
    dash.data({ sessions: [runningRow(2, { continues: 's-1' })] });
    assert.equal(dash.state().lists.work.selected, 't-2');
  });

  it('a worker that was not on the screen cannot be resumed', () => {
    for (const row of [pausedRow(1), failedRow(1)]) {
      const unread = openWorkers(row).keys('R');
      assert.deepEqual([unread.state().armed, unread.state().view], [null, 'full']);
      const dash = openReadWorkers(row).keys('R');
      assert.match(readScreen(dash), /agent +claude · .*prompt +\d+ chars.*│ Task number 1/s);
      assert.match(armedQuestion(dash), /Resume s-1/);
    }
  });

  it('R gives the reason for a refusal', () => {
    const reason = (...sessions: ShownSession[]): string => lastMessage(openWorkers(...sessions).keys('R'));
    assert.match(reason(runningRow(1)), /s-1 is running and cannot be resumed/);
    assert.match(reason(sessionRow(1)), /s-1 has done its work/);
    assert.match(reason(failedRow(1, { worktree: null })), /worktree of s-1 is no longer there/);
    assert.match(reason(pausedRow(1, { resume_at: null })), /waits for a free worker/);
    const both = openWorkers(failedRow(1), failedRow(2, { task_id: 't-1' })).keys('G', 'R');
    assert.match(lastMessage(both), /t-1 has continued since, as s-2/);
  });

  it('A runs svc worker attach, not while its agent runs', () => {
    const run = (dash: Bench) => dash.effects().filter((each) => each.do === 'command');
    const [effect, ...others] = run(openWorkers(pausedRow(1)).keys('A'));
    assert.deepEqual(effect?.words, ['worker', 'attach', 's-1']);
    assert.equal(others.length, 0);
    assert.deepEqual(run(openWorkers(runningRow(1)).keys('A')), []);
    assert.match(lastMessage(openWorkers(runningRow(1)).keys('A')), /s-1 is running: its agent works alone/);
    const back = openWorkers(pausedRow(1)).keys('A');
    assert.match(
      lastMessage(back.send({ type: 'exited', effect: effect!, code: 0 })),
      /you have left s-1; it resumes at/,
    );
    assert.match(
      lastMessage(back.send({ type: 'exited', effect: effect!, code: 3 })),
      /ended with exit code 3/,
    );
  });
});

describe('suspended agents', () => {
  it('suspended agents are shown above everything, and shift no row', () => {
    const dash = bench().data({
      held: [heldRow('claude'), heldRow('codex', { reopen_at: minutesLater(-1) })],
    });
    const lines = screenOf(dash.state());
    assert.equal(lines.length, 24);
    assert.match(
      lines[2] ?? '',
      new RegExp(`suspended: claude \\(auth_failed, tried again ${clockAt(5)}\\), codex.*· H resumes`),
    );
    assert.doesNotMatch(readScreen(dash.data({ held: [] })), /suspended/);
  });

  it('H y resets an agent, first the one of the selected worker', () => {
    const dash = openWorkers(pausedRow(1, { agent: 'codex' })).data({
      held: [heldRow('claude'), heldRow('codex')],
    });
    assert.match(readScreen(dash), /waits +codex is suspended until/);
    assert.match(
      armedQuestion(dash.keys('H')),
      /Let codex take work again\? It failed 3 times .*auth_failed: token expired/,
    );
    assert.deepEqual(dash.keys('y').calls(), [{ operation: 'agent.reset', input: { agent: 'codex' } }]);
    assert.match(lastMessage(bench().keys('H')), /no agent is suspended/);
  });

  it('a plan names a suspended agent before its run is agreed to, and how it would run', () => {
    const dash = bench().data({ tasks: [taskRow(1)] });
    const until = { until: minutesLater(5), code: 'auth_failed', text: 'token expired' };
    showTask(dash, 1, { held_back: until, starts: 'queued', transport: 'acp', auth: 'gateway' });
    const text = readScreen(dash.keys('enter'));
    assert.match(text, /runs +over acp · through the gateway · guard lite/);
    assert.match(text, new RegExp(`suspended claude until ${clockAt(5)}: auth_failed: token expired`));
    assert.match(armedQuestion(dash.keys('esc', 'r')), /but it is suspended until/);
  });
});

describe('the pane at every size', () => {
  it('every size is filled exactly with running and paused workers, and suspended agents', () => {
    for (const [columns, rows] of [
      [40, 10],
      [60, 15],
      [80, 24],
      [120, 34],
      [240, 67],
    ] as const) {
      const sessions = [runningRow(1), pausedRow(2), failedRow(3)];
      const dash = bench(columns, rows).data({ sessions, held: [heldRow('claude')] });
      for (const keys of [[], ['j'], ['enter'], ['esc', 'v', 'enter'], ['esc', 'k', 'R'], ['esc', 'H']]) {
        const lines = screenOf(dash.keys(...keys).state());
        assert.equal(lines.length, rows, `${columns}x${rows} ${keys}`);
        for (const line of lines) assert.ok(stringWidth(line) <= columns, line);
      }
    }
  });
});

describe('events of workers', () => {
  const event = (seq: number, kind: EventRow['kind'], data: object): EventRow => ({
    seq,
    at: minutesLater(0),
    kind,
    task_id: null,
    decision_id: null,
    session_id: null,
    actor: null,
    via: null,
    data: data as EventRow['data'],
  });
  const events = [
    event(1, 'session_paused', {
      reason: 'claude ended with usage_limit',
      title: 'T',
      resume_at: minutesLater(40),
    }),
    event(2, 'session_resumed', { title: 'T', agent: 'claude' }),
    event(3, 'circuit_reset', { agent: 'claude' }),
  ];

  it('an event reads well in Events', () => {
    const text = readScreen(bench(120, 33).keys('3').data({ events }));
    assert.match(
      text,
      new RegExp(`session paused .*claude ended with usage_limit · it resumes ${clockAt(40)} · T`),
    );
    assert.match(text, /session resumed +claude +T/);
    assert.match(text, /circuit reset +claude +claude takes work again/);
  });

  it('an event is printed once as a line, and not whenever its worker acts', () => {
    const dash = openWorkers(runningRow(1)).data({ events: events.slice(0, 1) });
    const before = dash.state();
    dash.data({ sessions: [runningRow(1, { activity: 'run npm test', tool_calls: 13 })] });
    assert.deepEqual(describeChanges(before, dash.state()), []);
    const told = describeChanges(before, dash.data({ events }).state()).join('\n');
    assert.match(told, /circuit reset claude: claude takes work again/);
    const opened = describeChanges(before, dash.keys('enter').state()).join('\n');
    assert.match(opened, /\[x\] read the code\n\[>\] fix it|\[x\] find the race\n\[>\] fix it/);
    assert.doesNotMatch(opened, /[▣▷☐─]/);
  });
});

describe('work to review', () => {
  const notes = (...sessions: ShownSession[]): string =>
    screenOf(bench().data({ sessions, complete: true }).state()).join('\n');

  it('work to review has commits on an existing, unmerged branch', () => {
    assert.match(notes(sessionRow(1), sessionRow(2)), /svc · acme · 2 to review/);
    assert.doesNotMatch(notes(sessionRow(1, { branch_state: 'merged' })), /to review/);
    assert.doesNotMatch(notes(sessionRow(1, { branch_state: 'gone' })), /to review/);
    assert.doesNotMatch(notes(sessionRow(1, { promoted_at: minutesLater(-1) })), /to review/);
    const over = [sessionRow(1, { branch_state: 'merged' }), sessionRow(2, { branch_state: 'gone' })];
    const dash = bench().data({ sessions: over, complete: true }).keys('.');
    assert.equal(dash.state().message?.text, 'nothing waits for you');
  });

  it('unreadable work needs review too, until its branch is gone', () => {
    const unread = { commits: null, cwd: '/repository/.svc/worktrees/s-1' };
    assert.match(notes(sessionRow(1, unread)), /svc · acme · 1 to review/);
    const dash = bench()
      .data({ sessions: [sessionRow(1, unread)], complete: true })
      .keys('.');
    assert.equal(dash.state().lists.work.selected, 't-1');
    for (const over of [
      { branch_state: 'gone' },
      { cwd: null },
      { commits: 0 },
      { repository: null },
    ] as const)
      assert.doesNotMatch(notes(sessionRow(1, { ...unread, ...over })), /to review/);
  });

  it('a run that could not start was not merged, with any state of its branch', () => {
    const failure = { code: 'tool_missing', text: 'claude is not installed' };
    const started = sessionRow(1, { failure, commits: 0, promoted_at: minutesLater(-1) });
    assert.match(notes(started), /▶t-1 .*failed /);
    assert.match(notes(sessionRow(1, { promoted_at: minutesLater(-1) })), /▶t-1 .*merged /);
    assert.match(notes(sessionRow(1, { branch_state: 'merged' })), /▶t-1 .*merged /);
  });
});

describe("the screen's facts about a branch", () => {
  it('a fact has its time, and is dropped when a branch of its repository has moved', () => {
    const dash = showWork(
      bench(80, 24)
        .data({ sessions: [sessionRow(1)], complete: true })
        .keys('esc'),
      1,
    );
    const text = (): string => screenOf(dash.state()).join('\n');
    assert.match(text(), /no conflicts, tried \d\d:\d\d:\d\d/);
    dash.send({ type: 'refs', repository: '/another' });
    assert.match(text(), /no conflicts/);
    dash.send({ type: 'refs', repository: '/repository' });
    assert.match(text(), /checking the branch/);
    assert.doesNotMatch(text(), /no conflicts/);
    assert.deepEqual(dash.keys('p').state().armed?.answers, []);
  });
});
