import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { getDisabledReason, isBindingHere, KEYMAP } from '../../../tui/keymap/index.ts';
import { PANE_IDS } from '../../../tui/pane-ids.ts';
import { DEFAULT_PREFERENCES } from '../../../tui/preferences/preferences.ts';
import { reduceState } from '../../../tui/reducer.ts';
import type { WorkKind } from '../../../tui/state/work-items.ts';
import {
  askRow,
  type Bench,
  bench,
  decisionRow,
  lockRow,
  messageRow,
  peerRow,
  runnerRow,
  sessionRow,
  showDecision,
  showEvidence,
  showTask,
  showWork,
  taskRow,
  trial,
} from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const openWaitingDecisions = (): Bench =>
  showDecision(
    bench().data({ decisions: [decisionRow(1), decisionRow(2)], tasks: [taskRow(1), taskRow(2)] }),
    1,
  );

describe('approving takes two keys, and binds what was shown', () => {
  it('a asks, y approves with the hash', () => {
    const dash = openWaitingDecisions().keys('a');
    assert.match(dash.state().armed?.question ?? '', /Approve d-1 and start claude on t-1\?/);
    assert.deepEqual(dash.calls(), []);
    dash.keys('y');
    assert.deepEqual(dash.calls(), [
      { operation: 'decision.approve', input: { id: 'd-1', hash: decisionRow(1).hash } },
    ]);
  });

  it("an untrusted author's task without a sandbox takes a third, typed confirmation: its id", () => {
    const stranger = { stranger: "the issue's author codehost:eve is not an owner, member or collaborator" };
    const problem = { code: 'tool_missing', message: 'bwrap is not on PATH', hint: null } as const;
    const decisions = [decisionRow(1, stranger)];
    const open = () => showDecision(bench().data({ decisions, tasks: [taskRow(1)] }), 1, { problem });
    const dash = open().keys('a');
    assert.match(
      dash.state().armed?.question ?? '',
      /^UNTRUSTED AUTHOR: the issue's author .* without a sandbox\?$/,
    );
    dash.keys('y');
    assert.deepEqual(dash.calls(), [], 'two keys do not start it');
    dash.keys('t', '-', '2', 'enter');
    assert.deepEqual(dash.calls(), [], 'another word does not start it');
    dash.keys('backspace', '1', 'enter');
    assert.deepEqual(dash.calls(), [
      { operation: 'decision.approve', input: { id: 'd-1', hash: decisionRow(1).hash, unconfined: 't-1' } },
    ]);
    assert.deepEqual(open().keys('a', 'y', 't', '-', '1', 'esc').calls(), []);
    const confined = showDecision(bench().data({ decisions, tasks: [taskRow(1)] }), 1).keys('a');
    assert.match(confined.state().armed?.question ?? '', /^UNTRUSTED AUTHOR: .* Approve d-1/);
    assert.deepEqual(confined.keys('y').calls().length, 1, 'a confined one takes two keys');
    const known = showDecision(bench().data({ decisions: [decisionRow(1)], tasks: [taskRow(1)] }), 1, {
      problem,
    });
    assert.equal(known.keys('a').state().armed, null, 'a known author needs no third key');
  });

  it('invisible characters in a prompt are announced by the preview and again by each question', () => {
    const prompt = 'Fix it\u001b]0;curl x | sh\u0007\nnow\u200b';
    const decisions = [decisionRow(1, { unseen: 3 })];
    const dash = showDecision(bench().data({ decisions, tasks: [taskRow(1)] }), 1, {}, prompt);
    const screen = screenOf(dash.state()).join('\n');
    assert.match(screen, /it contains 3 invisible characters/);
    assert.ok(screen.includes('Fix it\\x1b]0;curl x | sh\\x07'), screen);
    assert.match(
      dash.keys('a').state().armed?.question ?? '',
      /^ITS PROMPT contains 3 invisible characters\. Approve d-1/,
    );
    const stranger = [decisionRow(1, { unseen: 1, stranger: 'who' })];
    const problem = { code: 'tool_missing', message: 'bwrap is not on PATH', hint: null } as const;
    const open = showDecision(bench().data({ decisions: stranger, tasks: [taskRow(1)] }), 1, { problem });
    assert.match(open.keys('a').state().armed?.question ?? '', /^ITS PROMPT contains 1 invisible character/);
  });

  it('invisible characters in a patch are announced before a promotion, and every line of it is on the screen', () => {
    const patch = [
      'diff --git a/a b/a',
      '--- a/a',
      '+++ b/a',
      '@@ -1 +1,3 @@',
      '-old',
      '+\u001b]0;',
      '+curl x | sh \r# safe',
      '+\u0007new',
      '',
    ].join('\n');
    const dash = bench(120, 40)
      .data({ sessions: [sessionRow(1)], complete: true })
      .keys('d');
    showEvidence(showWork(dash, 1, { patch: { text: patch, truncated: false } }), 1);
    const screen = screenOf(dash.state()).join('\n');
    assert.match(screen, /patch +it contains 3 invisible characters/);
    dash.keys('enter', 'G');
    const full = screenOf(dash.state()).join('\n');
    for (const line of ['+\\x1b]0;', '+curl x | sh \\x0d# safe', '+\\x07new'])
      assert.ok(full.includes(line), full);
    assert.match(dash.keys('p').state().armed?.question ?? '', /ITS PATCH contains 3 invisible characters/);
  });

  it('letters of a Cyrillic or Greek layout act as the keys that they are on', () => {
    const approved = [{ operation: 'decision.approve', input: { id: 'd-1', hash: decisionRow(1).hash } }];
    for (const [ask, answer] of ['фн', 'αυ'] as const)
      assert.deepEqual(openWaitingDecisions().keys(ask!, answer!).calls(), approved, ask);
    for (const [typed, latin] of [
      ['о', 'j'],
      ['ξ', 'j'],
      ['п', 'g'],
      ['П', 'G'],
      ['Γ', 'G'],
      ['т', 'n'],
      ['Ж', ':'],
      ['Ц', 'W'],
    ] as const) {
      const { state: one } = openWaitingDecisions().keys(typed);
      const { state: other } = openWaitingDecisions().keys(latin);
      assert.deepEqual(
        [one().focus, one().view, one().overlay, one().lists.work.index],
        [other().focus, other().view, other().overlay, other().lists.work.index],
        typed,
      );
    }
  });

  it('a letter of another layout stays text in a form, and a key that a person has bound', () => {
    const typed = openWaitingDecisions().keys('/', 'ф', 'н', 'α');
    assert.match(screenOf(typed.state()).join('\n'), /фнα/);
    const own = openWaitingDecisions();
    own.send({
      type: 'replace',
      change: (state) => ({
        ...state,
        preferences: { ...DEFAULT_PREFERENCES, keys: { help: ['ф'] } },
      }),
    });
    assert.equal(own.keys('ф').state().overlay?.kind, 'help');
    assert.deepEqual(own.calls(), []);
  });

  it('a letter that is on no Latin key is answered with a line that says so', () => {
    for (const key of ['ש', 'あ', 'é'])
      assert.match(
        openWaitingDecisions().keys(key).state().message?.text ?? '',
        /^keys are Latin letters/,
        key,
      );
    assert.equal(openWaitingDecisions().state().message, null);
  });

  it('every other key leaves the decision pending', () => {
    for (const key of ['a', 'n', 'enter', 'esc', 'j', 'Y', 'q', 'space', '1', 'd']) {
      const dash = openWaitingDecisions().keys('a', key);
      assert.equal(dash.state().armed, null, key);
      assert.deepEqual(dash.calls(), [], key);
    }
  });

  it('a is refused until the plan was loaded, and says so', () => {
    const dash = bench()
      .data({ decisions: [decisionRow(1)] })
      .keys('a', 'y');
    assert.deepEqual(dash.calls(), []);
    assert.match(dash.keys('a').state().message?.text ?? '', /still being fetched/);
  });

  it('a decision that could not start says why', () => {
    const problem = { code: 'not_a_repository', message: 'no repository here', hint: null } as const;
    const dash = showDecision(bench().data({ decisions: [decisionRow(1)] }), 1, { problem });
    assert.match(dash.keys('a').state().message?.text ?? '', /could not start: no repository here/);
    assert.equal(dash.state().armed, null);
  });

  it('a second key faster than a hand is ignored, and the question stays', () => {
    const dash = openWaitingDecisions();
    const at = dash.state().now + 1000;
    dash.send({ type: 'keys', keys: ['a'], at });
    for (let ms = 5; ms <= 100; ms += 5) dash.send({ type: 'keys', keys: ['y'], at: at + ms });
    assert.deepEqual(dash.calls(), []);
    dash.send({ type: 'keys', keys: ['y'], at: at + 200 });
    assert.equal(dash.calls().length, 1);
  });

  it('keys of one burst never act, they only move', () => {
    const dash = openWaitingDecisions().burst('a', 'y').burst('j', 'a', 'y').burst('a', 'enter');
    assert.deepEqual(dash.calls(), []);
    assert.equal(dash.state().armed, null);
    assert.equal(dash.state().lists.work.selected, 't-2');
  });

  it('a burst while armed disarms', () => {
    const dash = openWaitingDecisions().keys('a').burst('y', 'y');
    assert.deepEqual(dash.calls(), []);
    assert.equal(dash.state().armed, null);
  });

  it('a message that a key left is gone after eight seconds, and a failure stays until it is dismissed', () => {
    const dash = openWaitingDecisions().keys('a', 'y');
    const refuse = (text: string): Bench => dash.send({ type: 'message', text, tone: 'bad' });
    dash.send({ type: 'message', text: 'the note is sent', tone: 'good' });
    const shown = (text: string): boolean => screenOf(dash.state()).some((line) => line.includes(text));
    assert.ok(shown('✓ the note is sent'));
    dash.wait(7900);
    assert.ok(shown('✓ the note is sent'));
    dash.wait(200);
    assert.ok(!shown('the note is sent'));
    refuse('the engine said no').wait(60_000);
    assert.ok(shown('✗ the engine said no'));
    dash.keys('esc');
    assert.ok(!shown('the engine said no'));
  });

  it('pasted text does nothing, and disarms', () => {
    const dash = openWaitingDecisions().keys('a').send({ type: 'paste', text: 'y' }).keys('y');
    assert.deepEqual(dash.calls(), []);
    assert.match(dash.state().message?.text ?? '', /pasted text/);
  });

  it('an arrival while armed changes counts and nothing else', () => {
    const dash = openWaitingDecisions()
      .keys('a')
      .data({ decisions: [decisionRow(3)] });
    assert.equal(dash.state().armed?.subject.id, 'd-1');
    assert.equal(dash.state().lists.work.ids.length, 3);
    dash.keys('y');
    assert.deepEqual(
      dash.calls().map((each) => (each.input as { id: string }).id),
      ['d-1'],
    );
  });

  it('the same id with another hash while armed withdraws the question', () => {
    const dash = openWaitingDecisions()
      .keys('a')
      .data({ decisions: [decisionRow(1, { hash: 'e'.repeat(64) })] });
    assert.equal(dash.state().armed, null);
    assert.match(dash.state().message?.text ?? '', /d-1 has changed/);
    dash.keys('y');
    assert.deepEqual(dash.calls(), []);
    // A late answer does not count as another key, and the reason stays readable.
    dash.keys('j', 'a');
    assert.equal(dash.state().armed, null);
    assert.equal(dash.state().lists.work.selected, 't-1');
    assert.match(dash.state().message?.text ?? '', /d-1 has changed/);
    assert.equal(dash.wait(600).keys('j').state().lists.work.selected, 't-2');
  });

  it('a decision that someone else has decided while armed withdraws the question', () => {
    const dash = openWaitingDecisions()
      .keys('a')
      .data({ decisions: [decisionRow(1, { state: 'approved' })] })
      .keys('y');
    assert.deepEqual(dash.calls(), []);
    assert.equal(dash.state().lists.work.selected, 't-2');
  });

  it('just after the program moved the selection, keys that act are ignored', () => {
    const dash = openWaitingDecisions().data({ decisions: [decisionRow(1, { state: 'denied' })] });
    showDecision(dash, 2);
    const at = dash.state().now;
    dash.send({ type: 'keys', keys: ['a'], at: at + 100 });
    assert.equal(dash.state().armed, null);
    assert.match(dash.state().message?.text ?? '', /has just moved/);
    dash.send({ type: 'keys', keys: ['a'], at: at + 400 });
    assert.equal(dash.state().armed?.subject.id, 'd-2');
  });

  it('a second answer is not sent while one is in progress', () => {
    const dash = openWaitingDecisions().keys('a', 'y', 'a', 'y');
    assert.equal(dash.calls().length, 1);
  });
});

