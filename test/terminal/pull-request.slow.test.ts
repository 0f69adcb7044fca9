import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GH_MISSING, makeForgeWorkspace, startForge } from '../support/forge.ts';
import { followIssue, writeJourneyYaml } from '../support/issue-journey.ts';
import { confirm, pressUntil } from '../support/terminals/dash.ts';
import { openTerminal, withTmux } from '../support/terminals/terminal.ts';
import { SVC } from '../support/workspaces/workspace.ts';

describe('an issue at a terminal', { skip: GH_MISSING || withTmux.skip }, () => {
  it('a labelled issue becomes a merged pull request by approvals alone', async (t) => {
    const forge = await startForge();
    t.after(forge.close);
    const ws = await makeForgeWorkspace(forge, { yaml: writeJourneyYaml(forge), hosted: false });
    t.after(() => ws.close());
    await ws.svc(['up']);
    const client = await ws.connect();
    t.after(() => client.close());
    const terminal = await openTerminal({
      ...{ command: [process.execPath, SVC], cwd: ws.root, env: ws.env, columns: 120, rows: 40 },
    });
    t.after(terminal.close);
    await terminal.shows('Nothing waits for you');
    await followIssue(forge, client.call, async ({ decision, task, title, reason }) => {
      await terminal.shows(title);
      await pressUntil(terminal, '.', (screen) => screen.includes(`▶${task}`), {
        what: `the decision about ${task}`,
      });
      await terminal.shows(reason, 'why it waits');
      const question = `Approve ${decision} and start scripted on ${task}?`;
      await confirm(terminal, ['a', 'y'], question, `${decision} approved`);
    });
    terminal.keys('q');
    assert.equal((await terminal.exited()).status, 0);
  });
});
