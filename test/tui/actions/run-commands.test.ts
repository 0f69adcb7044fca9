import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Api } from '../../../engine/index.ts';
import { findShownLog } from '../../../tui/state/selection.ts';
import { type Bench, bench, sessionRow } from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

type CommandState = Api['worktree.run']['output'];

const AT = '2026-03-01T12:00:00Z';

const command = (name: string, more: Partial<CommandState> = {}): CommandState => ({
  name,
  command: `npm run ${name}`,
  state: 'idle',
  port: 23_000,
  started_at: null,
  exit_code: null,
  exit_signal: null,
  log_from: 0,
  ...more,
});
const running = command('dev', { state: 'running', started_at: AT });

/** Answers the last call to the engine. */
function answerLast(dash: Bench, answer: unknown): Bench {
  const effect = dash.effects().findLast((each) => each.do === 'call');
  assert.ok(effect?.do === 'call');
  return dash.send({ type: 'answered', effect, answer: answer as never });
}

/** Opens the list of commands of an ended run with a worktree. */
const openCommands = (...commands: CommandState[]): Bench =>
  answerLast(
    bench()
      .data({ sessions: [sessionRow(1, { worktree: '/w/s-1' })] })
      .keys('s'),
    commands,
  );

describe('the run commands of a project', () => {
  it('s lists them, and Enter starts one and shows its log instead of that of the agent', () => {
    const dash = openCommands(command('dev'), command('docs')).keys('down', 'enter');
    assert.deepEqual(dash.calls(), [
      { operation: 'worktree.commands', input: { session: 's-1' } },
      { operation: 'worktree.run', input: { session: 's-1', name: 'docs' } },
    ]);
    answerLast(dash, command('docs', { state: 'running', started_at: AT }));
    const source = { session: 's-1', command: { name: 'docs', startedAt: AT } };
    assert.deepEqual(findShownLog(dash.state()), source);
    dash.send({ type: 'log', source, lines: ['listening', ''], ended: false, reset: true });
    assert.match(screenOf(dash.state()).join('\n'), /s-1 run docs.*following[\s\S]*listening/);
    assert.deepEqual(findShownLog(dash.keys('v').state()), { session: 's-1', command: null });
  });

  it('Enter shows the log of one that runs, and x stops it', () => {
    const shown = openCommands(running);
    assert.match(screenOf(shown.state()).join('\n'), /dev +running, port 23000 +npm run dev/);
    assert.equal(shown.keys('enter').calls().length, 1);
    assert.equal(findShownLog(shown.state())?.command?.name, 'dev');
    const stopped = openCommands(running).keys('x');
    assert.deepEqual(stopped.calls().at(-1), {
      operation: 'worktree.stop_command',
      input: { session: 's-1', name: 'dev' },
    });
    const idle = openCommands(command('dev')).keys('x');
    assert.equal(idle.state().message?.text, 'dev does not run');
  });

  it('a refusal says that the project has none, or that there is no worktree', () => {
    const none = openCommands();
    assert.equal(none.state().overlay, null);
    assert.match(none.state().message?.text ?? '', /the project has none: add run/);
    const gone = bench()
      .data({ sessions: [sessionRow(1, { worktree: null })] })
      .keys('s');
    assert.match(gone.state().message?.text ?? '', /the worktree of s-1 is no longer there/);
    assert.deepEqual(gone.calls(), []);
  });
});
