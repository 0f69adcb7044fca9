import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { ConsentView } from '../../engine/index.ts';
import { answer, openDash } from '../support/terminals/dash.ts';
import { openTerminal, type Terminal, withTmux } from '../support/terminals/terminal.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';

// Matches at the end of the screen, because an earlier question may be above it.
const QUESTION = /Use this on this machine\? \[y\/N\]\s*$/;
const BACK = /Press Enter to return to the dashboard\.\s*$/;
const BANNER = /svc\.yaml: guard\.profile waits, its earlier .*· T shows it and asks/;

const readConsents = async (ws: TestWorkspace): Promise<ConsentView> =>
  (await ws.connect()).call('config.consent');

const listPendingKeys = async (ws: TestWorkspace): Promise<string[]> =>
  (await readConsents(ws)).pending.map(({ key }) => key);

const typeText = (terminal: Terminal, text: string): void => {
  terminal.type(text);
  terminal.keys('Enter');
};

/** Replaces svc.yaml through git, as a pull does. */
function pullConfig({ repository, root }: TestWorkspace, text: string): void {
  const { git } = repository;
  git('checkout', '--quiet', '-B', 'theirs');
  writeFileSync(join(root, 'svc.yaml'), text);
  git('commit', '--quiet', '--all', '--message', 'theirs');
  git('checkout', '--quiet', 'main');
  git('merge', '--quiet', '--ff-only', 'theirs');
}

for (const [columns, rows] of [
  [80, 24],
  [140, 40],
] as const) {
  describe(`pending consents on the dashboard, ${columns}x${rows}`, withTmux, () => {
    it('consents are shown, agreed to with y alone, and by no other answer', async (t) => {
      const { workspace: ws, terminal } = await openDash(t, { columns, rows });
      const file = join(ws.root, 'svc.yaml');
      const own = readFileSync(file, 'utf8');
      await terminal.shows('Nothing waits for you');
      terminal.keys('T');
      await terminal.shows('nothing in svc.yaml waits');

      // First an editor changes it, then a pull.
      writeFileSync(file, `${own}guard: { profile: none }\n`);
      await terminal.shows(BANNER);
      ws.repository.git('checkout', '--quiet', '--', 'svc.yaml');
      await terminal.gone('svc.yaml waits');
      pullConfig(ws, `${own}guard: { profile: none }\n`);
      await terminal.shows(BANNER);

      for (const no of ['n', '', 'Y es', 'yy', 'C-d', 'C-c']) {
        await answer(terminal, 'T');
        const shown = await terminal.shows(QUESTION);
        assert.match(shown, /guard\.profile\n {2}in use {4}\(not set\)\n {2}svc\.yaml {2}"none"/);
        if (no.startsWith('C-')) terminal.keys(no);
        else typeText(terminal, no);
        const left = await terminal.shows(BACK);
        assert.match(left, /nothing was recorded/);
        assert.doesNotMatch(left, /Aborted/);
        terminal.keys('Enter');
        await terminal.shows('guard.profile of svc.yaml still waits');
        await terminal.shows(BANNER);
        assert.deepEqual(await listPendingKeys(ws), ['guard.profile'], `after ${JSON.stringify(no)}`);
      }

      // The file changes after it was shown.
      await answer(terminal, 'T');
      await terminal.shows(QUESTION);
      pullConfig(ws, `${own}guard: { profile: none }\npolicy: { mode: solo }\n`);
      typeText(terminal, 'y');
      const refused = await terminal.shows(BACK);
      assert.match(refused.replace(/\s+/g, ' '), /has changed since it was shown; no consent was recorded/);
      terminal.keys('Enter');
      await terminal.shows('svc.yaml: guard.profile and 1 more wait, the earlier');
      assert.deepEqual(await listPendingKeys(ws), ['guard.profile', 'policy.mode']);

      // Each key needs a separate consent.
      await answer(terminal, 'T');
      const first = await terminal.shows(QUESTION);
      assert.ok(!first.includes('policy.mode'), first);
      typeText(terminal, 'y');
      await terminal.shows('guard.profile of svc.yaml is in use');
      await terminal.shows('svc.yaml: policy.mode waits, its earlier');
      await answer(terminal, 'T');
      await terminal.shows(QUESTION);
      typeText(terminal, 'yes');
      await terminal.shows('policy.mode of svc.yaml is in use');
      await terminal.gone('svc.yaml waits');
      assert.deepEqual((await readConsents(ws)).state, 'given');
    });

    it('a workspace without any consent shows everything and agrees once', async (t) => {
      const { workspace: ws, terminal } = await openDash(t, { columns, rows });
      await terminal.shows('Nothing waits for you');
      rmSync(join(ws.env.SVC_HOME ?? '', 'consents'), { recursive: true });
      await terminal.shows('svc.yaml was never agreed to here: nothing starts');
      await terminal.shows('T shows it and asks');
      await answer(terminal, 'T');
      const shown = await terminal.shows(QUESTION);
      for (const key of ['agents.cmds.scripted', 'notify.webhooks', 'ui.addr'])
        assert.ok(shown.includes(key), key);
      typeText(terminal, 'y');
      await terminal.shows('svc.yaml is in use');
      await terminal.gone('svc.yaml was never agreed to');
      assert.deepEqual((await readConsents(ws)).state, 'given');
    });
  });
}

