import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import stringWidth from 'string-width';
import { KEYMAP } from '../../tui/keymap/index.ts';
import { Screen } from '../../tui/screen.tsx';
import type { State } from '../../tui/state/model.ts';
import {
  askRow,
  type Bench,
  bench,
  decisionRow,
  engineStatus,
  lockRow,
  messageRow,
  peerRow,
  sessionRow,
  showDecision,
  showEvidence,
  showTask,
  showWork,
  taskRow,
  usageDay,
  usageSum,
} from '../support/terminals/dashboard.ts';
import { renderAt, screenOf } from '../support/terminals/render.tsx';

const SIZES = [
  [40, 10],
  [59, 15],
  [60, 14],
  [60, 15],
  [80, 24],
  [119, 40],
  [120, 34],
  [140, 40],
  [240, 67],
] as const;

function openBoard(columns: number, rows: number): Bench {
  const dash = bench(columns, rows).data({
    decisions: [decisionRow(1), decisionRow(2)],
    tasks: [
      taskRow(1, { waits: true, decision_id: 'd-1' }),
      taskRow(2, { waits: true, decision_id: 'd-2' }),
      taskRow(3, { status: 'failed', failure: { code: 'exit', text: 'exit code 3' } }),
      taskRow(4, { status: 'done', session_id: 's-4' }),
      taskRow(5, { status: 'running', session_id: 's-5' }),
    ],
    sessions: [sessionRow(4), sessionRow(5, { state: 'running', ended_at: null })],
    deliveries: [],
    asks: [
      askRow(31, {
        from_session: 's-5',
        task_id: 't-5',
        context: 'Two files add the same column.\n'.repeat(30),
      }),
      askRow(32, { options: [], from_session: 's-9', task_id: null }),
      askRow(30, { status: 'answered', answer: 'yes', answered_by: 'chair-1' }),
    ],
    messages: [messageRow(1), messageRow(2, { kind: 'alert', parent_id: 1 })],
    unread: { unread: 2, alerts: 1 },
    peers: [peerRow('s-2')],
    locks: [lockRow('engine/a.ts')],
    usage: usageDay(),
    complete: true,
  });
  return showDecision(dash, 1);
}

/** Selects a row, and waits until keys act on it. */
const select = (dash: Bench, id: string): Bench => dash.send({ type: 'go', pane: 'work', id }).wait(300);

const WIDE = '日本語のタイトル 👩‍👩‍👧‍👦 e\u0301 ﷽ 🏳️‍🌈 ok';
const HOSTILE =
  'red \u001b[31mRED\u001b[0m \u001b]0;title\u0007 \u001b[2J\u001b[H \u009b31m \u202egnp.exe\u202c \b\b\b\r\n\tend';

