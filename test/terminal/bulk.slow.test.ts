import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { answer, openDash } from '../support/terminals/dash.ts';
import { withTmux } from '../support/terminals/terminal.ts';
import { until } from '../support/wait.ts';

describe('many rows in a real terminal', withTmux, () => {
  it('three decisions are approved by one confirmation, and their runs end', async (t) => {
    const { workspace, terminal } = await openDash(t);
    for (const each of ['first', 'second', 'third']) await workspace.post(`The ${each} request`);
    await terminal.shows('The third request');
    terminal.keys('*');
    await terminal.shows('a approve 3');
    terminal.keys('a');
    await terminal.shows('y approve 3');
    await answer(terminal, 'y');
    await terminal.shows(/approve: 3 done \(d-\d+, d-\d+, d-\d+\)/);
    const client = await workspace.connect();
    await until(async () => {
      const sessions = await client.call('session.list', {});
      return (
        sessions.length === 3 && sessions.every(({ state, failure }) => state === 'ended' && failure === null)
      );
    }, 'the end of three runs');
  });

  it('the sort order of a list, and the theme, are kept for the next time', async (t) => {
    const { workspace, terminal } = await openDash(t);
    await workspace.svc(['task', 'add', 'one task']);
    await terminal.shows('one task');
    terminal.keys('>');
    await terminal.shows('by id ↑');
    terminal.keys('^');
    await terminal.shows('by id ↓');
    terminal.keys(',');
    await terminal.shows(/theme +standard/);
    terminal.keys('Enter');
    await terminal.shows(/theme +dark/);
    terminal.keys('Escape');
    await terminal.gone('column agent');
    terminal.keys('q');
    await terminal.exited();
    const text = readFileSync(join(workspace.env.SVC_HOME ?? '', 'ui.yaml'), 'utf8');
    assert.match(text, /theme: dark/);
    assert.match(text, /work: -id/);
  });

  it('z gives the list the whole screen and takes it away', async (t) => {
    const { workspace, terminal } = await openDash(t, { columns: 140, rows: 40 });
    await terminal.shows('Nothing waits for you');
    await workspace.post('One order');
    await terminal.shows('─ facts ─');
    terminal.keys('z');
    await terminal.gone('─ facts ─');
    terminal.keys('z');
    await terminal.shows('─ facts ─');
  });
});
