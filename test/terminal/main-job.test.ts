import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { act, ask, confirm, openDash } from '../support/terminals/dash.ts';
import { withTmux } from '../support/terminals/terminal.ts';

const PROMPT = `Say hello in a file
#agent: lines 60 5
#agent: edit hello.txt Hello from the worker`;

describe('the main job at a terminal', withTmux, () => {
  for (const [columns, rows] of [
    [80, 24],
    [140, 40],
  ] as const) {
    it(`the job runs from a signed request to the commit on the base, at ${columns}x${rows}`, async (t) => {
      const { workspace, terminal } = await openDash(t, { columns, rows });
      await terminal.shows('Nothing waits for you');

      const { body } = await workspace.post(PROMPT);
      await terminal.shows(`▶${body.task_id}`, 'the decision in the list');
      await terminal.shows('│ │ Say hello in a file', 'its prompt');

      await confirm(
        terminal,
        ['a', 'y'],
        `Approve ${body.decision_id} and start scripted on ${body.task_id}?`,
        `${body.decision_id} approved: s-1 starts on ${body.task_id}`,
      );

      await terminal.shows(/▶t-1 +ready/, 'the finished run');
      // v shows its log, which has scrolled: its last lines are visible, its first ones are not.
      await act(terminal, 'v');
      const log = await terminal.shows('agent: done', 'the end of the log');
      assert.ok(!log.includes('line 1 of 60'), log);

      terminal.keys('v');
      await terminal.shows('no conflicts', 'the trial merge');
      terminal.keys('Enter');
      await terminal.shows('╔═ t-1 s-1 work', 'the work over the whole screen');
      await terminal.shows('not verified', 'its evidence');
      // Only if the patch does not fit: a key that changes nothing may be read together with the next one.
      if (rows < 40) terminal.keys('G');
      await terminal.shows('+Hello from the worker', 'the patch');

      await ask(terminal, 'p', 'Promote svc/s-1 into main?');
      assert.ok(!existsSync(join(workspace.root, 'hello.txt')), 'nothing is merged before the second key');
      terminal.keys('Escape');
      await terminal.gone('Promote svc/s-1 into main?');
      // The state of the work may be reloaded at any moment, which withdraws a question about its old state.
      await confirm(terminal, ['p', 'm'], 'Promote svc/s-1 into main?', 'nothing was pushed');
      assert.ok(existsSync(join(workspace.root, 'hello.txt')), 'the checkout of the base has the file');
      assert.match(workspace.repository.git('log', '--oneline', 'main'), /Say hello in a file/);

      terminal.keys('q');
      const { status, screen } = await terminal.exited();
      assert.equal(status, 0);
      assert.match(screen, /the engine keeps running/);
      assert.equal((await workspace.svc(['status'])).code, 0, 'the engine keeps running');
    });
  }
});