describe('a workspace of an older build', withTmux, () => {
  it('adopt names trust, and then the workspace runs', async (t) => {
    const ws = await makeWorkspace();
    t.after(ws.close);
    await ws.svc(['task', 'add', 'of the older build', '--agent', 'scripted']);
    await ws.svc(['down']);
    rmSync(ws.env.SVC_HOME ?? '', { recursive: true });
    rmSync(join(ws.root, '.svc', 'id'));

    /** Runs a command on a terminal and answers its question. */
    async function here(args: string[], reply?: [question: string | RegExp, text: string]) {
      const terminal = await openTerminal({
        command: [process.execPath, SVC, ...args],
        cwd: ws.root,
        env: ws.env,
        columns: 220,
        rows: 50,
      });
      try {
        if (reply !== undefined) {
          await terminal.shows(reply[0]);
          typeText(terminal, reply[1]);
        }
        return await terminal.exited();
      } finally {
        await terminal.close();
      }
    }

    // Every command, even the dashboard, names the same command first.
    for (const args of [
      [],
      ['status'],
      ['up'],
      ['task', 'list'],
      ['trust'],
      ['config', 'set', 'guard.profile', 'none'],
    ]) {
      const { status, screen } = await here(args);
      assert.notEqual(status, 0, screen);
      assert.match(screen, /an earlier svc created it, or it was brought from elsewhere/, args.join(' '));
      assert.match(screen, /hint: svc adopt shows its content/, args.join(' '));
    }
    const doctor = await here(['doctor']);
    assert.equal(doctor.status, 1);
    assert.match(doctor.screen, /fail {2}data folder is ours.*\n.*\n? *→ svc adopt/);
    assert.match(doctor.screen, /once the data folder is in order, svc trust/);
    assert.equal(doctor.screen.split('svc adopt shows').length, 2, 'it is shown once');

    const declined = await here(['adopt'], ['Take it over?', 'n']);
    assert.match(declined.screen, /nothing was changed/);
    const adopted = await here(['adopt'], ['Take it over?', 'y']);
    assert.equal(adopted.status, 0, adopted.screen);
    assert.match(adopted.screen, /tasks +1\n/);
    assert.match(adopted.screen, /next: svc trust/);

    const up = await here(['up']);
    assert.match(up.screen.replace(/\s+/g, ' '), /never agreed to, so nothing is started until svc trust/);
    const add = ['task', 'add', 'x', '--agent', 'scripted', '--run'];
    for (const untrusted of [add, ['task', 'add', 'x', '--agent', 'claude', '--run']])
      assert.match((await here(untrusted)).screen, /nothing is started\nhint: svc trust shows/);
    const trusted = await here(['trust'], [QUESTION, 'y']);
    assert.equal(trusted.status, 0, trusted.screen);
    assert.match(trusted.screen, /\nagents\.default_preset\n {2}in use/);
    const ran = await here(add);
    assert.equal(ran.status, 0, ran.screen);
    const status = await here(['status']);
    assert.doesNotMatch(status.screen, /svc trust|svc adopt/);
    assert.match((await here(['task', 'list'])).screen, /of the older build/);
    await ws.svc(['down', '--stop-workers']);
  });
});