describe('denying a decision', () => {
  it('d y denies immediately, d r asks for a reason', () => {
    assert.deepEqual(openWaitingDecisions().keys('d', 'y').calls(), [
      { operation: 'decision.deny', input: { id: 'd-1', reason: 'denied in the dashboard' } },
    ]);
    const dash = openWaitingDecisions().keys('d', 'r').keys('n', 'o', 'space', 'y').keys('enter');
    assert.deepEqual(dash.calls(), [{ operation: 'decision.deny', input: { id: 'd-1', reason: 'no y' } }]);
  });

  it('an empty reason keeps waiting, and the typed text never becomes keys', () => {
    const dash = openWaitingDecisions().keys('d', 'r', 'enter', 'a', 'y', 'esc');
    assert.deepEqual(dash.calls(), []);
    assert.equal(dash.state().overlay, null);
  });

  it('a reason for a decision that has changed is not sent', () => {
    const dash = openWaitingDecisions()
      .keys('d', 'r', 'n')
      .data({ decisions: [decisionRow(1, { hash: 'e'.repeat(64) })] })
      .keys('enter');
    assert.deepEqual(dash.calls(), []);
  });
});

describe('editing the prompt', () => {
  const edited = (text: string): Bench => {
    const dash = openWaitingDecisions().keys('e');
    const effect = dash.effects().find((each) => each.do === 'edit')!;
    assert.equal(effect.do === 'edit' && effect.text, 'Prompt of task 1');
    return dash.send({ type: 'edited', effect: effect as never, text });
  };

  it('another text creates another decision', () => {
    assert.deepEqual(edited('Something else\n').calls(), [
      {
        operation: 'decision.edit',
        input: { id: 'd-1', hash: decisionRow(1).hash, prompt: 'Something else\n' },
      },
    ]);
  });

  it('the same text, or none, changes nothing', () => {
    assert.deepEqual(edited('Prompt of task 1\n').calls(), []);
    assert.deepEqual(edited(' \n').calls(), []);
  });
});