describe('the whole screen', () => {
  for (const [columns, rows] of SIZES) {
    it(`the screen fills ${columns}x${rows} exactly, in every pane, in every view`, () => {
      for (const key of ['1', '2', '3', '4', '5', '6', '7', '8']) {
        // Overlays do not depend on the pane, so each is shown over one.
        const overlays = {
          1: [
            ['?'],
            [':', 'r'],
            ['/', 'x'],
            ['i'],
            ['j', 'enter', 'o', 'k'],
            ['tab', 'j'],
            ['G', 'tab'],
            ['G', 'v'],
            ['G', 't'],
          ],
          2: [['w'], ['L'], ['L', 'enter'], ['L', 'x'], ['n'], ['r']],
        };
        for (const more of [[], ['enter'], ...(overlays[key as unknown as 1] ?? [])]) {
          const lines = screenOf(
            openBoard(columns, rows)
              .keys(key, ...more)
              .state(),
          );
          assert.equal(lines.length, rows, `${key} ${more}`);
          for (const line of lines) assert.ok(stringWidth(line) <= columns, `${key} ${more}: ${line}`);
        }
      }
    });
  }

  it('the screen names the size it needs when there is no room', () => {
    assert.match(screenOf(openBoard(39, 9).state()).join(' '), /svc needs 40x10, this is 39x9\. q quits/);
  });

  it('the screen shows the plan, the reason for the decision and the prompt', () => {
    const text = screenOf(select(openBoard(80, 26), 't-1').state()).join('\n');
    for (const part of [
      'svc · acme · 2 asks (4m) · 2 to decide',
      'engine ok',
      '[1 Work 6]',
      'needs you 6  ',
      '▶t-1',
      'will run claude',
      'new worktree svc/… from main · timeout 60m',
      'needs approval the request did not carry one',
      'sha 1111111111111111…',
      '│ Prompt of task 1',
      'a approve',
      '? help',
      'q quit',
    ]) {
      assert.ok(text.includes(part), `${part} is not in\n${text}`);
    }
  });

  it("the screen shows the project's setup for the worktree, and if it was agreed to", () => {
    const carries = {
      id: 'api',
      folder: '/repository/api',
      own: false,
      setup: ['npm ci'],
      teardown: ['./stop'],
      env_files: ['.env'],
      run: [{ name: 'dev', command: 'npm run dev' }],
      consent: 'none' as const,
      folder_waits: false,
      digest: '',
      problem: null,
    };
    const text = screenOf(showDecision(select(openBoard(80, 40), 't-1'), 1, { carries }).state()).join('\n');
    for (const part of [/setup +npm ci/, /teardown +\.\/stop/, /copies +\.env/, /consent +not given/])
      assert.match(text, part);
  });

  it('an opened question shows its text and the keys that answer', () => {
    const text = screenOf(openBoard(80, 24).keys('enter', 'pagedown', 'pagedown', 'pagedown').state()).join(
      '\n',
    );
    for (const part of [
      '2 asks (4m)',
      'Answer ask 31',
      '4m left',
      '2  keep the second',
      '1-3 sends that answer',
    ])
      assert.ok(text.includes(part), `${part} is not in\n${text}`);
  });

  it('a question is answered in place of its preview, next to its list, where there is room', () => {
    for (const [columns, rows] of [
      [80, 26],
      [200, 50],
    ] as const) {
      const dash = openBoard(columns, rows).data({
        asks: [askRow(31, { from_session: 's-5', task_id: 't-5' })],
      });
      const text = screenOf(dash.wait(300).keys('enter').state()).join('\n');
      assert.match(text, /─ 1 Work ─/);
      assert.match(text, /╔═ Answer ask 31 ═/);
      assert.match(text, /3 {2}merge both/);
    }
    assert.doesNotMatch(screenOf(openBoard(80, 15).keys('enter').state()).join('\n'), /─ 1 Work ─/);
  });

  it('at most one frame has the double border, which marks the keyboard focus', () => {
    for (const [columns, rows] of [
      [60, 15],
      [80, 24],
      [140, 40],
    ] as const) {
      for (const keys of [
        ['1'],
        ['2'],
        ['2', 'a'],
        ['3'],
        ['3', 'enter'],
        ['4'],
        ['4', 'enter'],
        ['5', 'L'],
        ['i'],
        ['?'],
      ]) {
        const text = screenOf(
          showWork(openBoard(columns, rows), 1)
            .keys(...keys)
            .state(),
        ).join('\n');
        assert.ok(text.split('╔').length <= 2, `${keys}\n${text}`);
      }
    }
    const dash = showEvidence(showWork(select(openBoard(80, 30), 't-4'), 4), 4).keys('p');
    assert.match(screenOf(dash.state()).join('\n'), /─ 1 Work ─[^╔]*╔═ Promote t-4 s-4 ═/);
  });

  it('the engine pane has a line for each fact, the warnings among them', () => {
    const dash = openBoard(80, 24).data({ status: engineStatus({ warnings: ['the secret is not set'] }) });
    const text = screenOf(dash.keys('i').state()).join('\n');
    for (const part of [
      /engine +pid 4242/,
      /receiver +off/,
      /svc\.yaml +in use/,
      /warning +the secret is not set/,
    ])
      assert.match(text, part);
  });

  it('text in a box scrolls to its end and no further', () => {
    const warnings = Array.from({ length: 30 }, (_, index) => `warning number ${index}`);
    const dash = openBoard(80, 24)
      .data({ status: engineStatus({ warnings }) })
      .keys('i');
    assert.match(screenOf(dash.state()).join('\n'), /▼ \d+ more/);
    dash.keys(...Array.from({ length: 60 }, () => 'j'));
    const end = screenOf(dash.state());
    assert.match(end.join('\n'), /warning number 29/);
    assert.notDeepEqual(screenOf(dash.keys('k').state()), end);
  });

  it('the most urgent row is named where there is little room', () => {
    const text = screenOf(openBoard(40, 10).state()).join('\n');
    assert.match(text, /2 asks \(5m\)/);
    assert.match(
      screenOf(openBoard(40, 10).keys('2').state()).join('\n'),
      /\. waits: ask 31 s-5 claude, 4m left/,
    );
    assert.match(text, /Work: 1 of 6/);
  });

  it('the bottom line asks, with the keys that answer', () => {
    const dash = select(openBoard(80, 24), 't-1').keys('a');
    assert.equal(
      screenOf(dash.state()).at(-1)?.trim(),
      'Approve d-1 and start claude on t-1?   y approve   Esc cancel',
    );
    // A question that does not fit takes more lines, and its answers stay complete.
    const small = screenOf(select(openBoard(40, 10), 't-1').keys('a', 'a').state());
    assert.equal(small.at(-1)?.trim(), 'y approve   Esc cancel');
    assert.match(small.slice(-3, -1).join(' '), /Approve d-1/);
  });

  it('the screen shows a patch with its trial', () => {
    const dash = select(openBoard(80, 24), 't-4');
    const text = screenOf(showWork(dash, 4).keys('enter').state()).join('\n');
    for (const part of [
      'svc/s-4 → main',
      '1 commit · 1 file · +2 -1',
      'no conflicts',
      'hello.txt',
      '+world',
      '-old',
    ]) {
      assert.ok(text.includes(part), `${part} is not in\n${text}`);
    }
  });

  it('the screen keeps the last state under a dated banner while the engine is away', () => {
    const since = Date.parse('2026-03-01T12:00:00Z');
    const dash = openBoard(80, 24).send({ type: 'link', link: { phase: 'lost', reason: 'gone', since } });
    const lines = screenOf(dash.state());
    assert.match(lines[0] ?? '', /engine gone/);
    assert.match(lines[2] ?? '', /ENGINE GONE since \d\d-\d\d \d\d:\d\d:\d\d .*u starts it/);
    assert.equal(lines.length, 24);
    assert.ok(lines.join('\n').includes('▶t-5'));
  });

  it('no title, prompt or notice controls the terminal', () => {
    const dash = bench(80, 24).data({
      decisions: [decisionRow(1, { title: HOSTILE, why: HOSTILE, source_ref: HOSTILE, source: 'chat' })],
      tasks: [
        taskRow(1, {
          title: HOSTILE,
          failure: { code: 'x', text: HOSTILE },
          status: 'failed',
          summary: HOSTILE,
        }),
      ],
      sessions: [sessionRow(1, { title: HOSTILE, failure: { code: 'x', text: HOSTILE } })],
      asks: [askRow(1, { question: HOSTILE, context: HOSTILE, options: [HOSTILE], from_session: HOSTILE })],
      messages: [
        messageRow(1, { body: HOSTILE, from_session: HOSTILE, last_error: HOSTILE, payload_path: HOSTILE }),
      ],
      usage: usageDay({
        groups: {
          session: [usageSum('s-1', { label: HOSTILE })],
          model: [usageSum(HOSTILE)],
          provider: [],
          task: [],
        },
      }),
      notices: [{ id: 'n-1', session: HOSTILE, at: '2026-03-01T12:00:00Z', text: HOSTILE }],
      complete: true,
    });
    showDecision(dash, 1);
    dash.send({ type: 'message', text: HOSTILE, tone: 'bad' });
    for (const key of ['1', '2', '3', '4', '5', '6', '7']) {
      for (const view of [[], ['enter']]) {
        const lines = screenOf(dash.keys('esc', 'esc', key, ...view).state());
        const text = lines.join('\n');
        assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/, key);
        assert.equal(lines.length, 24);
      }
    }
  });

  it('the screen counts cells, not characters, for wide letters, emoji and marks', () => {
    for (const [columns, rows] of SIZES) {
      const dash = bench(columns, rows).data({
        decisions: [1, 2, 3].map((id) => decisionRow(id, { title: WIDE.repeat(id) })),
        complete: true,
      });
      for (const line of screenOf(showDecision(dash, 1).state())) {
        assert.ok(stringWidth(line) <= columns, line);
      }
    }
  });

  it('a pane that cannot be drawn says so, and the others continue', () => {
    const dash = openBoard(140, 40);
    const broken = { ...taskRow(9), agent: {} } as never;
    const text = screenOf(dash.data({ tasks: [broken] }).state()).join('\n');
    assert.match(text, /This pane could not be drawn/);
    assert.match(text, /─ ask 31 ─/);
    assert.match(text, /q quit/);
  });

  it('the screen claims nothing before it is known', () => {
    for (const [columns, rows] of SIZES) {
      const dash = bench(columns, rows).send({ type: 'link', link: { phase: 'connecting' } });
      for (const key of ['1', '2', '3', '4', '5', '6', '7', '8']) {
        const text = screenOf(dash.keys(key).state()).join('\n');
        assert.doesNotMatch(text, /Nothing|No |Nobody|receiver off|[a-z] 0\b|\b0 [a-z]/, `${key}\n${text}`);
        assert.match(text, /Connecting to the engine/);
      }
      assert.doesNotMatch(dash.keys('.').state().message?.text ?? '', /nothing waits/);
    }
    // Connected, but the rows that load second have not arrived.
    const early = bench(80, 24).data({ complete: true }).keys('2');
    assert.match(screenOf(early.state()).join('\n'), /Still being fetched/);
  });

  it('the screen says what would fill an empty list', () => {
    const text = screenOf(bench(80, 24).data({ complete: true }).state()).join('\n');
    assert.match(text, /Nothing waits for you\./);
    assert.match(text, /svc webhook test/);
  });

  it('the screen has no colour where colours are off, and a glyph next to every colour', () => {
    const state: State = openBoard(80, 24).state();
    const plain = renderAt(<Screen state={state} colours={false} />, 80, 24).join('\n');
    assert.ok(!plain.includes('\u001b'));
    assert.match(plain, /▶t-5 +asks 5m/);
    const coloured = renderAt(<Screen state={state} colours={true} />, 80, 24).join('\n');
    assert.ok(coloured.includes('\u001b[7m'), 'the selected row is inverse');
  });

  it('help lists every key of the keymap', () => {
    const dash = openBoard(140, 120).keys('?');
    const text = screenOf(dash.state()).join('\n');
    for (const { about } of KEYMAP) assert.ok(text.includes(about), about);
  });

  it('a failure stays readable with its next step', () => {
    const dash = showTask(openBoard(80, 24), 1);
    dash.send({
      type: 'refused',
      busy: 't-1',
      text: 'the branch main has moved; nothing was changed',
      hint: 'promote again',
    });
    dash.wait(3_600_000);
    assert.match(
      screenOf(dash.state()).join('\n'),
      /✗ the branch main has moved; nothing was changed · next: promote again/,
    );
  });
});
