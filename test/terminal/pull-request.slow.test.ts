import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { GH_MISSING, makeForgeWorkspace, startForge } from '../support/forge.ts';
import { confirm, pressUntil } from '../support/terminals/dash.ts';
import { openTerminal, withTmux } from '../support/terminals/terminal.ts';
import { until } from '../support/wait.ts';
import { SVC } from '../support/workspaces/workspace.ts';

const YAML = `
sources: [{ kind: github, repository: acme/shop }]
webhook:
  templates: { codehost: { prompt: Fix this., pull_request: ready, branch: 'svc/{issue}' } }
`;

describe('an issue at a terminal', { skip: GH_MISSING || withTmux.skip }, () => {
  it('a labelled issue becomes a merged pull request by approvals alone', async (t) => {
    const forge = await startForge();
    t.after(forge.close);
    const { github, bare } = forge;
    const ws = await makeForgeWorkspace(forge, { yaml: YAML, hosted: false });
    t.after(() => ws.close());
    await ws.svc(['up']);
    const terminal = await openTerminal({
      ...{ command: [process.execPath, SVC], cwd: ws.root, env: ws.env, columns: 120, rows: 40 },
    });
    t.after(terminal.close);
    await terminal.shows('Nothing waits for you');
    /** Asks now, as the engine does once a minute. */
    const poll = async (): Promise<void> => {
      const { code, stderr } = await ws.svc(['source', 'poll']);
      assert.equal(code, 0, stderr);
    };
    const readTip = (): string =>
      execFileSync('git', ['-C', bare, 'rev-parse', 'svc/1'], { encoding: 'utf8' }).trim();
    const approve = async (decision: string, task: string, reason: string): Promise<void> => {
      await pressUntil(terminal, '.', (screen) => screen.includes(`▶${task}`), {
        what: `the decision about ${task}`,
      });
      await terminal.shows(reason, 'why it waits');
      const question = `Approve ${decision} and start scripted on ${task}?`;
      await confirm(terminal, ['a', 'y'], question, `${decision} approved`);
    };
    await poll();
    github.advance(60);

    github.openIssue({ title: 'Add a page', body: '#agent: edit page.txt one', labels: ['svc'] });
    await poll();
    await approve('d-1', 't-1', 'acme/shop#1');
    const pull = await until(() => github.pullRequests[0] ?? null, 'the pull request');
    assert.match(pull.body, /Closes acme\/shop#1\./);
    await until(async () => /#2 open/.test((await ws.svc(['worker', 'show', 's-1'])).stdout), 'its record');

    const first = readTip();
    github.setCheck('svc/1', { name: 'unit', conclusion: 'failure', log: 'not ok 1 - the page\n' });
    await poll();
    await terminal.shows('the check unit failed: Add a page');
    await approve('d-2', 't-2', 'failed: not ok 1 - the page');
    const second = await until(() => (readTip() === first ? null : readTip()), 'the next commit');
    github.setCheck('svc/1', { name: 'unit', conclusion: 'success', log: 'ok' });
    await until(async () => /#2 open/.test((await ws.svc(['worker', 'show', 's-2'])).stdout), 'its record');

    const words = 'Use two.\n\n#agent: edit page.txt two';
    github.review(2, { state: 'CHANGES_REQUESTED', body: words });
    await poll();
    await terminal.shows('review by acme: Add a page');
    await approve('d-3', 't-3', 'acme reviewed acme/shop#2');
    await until(() => readTip() !== second, 'the answer to the review');
    assert.equal(github.pullRequests.length, 1);
    await until(async () => /#2 open/.test((await ws.svc(['worker', 'show', 's-3'])).stdout), 'its record');

    github.merge(2);
    await poll();
    const { stdout } = await ws.svc(['worker', 'show', 's-3']);
    assert.match(stdout, /request +#2 merged/);
    execFileSync('git', ['-C', ws.root, 'pull', '-q', bare, 'svc/1']);
    terminal.keys('q');
    assert.equal((await terminal.exited()).status, 0);
  });
});
