import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { act, openDash } from '../support/terminals/dash.ts';
import { until } from '../support/wait.ts';
import { SVC } from '../support/workspaces/workspace.ts';

/** A worker that only asks the question in its prompt. */
const askScript = (...options: string[]): string =>
  `'${process.execPath}' '${SVC}' ask open {{prompt}} ${options.join(' ')}`;

describe('a question of a worker', () => {
  it('the question is answered with Enter and a digit, and the worker continues', async (t) => {
    const { workspace, terminal } = await openDash(t, {
      commands: { asker: askScript('-o', 'yes', '-o', 'no') },
    });
    await workspace.svc(['task', 'add', 'Keep the old name?', '--agent', 'asker']);
    await workspace.svc(['task', 'run', 't-1']);
    await terminal.shows(' 1 ask (');
    await terminal.shows('is blocked on this');
    await act(terminal, 'Enter');
    await terminal.shows('1-2 sends that answer');
    await act(terminal, '2');
    await terminal.shows('is answered: no');
    await until(
      async () => (await workspace.svc(['task', 'show', 't-1', '--json'])).stdout.includes('"done"'),
      'the end of the task',
    );
    assert.match((await workspace.svc(['task', 'log', 't-1'])).stdout, /no/);
  });

  it('a question that someone else has answered is not answered twice', async (t) => {
    const { workspace, terminal } = await openDash(t, { commands: { asker: askScript() } });
    await workspace.svc(['task', 'add', 'Which port?', '--agent', 'asker']);
    await workspace.svc(['task', 'run', 't-1']);
    await terminal.shows(' 1 ask (');
    await terminal.shows('is blocked on this');
    await act(terminal, 'Enter');
    await terminal.shows('type the answer');
    await workspace.svc(['ask', 'answer', '1', '8080']);
    await terminal.shows('ask 1 is closed, nothing was sent');
    await terminal.gone(' 1 ask (');
  });
});
