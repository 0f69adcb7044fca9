import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { styleText } from 'node:util';
import type { DashboardEffect } from '../../../tui/actions/transition.ts';
import { DEFAULT_PREFERENCES, getTheme, type Preferences } from '../../../tui/preferences/preferences.ts';
import { reduceState } from '../../../tui/reducer.ts';
import type { State } from '../../../tui/state/model.ts';
import { createInitialState } from '../../../tui/store.ts';
import { paintLines } from '../../../tui/text/paint.ts';
import { THEME_NAMES, THEMES } from '../../../tui/text/theme.ts';
import { type Bench, bench, decisionRow, NOW, taskRow } from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

const savedBy = (self: Bench): unknown[] =>
  self.effects().flatMap((each) => (each.do === 'save' ? each.changes : []));
const prefer = (state: State, more: Partial<Preferences>): State => ({
  ...state,
  preferences: { ...DEFAULT_PREFERENCES, ...more },
});
const press = (state: State, key: string): { state: State; effects: readonly DashboardEffect[] } =>
  reduceState(state, { type: 'keys', keys: [key], at: state.now + 1000 });

const openTasks = (): Bench => bench(100, 30).data({ tasks: [taskRow(1), taskRow(2)], complete: true });

describe('preferences', () => {
  it('the theme is changed in their list, and written', () => {
    const self = openTasks().keys(',');
    assert.match(screenOf(self.state()).join('\n'), /theme +standard/);
    self.keys('enter');
    assert.equal(self.state().preferences.theme, 'dark');
    assert.deepEqual(savedBy(self), [{ path: ['theme'], value: 'dark' }]);
  });

  it('a column of the focused list is hidden, and shown again', () => {
    const self = openTasks();
    assert.match(screenOf(self.state()).join('\n'), /agent +age +work tokens title/);
    self.keys(',');
    const at = screenOf(self.state()).findIndex((line) => line.includes('column agent'));
    const first = screenOf(self.state()).findIndex((line) => line.includes('theme'));
    self.keys(...Array.from({ length: at - first }, () => 'j'), 'enter', 'esc');
    assert.doesNotMatch(screenOf(self.state()).join('\n'), /agent +age +work tokens title/);
    assert.deepEqual(savedBy(self), [
      {
        path: ['columns', 'work'],
        value: ['id', 'state', 'age', 'time', 'work', 'files', 'tokens', 'cost', 'quiet', 'title'],
      },
    ]);
    self.keys(',', ...Array.from({ length: at - first }, () => 'j'), 'enter', 'esc');
    assert.deepEqual(self.state().preferences.columns, {});
  });

  it('sorting is written, and a list opens in that order', () => {
    const self = openTasks().keys('>', '^');
    assert.deepEqual(savedBy(self), [
      { path: ['sort', 'work'], value: 'id' },
      { path: ['sort', 'work'], value: '-id' },
    ]);
    const first = createInitialState({
      size: { columns: 80, rows: 24 },
      now: NOW,
      preferences: { ...DEFAULT_PREFERENCES, sort: { work: '-id' } },
    });
    const { state } = reduceState(first, {
      type: 'data',
      at: NOW,
      change: { tasks: [taskRow(1), taskRow(2)] },
    });
    assert.deepEqual(state.lists.work.ids, ['t-2', 't-1']);
  });

  it('rebound keys act as the original ones, and the hints and the help name them', () => {
    const state = prefer(openTasks().state(), { keys: { new: ['ctrl+n'], down: ['j'] } });
    assert.equal(press(state, 'n').state.message, null);
    assert.match(press(state, 'ctrl+n').state.message?.text ?? '', /new: /);
    assert.match(screenOf(state).at(-1) ?? '', /C-n new/);
  });

  it('Y copies the id, or the open text, unless that was switched off', () => {
    const { state } = openTasks();
    assert.match(press(prefer(state(), { copy: false }), 'Y').state.message?.text ?? '', /copying is off/);
    const on = state();
    assert.deepEqual(press(on, 'Y').effects, [{ do: 'copy', text: 't-1' }]);
    const [copied] = press(press(on, 'enter').state, 'Y').effects;
    assert.ok(copied?.do === 'copy' && copied.text.includes('Task number 1'));
  });

  it('the bell rings when something new waits, only where that was switched on', () => {
    const arrival = { type: 'data', at: NOW, change: { decisions: [decisionRow(7)] } } as const;
    const { state } = openTasks();
    assert.deepEqual(reduceState(state(), arrival).effects, []);
    assert.deepEqual(reduceState(prefer(state(), { bell: true }), arrival).effects, [{ do: 'bell' }]);
  });

  it("a theme is drawn with its own colours and the person's, and without any where colours are off", () => {
    const line = [[{ text: 'bad', style: 'bad' } as const]];
    const paint = (more: Partial<Preferences>): string =>
      paintLines(line, { theme: getTheme({ ...DEFAULT_PREFERENCES, ...more }) });
    assert.equal(paint({}), '\u001b[31mbad\u001b[39m');
    assert.match(paint({ theme: 'colour-blind' }), /\u001b\[93m/);
    assert.equal(paint({ colours: { bad: ['blue'] } }), '\u001b[34mbad\u001b[39m');
    assert.equal(paintLines(line, { theme: null }), 'bad');
  });

  it('a selected row keeps the colour of its state in every theme, and there is one cursor on the screen', () => {
    const selected = [[{ text: 'failed', style: 'bad', isSelected: true } as const]];
    for (const theme of THEME_NAMES) {
      const { bad, selected: on } = getTheme({ ...DEFAULT_PREFERENCES, theme });
      const painted = paintLines(selected, { theme: THEMES[theme] });
      for (const look of [...bad, ...on.slice(0, 1)])
        assert.ok(painted.includes(styleText(look, '|').split('|')[0]!), `${theme} ${look}`);
    }
    const dash = bench(140, 40).data({ tasks: [taskRow(1), taskRow(2)] });
    const cursors = (): number => screenOf(dash.state()).join('').split('▶').length - 1;
    assert.equal(cursors(), 1);
    dash.keys('tab');
    assert.equal(cursors(), 0, 'the text has the keyboard');
    assert.match(screenOf(dash.state()).join('\n'), /•t-1/);
  });
});

describe('palette and help', () => {
  it('the palette and help start with the keys of the focused pane', () => {
    for (const key of [':', '?']) {
      const self = bench(100, 30)
        .data({ decisions: [decisionRow(1)] })
        .keys(key);
      const rows = screenOf(self.state()).filter((line) => /approve and start/.test(line));
      const first = screenOf(self.state()).findIndex((line) => line.includes('> '));
      assert.equal(rows.length, 1);
      assert.match(screenOf(self.state())[first + 2] ?? '', /approve and start/);
    }
  });
});