describe('actions on tasks', () => {
  const tasks = (more: Parameters<typeof taskRow>[1] = {}): Bench =>
    bench().data({ tasks: [taskRow(1, more)] });

  it('r shows the cost, y runs exactly that', () => {
    const dash = showTask(tasks(), 1).keys('r');
    assert.match(
      dash.state().armed?.question ?? '',
      /Run t-1 with claude\? It spends claude's tokens, up to 60m/,
    );
    assert.deepEqual(dash.keys('y').calls(), [
      { operation: 'task.run', input: { id: 't-1', hash: 'f'.repeat(64) } },
    ]);
  });

  it('r on a failed task runs it again', () => {
    const dash = showTask(tasks({ status: 'failed', session_id: 's-1' }), 1).keys('r', 'y');
    assert.deepEqual(dash.calls(), [{ operation: 'task.retry', input: { id: 't-1', hash: 'f'.repeat(64) } }]);
  });

  it('a task that its ledger holds is started with a separate key', () => {
    const problem = { code: 'ledger_gate', message: '2 items of LEDGER.md are open', hint: null } as const;
    const dash = showTask(tasks(), 1, { problem }).keys('r');
    assert.match(dash.state().armed?.question ?? '', /HELD BY ITS LEDGER: 2 items of LEDGER.md are open/);
    assert.deepEqual(dash.keys('y', 'r').calls(), []);
    assert.deepEqual(dash.keys('f').calls(), [
      { operation: 'task.run', input: { id: 't-1', hash: 'f'.repeat(64), force: true } },
    ]);
  });

  it('a task that changed while armed is not run', () => {
    const dash = showTask(tasks(), 1)
      .keys('r')
      .data({ tasks: [taskRow(1, { agent: 'codex' })] })
      .keys('y');
    assert.deepEqual(dash.calls(), []);
  });

  it('an impossible action gives the reason', () => {
    const running = showTask(tasks({ status: 'running', session_id: 's-1' }), 1);
    assert.match(running.keys('r').state().message?.text ?? '', /t-1 is running already/);
    const done = showTask(tasks({ status: 'done' }), 1);
    assert.match(done.keys('x').state().message?.text ?? '', /has ended \(done\)/);
  });

  it('x y cancels, D y marks done, D f marks failed', () => {
    assert.deepEqual(tasks().keys('x', 'y').calls(), [{ operation: 'task.cancel', input: { id: 't-1' } }]);
    assert.deepEqual(tasks().keys('D', 'y').calls(), [
      { operation: 'task.done', input: { id: 't-1', status: 'done' } },
    ]);
    assert.deepEqual(tasks().keys('D', 'f').calls(), [
      { operation: 'task.done', input: { id: 't-1', status: 'failed' } },
    ]);
  });

  const choices = {
    agents: ['claude', 'codex'].map((id) => ({
      id,
      command: `${id} -p {{prompt}}`,
      installed: id === 'codex',
    })),
    default_agent: 'codex',
    templates: [{ id: 'fix', agent: 'claude', project: null }],
    projects: [
      { id: 'acme', folder: '/repository', own: true },
      { id: 'docs', folder: '/docs', own: false },
    ],
  };

  /** Answers the last opened editor with `text`. */
  const edited = (dash: Bench, text: string): Bench => {
    const effect = dash.effects().findLast((each) => each.do === 'edit')!;
    return dash.send({ type: 'edited', effect: effect as never, text });
  };

  it('A assigns the task to the chosen agent', () => {
    const dash = tasks().data({ choices }).keys('A', 'j', 'enter');
    assert.deepEqual(dash.calls(), [{ operation: 'task.assign', input: { id: 't-1', agent: 'codex' } }]);
  });

  const tabs = (count: number): string[] => Array<string>(count).fill('tab');

  it('the form of a new task starts on its title, takes a prompt of several lines, and Ctrl-S creates it', () => {
    const dash = tasks().data({ choices }).keys('n', 'S', 'a', 'y', 'enter');
    dash.keys('o', 'n', 'e', 'enter', 't', 'w', 'o', 'up', 'home', '>').keys(...tabs(5), 'right', 'ctrl+s');
    assert.deepEqual(dash.calls(), [
      {
        operation: 'task.add',
        input: { title: 'Say', body: '>one\ntwo', agent: 'codex', project: 'docs' },
      },
    ]);
  });

  it('Enter in the last field creates the task, and its run is asked about at once', () => {
    const dash = tasks()
      .data({ choices })
      .keys('n', 'H', 'i', 'tab', ...tabs(8), 'enter');
    const effect = dash.effects().find((each) => each.do === 'call')!;
    dash.send({ type: 'answered', effect: effect as never, answer: taskRow(2) });
    dash.data({ tasks: [taskRow(2)] });
    assert.equal(dash.state().lists.work.selected, 't-2');
    assert.match(dash.state().armed?.question ?? '', /run t-2\? reading what would run …/);
    assert.match(showTask(dash, 2).state().armed?.question ?? '', /Run t-2 with claude\?/);
    assert.equal(dash.keys('y').calls().at(-1)?.operation, 'task.run');
  });

  it('a pull request as the base is fetched first, and the task keeps its form if that fails', () => {
    const form = () =>
      tasks()
        .data({ choices })
        .keys('n', 'H', 'i', ...tabs(3))
        .burst('#', '1', '2')
        .keys('ctrl+s');
    const exit = (dash: Bench, code: number): Bench => {
      const effect = dash.effects().findLast((each) => each.do === 'command');
      assert.deepEqual(effect?.words, ['worktree', 'fetch', '12']);
      return dash.send({ type: 'exited', effect, code });
    };
    const dash = exit(form(), 0);
    assert.deepEqual(dash.calls(), [{ operation: 'task.add', input: { title: 'Hi', agent: 'codex' } }]);
    const effect = dash.effects().find((each) => each.do === 'call')!;
    dash.send({ type: 'answered', effect: effect as never, answer: taskRow(2) });
    assert.deepEqual(dash.state().bases, { 't-2': 'pr-12' });
    const failed = exit(form(), 4);
    assert.deepEqual(failed.calls(), []);
    assert.equal(failed.state().overlay?.kind, 'new-task');
    assert.match(failed.state().message?.text ?? '', /#12 was not fetched/);
  });

  it('n takes base, priority, timeout, acceptance criteria, a context and a ledger', () => {
    const dash = tasks()
      .data({ choices })
      .keys('n', 'H', 'i', ...tabs(3))
      .burst('d', 'e', 'v')
      .keys('tab', 'right', 'tab');
    dash.burst('3', '0', 'm').keys('tab', 'tab', 'ctrl+e');
    edited(dash, '- it says hello\n\n- [ ] twice\n  and no more\n').keys('tab', 'ctrl+e');
    edited(dash, 'It is a greeting.\n').keys('tab').burst('L', '.', 'm', 'd').keys('enter');
    assert.deepEqual(dash.calls(), [
      {
        operation: 'task.add',
        input: {
          title: 'Hi',
          acceptance_criteria: ['it says hello', 'twice', 'and no more'],
          context: 'It is a greeting.',
          ledger: 'L.md',
          priority: 'high',
          timeout_sec: 1800,
          agent: 'codex',
        },
      },
    ]);
    const effect = dash.effects().findLast((each) => each.do === 'call')!;
    dash
      .send({ type: 'answered', effect: effect as never, answer: taskRow(2) })
      .data({ tasks: [taskRow(2)] });
    assert.match(showTask(dash, 2).state().armed?.question ?? '', /Run t-2 with claude from dev\?/);
    assert.deepEqual(dash.keys('y').calls().at(-1)?.input, { id: 't-2', hash: 'f'.repeat(64), base: 'dev' });
  });

  it('n with a template names no agent, and a wrong timeout is explained in the form', () => {
    const dash = tasks().data({ choices }).keys('n', 'tab', 'tab', 'right', 'ctrl+s');
    assert.deepEqual(dash.calls(), [{ operation: 'task.add', input: { template: 'fix' } }]);
    const wrong = tasks()
      .data({ choices })
      .keys('n', 'H', ...tabs(5), 'x', 'ctrl+s');
    assert.match(wrong.state().message?.text ?? '', /^timeout: /);
    assert.equal(wrong.state().overlay?.kind, 'new-task');
  });

  it('typed text is kept when the form is closed, until it is opened again, and leaving asks', () => {
    const dash = tasks().data({ choices }).keys('n', 'H', 'i', 'esc');
    assert.match(dash.state().message?.text ?? '', /your text is kept: n brings it back/);
    assert.match(dash.keys('q').state().armed?.question ?? '', /Quit and lose what you wrote in 1 form/);
    assert.match(screenOf(dash.keys('esc', 'n').state()).join('\n'), /▶ title +Hi▏/);
    assert.equal(tasks().data({ choices }).keys('n', 'esc').state().draft, null);
  });

  it('the form of a new task fits every screen, with a long prompt, and shows the field that has the keyboard', () => {
    for (const [columns, rows] of [
      [40, 10],
      [60, 15],
      [80, 24],
      [200, 50],
    ] as const) {
      const dash = bench(columns, rows).data({ choices }).keys('n', 'tab');
      dash.send({ type: 'paste', text: 'a line of the prompt\n'.repeat(60) });
      for (const field of [
        'prompt',
        'who',
        'base',
        'priority',
        'timeout',
        'project',
        'criteria',
        'context',
        'ledger',
      ]) {
        const lines = screenOf(dash.state());
        assert.equal(lines.length, rows);
        assert.ok(
          lines.some((line) => line.includes(`▶ ${field}`)),
          `${field} at ${columns}x${rows}\n${lines.join('\n')}`,
        );
        dash.keys('tab');
      }
    }
  });
});

describe('actions on workers', () => {
  const ended = (more: Parameters<typeof sessionRow>[1] = {}): Bench =>
    bench().data({ sessions: [sessionRow(1, more)], tasks: [taskRow(1, { session_id: 's-1' })] });

  it('p asks, m merges, b rebases and s squashes the shown head', () => {
    const input = { session: 's-1', base: 'main', head: 'c'.repeat(40) };
    const shown = (): Bench => showEvidence(showWork(ended(), 1), 1);
    assert.deepEqual(shown().keys('p', 'm').calls(), [
      { operation: 'worktree.promote', input: { ...input, strategy: 'merge' } },
    ]);
    assert.deepEqual(shown().keys('p', 'b').calls(), [
      { operation: 'worktree.promote', input: { ...input, strategy: 'rebase' } },
    ]);
    const asked = shown().keys('p');
    assert.match(asked.state().armed?.question ?? '', /s makes one commit: "Title 1"\.$/);
    assert.deepEqual(asked.keys('s').calls(), [
      { operation: 'worktree.promote', input: { ...input, strategy: 'squash' } },
    ]);
    assert.deepEqual(shown().keys('p', 'p').calls(), []);
  });

  it('p asks at once, shows what its trial merge waits for, and takes the answer when it is over', () => {
    const dash = ended().keys('p');
    assert.match(screenOf(dash.state()).at(-1) ?? '', /promote s-1\? checking for conflicts … +Esc cancel/);
    assert.match(dash.keys('m').state().message?.text ?? '', /^not yet/);
    assert.match(showWork(dash, 1).state().armed?.question ?? '', /checking for conflicts|evidence/);
    assert.deepEqual(dash.calls(), []);
    assert.match(showEvidence(dash, 1).state().armed?.question ?? '', /Promote svc\/s-1 into main\?/);
    assert.equal(dash.keys('m').calls()[0]?.operation, 'worktree.promote');
  });

  it('any other key cancels a question that waits for the trial merge', () => {
    const dash = showWork(ended().keys('p', 'z'), 1);
    assert.equal(showEvidence(dash, 1).state().armed, null);
  });

  it('a question whose trial merge finds a conflict is withdrawn, and its second key does nothing else', () => {
    const dash = ended().keys('p');
    showWork(dash, 1, { trial: trial(1, { conflicts: ['a.txt'] }) });
    showEvidence(dash, 1);
    assert.equal(dash.state().armed, null);
    assert.match(dash.state().message?.text ?? '', /conflicts in a\.txt/);
    assert.equal(dash.keys('m').state().overlay, null);
  });

  it('the second key of a refused question does nothing else, once', () => {
    const running = ended({ state: 'running', ended_at: null, commits: null });
    assert.equal(running.keys('p', 'm').state().overlay, null);
    assert.match(running.state().message?.text ?? '', /still running/);
    assert.equal(running.keys('m').state().overlay?.kind, 'write');
    const later = ended({ state: 'running', ended_at: null, commits: null }).keys('p').wait(3000).keys('m');
    assert.equal(later.state().overlay?.kind, 'write', 'a key after a pause is meant');
  });

  it('p gives the reason for a refusal: running, conflicts, a dirty checkout, nothing to merge', () => {
    const reason = (dash: Bench): string => dash.keys('p').state().message?.text ?? '';
    assert.match(reason(ended({ state: 'running' })), /still running/);
    assert.match(reason(ended({ commits: 0 })), /no commits/);
    assert.match(
      reason(showWork(ended(), 1, { trial: trial(1, { conflicts: ['a.txt'] }) })),
      /conflicts in a.txt/,
    );
    const checkout = {
      state: 'dirty',
      path: '/repository',
      paths: ['b.txt'],
      reason: 'has changes in b.txt',
    } as const;
    const dirty = { trial: trial(1, { checkout: { ...checkout, paths: ['b.txt'] } }) };
    assert.match(reason(showWork(ended(), 1, dirty)), /has changes in b.txt/);
  });

  it('x y stops a running worker', () => {
    const dash = ended({ state: 'running', ended_at: null, commits: null }).keys('x');
    assert.match(dash.state().armed?.question ?? '', /Stop s-1 and cancel t-1\?/);
    assert.deepEqual(dash.keys('y').calls(), [{ operation: 'task.cancel', input: { id: 't-1' } }]);
  });

  it('r on a failed run runs its task again, once the plan is known', () => {
    const dash = bench().data({
      sessions: [sessionRow(1, { failure: { code: 'exit', text: 'exit code 3' } })],
      tasks: [taskRow(1, { session_id: 's-1', status: 'failed' })],
    });
    assert.match(dash.keys('r').state().armed?.question ?? '', /run t-1\? reading what would run …/);
    showTask(dash, 1).keys('y');
    assert.deepEqual(dash.calls(), [{ operation: 'task.retry', input: { id: 't-1', hash: 'f'.repeat(64) } }]);
    assert.match(ended().keys('r').state().message?.text ?? '', /t-1/);
  });

  /** The engine's answer about a pull request for s-1. */
  const prepared = (dash: Bench, remotes = [{ name: 'origin', url: 'git@github.com:o/r.git' }]): Bench => {
    const effect = dash.effects().find((each) => each.do === 'call');
    if (effect?.do !== 'call') assert.fail('no question was asked');
    return dash.send({
      type: 'answered',
      effect,
      answer: {
        session_id: 's-1',
        task_id: 't-1',
        repository: '/repository',
        branch: 'svc/s-1',
        push_to: 'svc/s-1',
        is_draft: false,
        base: 'main',
        head: 'c'.repeat(40),
        title: "it's $(rm -rf ~) (t-1)",
        body: 'Task t-1.',
        remotes,
        pull_request: null,
      },
    });
  };

  it('o shows commands in which nothing can break out of its quotes, and y runs svc worktree pr', () => {
    const dash = prepared(ended().keys('o'));
    assert.equal(dash.state().overlay?.kind, 'pull-request');
    const lines = screenOf(dash.state()).join('\n');
    assert.match(lines, /origin \(git@github\.com:o\/r\.git\)/);
    dash.keys('c');
    const [, push = '', create = ''] = dash.state().farewell;
    assert.match(push, /push .*-- origin c{40}:refs\/heads\/svc\/s-1$/);
    assert.ok(create.includes(`'--title=it'\\''s $(rm -rf ~) (t-1)'`), create);
    const again = prepared(ended().keys('o')).keys('j', 'y');
    const run = again.effects().find((each) => each.do === 'command');
    assert.deepEqual(run?.do === 'command' ? run.words : null, ['worktree', 'pr', 's-1', '--yes']);
  });

  it('o lets a person choose one of several remotes, and pushes nowhere before that', () => {
    const remotes = [
      { name: 'fork', url: 'git@github.com:me/r.git', program: 'gh' as const },
      { name: 'upstream', url: 'git@gitlab.com:o/r.git', program: 'glab' as const },
    ];
    const dash = prepared(ended().keys('o'), remotes);
    assert.doesNotMatch(screenOf(dash.state()).join('\n'), /git -c|origin/);
    assert.deepEqual(dash.keys('c').state().farewell, []);
    dash.keys('y');
    assert.deepEqual(
      dash.effects().filter((each) => each.do === 'command'),
      [],
    );
    assert.match(dash.state().message?.text ?? '', /choose where to push first/);
    const words = (chosen: Bench): readonly string[] => {
      const run = chosen.keys('y').effects().at(-1);
      return run?.do === 'command' ? run.words : [];
    };
    const lines = screenOf(dash.keys('2').state()).join('\n');
    assert.match(lines, /1 fork \(git@github\.com:me\/r\.git\)/);
    assert.match(lines, /▶ 2 upstream/);
    assert.match(lines, /glab /);
    assert.deepEqual(words(dash), ['worktree', 'pr', 's-1', '--yes', '--remote', 'upstream']);
    const next = prepared(ended().keys('o'), remotes).keys('tab', 'tab', 'tab', '9');
    assert.deepEqual(words(next), ['worktree', 'pr', 's-1', '--yes', '--remote', 'fork']);
  });
});

describe('while the engine is not running', () => {
  it('actions say why not, moving and reading continue, u starts it', () => {
    const dash = openWaitingDecisions().send({
      type: 'link',
      link: { phase: 'lost', reason: 'gone', since: 0 },
    });
    assert.match(dash.keys('a').state().message?.text ?? '', /the engine is not running; u starts it/);
    assert.equal(dash.keys('j').state().lists.work.selected, 't-2');
    dash.keys('u');
    assert.deepEqual(dash.effects(), [{ do: 'start-engine' }]);
  });

  it('losing it withdraws an armed question', () => {
    const dash = openWaitingDecisions()
      .keys('a')
      .send({ type: 'link', link: { phase: 'lost', reason: 'gone', since: 0 } })
      .keys('y');
    assert.deepEqual(dash.calls(), []);
    assert.match(dash.state().message?.text ?? '', /d-1: nothing was done, the engine is not running/);
  });
});

describe('the bell', () => {
  const arrival = { type: 'data', at: 0, change: { decisions: [decisionRow(7)] } } as const;

  it('the bell rings for a new decision, and only where it is switched on', () => {
    const { state } = bench();
    assert.deepEqual(reduceState(state(), arrival).effects, []);
    assert.deepEqual(
      reduceState({ ...state(), preferences: { ...DEFAULT_PREFERENCES, bell: true } }, arrival).effects,
      [{ do: 'bell' }],
    );
  });

  it('the bell does not ring for existing or decided ones', () => {
    const state = {
      ...bench()
        .data({ decisions: [decisionRow(7)] })
        .state(),
      preferences: { ...DEFAULT_PREFERENCES, bell: true },
    };
    assert.deepEqual(reduceState(state, arrival).effects, []);
    const decided = { ...arrival, change: { decisions: [decisionRow(8, { state: 'approved' })] } };
    assert.deepEqual(reduceState(state, decided).effects, []);
    const first = { ...arrival, change: { decisions: [decisionRow(9)], reset: true } };
    assert.deepEqual(reduceState(state, first).effects, []);
  });
});

describe('the keymap', () => {
  /** A row of each kind, with the pane that shows it. */
  const rows = (): Record<WorkKind, Bench> => {
    const merged = sessionRow(1, {
      worktree: null,
      promoted_at: '2026-03-01T11:00:00Z',
      branch_state: 'merged',
    });
    const of = (data: Parameters<Bench['data']>[0]): Bench => bench(200, 60).data(data);
    return {
      ask: of({ asks: [askRow(1)], sessions: [sessionRow(1, { state: 'running' })], tasks: [taskRow(1)] }),
      decision: of({ decisions: [decisionRow(1)], tasks: [taskRow(1)] }),
      race: of({ tasks: [taskRow(1, { race: 1 })] }),
      live: of({ sessions: [sessionRow(1, { state: 'running' })], tasks: [taskRow(1)] }),
      ended: of({ sessions: [sessionRow(1)], tasks: [taskRow(1)] }),
      over: of({ sessions: [merged], tasks: [taskRow(1)] }),
      task: of({ tasks: [taskRow(1)] }),
    };
  };

  it('the keymap gives a key one meaning in one place', () => {
    for (const view of ['list', 'text', 'full'] as const)
      for (const [kind, dash] of Object.entries(rows()))
        for (const focus of PANE_IDS) {
          const here = { ...dash.state(), focus, view };
          const keys = KEYMAP.filter((each) => isBindingHere(each, here)).flatMap((each) => each.keys);
          assert.deepEqual(keys, [...new Set(keys)], `${focus} ${kind} ${view}`);
        }
  });

  it('no first key changes anything in the engine except marking a message as read', () => {
    const called = new Set<string>();
    for (const dash of Object.values(rows())) {
      dash.data({ messages: [messageRow(1)], peers: [peerRow('s-1')], locks: [lockRow('app')] });
      dash.data({ runners: [runnerRow(1)] });
      for (const focus of PANE_IDS)
        for (const view of ['list', 'full'] as const) {
          const here = { ...dash.state(), focus, view };
          for (const binding of KEYMAP.filter((each) => isBindingHere(each, here))) {
            if (getDisabledReason(binding, here) !== null) continue;
            // A key that asks no question here must act, and a key that only asks must always ask.
            const asked = binding.ask?.(here) ?? null;
            assert.ok(asked !== null || binding.run !== undefined, binding.id);
            for (const effect of binding.run?.(here).effects ?? [])
              if (effect.do === 'call') called.add(effect.operation);
          }
        }
    }
    // The others only read.
    assert.deepEqual([...called].sort(), ['msg.ack', 'worktree.commands', 'worktree.pr']);
  });

  it('the keymap confirms with a different key than the first one, and help lists the confirmation keys', () => {
    for (const { id, ask, confirm, keys } of KEYMAP) {
      assert.equal(ask === undefined, confirm === undefined, id);
      assert.ok(!confirm?.some((key) => keys.includes(key)), id);
    }
    const answers = (dash: Bench, key: string): string[] =>
      dash
        .keys('esc', 'esc', key)
        .state()
        .armed?.answers.map((each) => each.key) ?? [];
    const told = (id: string): readonly string[] => KEYMAP.find((each) => each.id === id)?.confirm ?? [];
    const gate = { code: 'ledger_gate', message: 'LEDGER.md is not clear', hint: null } as const;
    const held = showDecision(bench().data({ decisions: [decisionRow(1)] }), 1, { problem: gate });
    assert.deepEqual([...answers(openWaitingDecisions(), 'a'), ...answers(held, 'a')], told('approve'));
    assert.deepEqual(answers(openWaitingDecisions(), 'd'), told('deny'));
    const task = showTask(bench().data({ tasks: [taskRow(1)] }), 1);
    assert.deepEqual(answers(task, 'r'), ['y']);
    assert.deepEqual(answers(showTask(task, 1, { problem: gate }), 'r'), ['f']);
    assert.deepEqual(told('run'), ['y', 'f']);
    for (const [key, id] of [
      ['x', 'stop'],
      ['D', 'done'],
    ] as const) {
      assert.deepEqual(answers(task, key), told(id), id);
    }
    const ended = showEvidence(showWork(bench(80, 40).data({ sessions: [sessionRow(1)] }), 1), 1);
    assert.deepEqual(answers(ended, 'p'), told('promote'));
    assert.deepEqual(answers(ended, 'V'), told('rerun'));
    const running = bench().data({ sessions: [sessionRow(1, { state: 'running' })], tasks: [taskRow(1)] });
    assert.deepEqual(answers(running, 'x'), told('stop'));
  });
});
