import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { act, answer, ask, openDash, pressUntil } from '../support/terminals/dash.ts';
import { withTmux } from '../support/terminals/terminal.ts';

describe('accidental input does nothing', withTmux, () => {
  it('bursts and pastes never act; arrivals change counts only; a changed decision disarms', async (t) => {
    const { workspace, terminal } = await openDash(t);
    const client = await workspace.connect();
    const decisions = () => client.call('decision.list', {});
    await workspace.post('first\n#agent: no-change');
    await terminal.shows('▶t-1');
    await terminal.shows('│ │ first', 'the prompt of d-1');

    terminal.type('ay');
    await terminal.shows('keys that arrive in a burst only move');
    terminal.paste('ay\nayay');
    await terminal.shows('pasted text is ignored here');
    await act(terminal, 'a');
    await terminal.shows('Approve d-1 and start scripted on t-1?');
    terminal.paste('y');
    await terminal.shows('pasted text is ignored here');
    await terminal.gone('Approve d-1');

    // Another decision arrives while the question is open: the question is still about the first.
    terminal.keys('a');
    await terminal.shows('Approve d-1');
    await workspace.post('second\n#agent: no-change');
    await terminal.shows('2 to decide');
    await terminal.shows('▶t-1');
    await terminal.shows('Approve d-1');

    // Another person edits it: the same task, another prompt, another decision.
    await client.call('decision.edit', { id: 'd-1', prompt: 'another text\n#agent: no-change' });
    await terminal.shows('d-1 has changed: check it again');
    await terminal.gone('Approve d-1');
    await answer(terminal, 'y');
    await terminal.shows('│ │ another text', 'the prompt of the other decision');
    assert.deepEqual(
      (await decisions()).filter((each) => each.state === 'approved'),
      [],
    );
    assert.deepEqual(await client.call('session.list', {}), []);

    // A deliberate answer still goes through.
    await pressUntil(terminal, 'k', (screen) => screen.includes('▶t-2'), { what: 'the second task' });
    await terminal.shows('│ │ second', 'the prompt of d-2');
    await ask(terminal, 'a', 'Approve d-2');
    await answer(terminal, 'y');
    await terminal.shows('d-2 approved');
  });

  it('the first key at 40x10 shows the plan, the second asks, the third approves', async (t) => {
    const { workspace, terminal } = await openDash(t, { columns: 40, rows: 10 });
    await workspace.post('read me first\n#agent: no-change');
    await terminal.shows('▶ t-1');
    assert.ok(!terminal.screen().includes('│ │ read me first'));
    await terminal.shows('a approve');
    await ask(terminal, 'a', '│ read me first');
    await terminal.shows(/agent +scripted · lite/);
    await terminal.shows(/prompt +\d+ chars/);
    await ask(terminal, 'a', 'Approve d-1');
    await answer(terminal, 'y');
    await terminal.shows('d-1 approved');
  });

  it('titles, prompts and logs cannot control the terminal', async (t) => {
    const { workspace, terminal } = await openDash(t);
    const hostile = 'safe \u001b[31mRED\u001b[2J\u001b]0;owned\u0007\u009b31m \u202etxt';
    await workspace.post(`${hostile}\n#agent: no-change\n#agent: echo-argv`);
    const screen = await terminal.shows(/▶t-1 .*safe \\x1b/);
    assert.match(screen, /svc · test/);
    assert.ok(!terminal.colours().includes('\u001b[31mRED'), "only svc's own colours");
    await terminal.shows('│ │ safe \\x1b[31mRED\\x1b[2J', 'the prompt');
    await ask(terminal, 'a', 'Approve d-1');
    await answer(terminal, 'y');
    await terminal.shows('d-1 approved');
    await terminal.shows(/▶t-1 +(?:done|ready)/);
    assert.match(terminal.screen(), /svc · test/);
  });

  it('colour is off where NO_COLOR is set, and on with SVC_FORCE_COLOR', async (t) => {
    const without = await openDash(t, { env: { NO_COLOR: '1' } });
    await without.terminal.shows('Nothing waits for you');
    assert.doesNotMatch(without.terminal.colours(), /\u001b\[[0-9;]*m/);
    const forced = await openDash(t, { env: { NO_COLOR: '1', SVC_FORCE_COLOR: '1' } });
    await forced.terminal.shows('Nothing waits for you');
    assert.match(forced.terminal.colours(), /\u001b\[[0-9;]*m/);
  });
});
