import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { gitEnvironment, temporaryFolder } from '../../support/git.ts';
import { SVC } from '../../support/workspace.ts';

/** Processes that were started with this folder for temporary files. */
const findProcessesOf = (folder: string): string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`TMPDIR=${folder}`);
      } catch {
        return false;
      }
    });

it('svc demo --link shows the whole way over a server, and leaves no process and no file behind', async () => {
  const home = temporaryFolder('demo-home-');
  const folder = join(home, 'tmp');
  mkdirSync(folder);
  const { stdout } = await promisify(execFile)(process.execPath, [SVC, 'demo', '--link'], {
    cwd: home,
    env: { ...gitEnvironment(), HOME: home, TMPDIR: folder, XDG_DATA_HOME: join(home, 'data') },
    timeout: 120_000,
  });
  for (const said of [
    /token +of .+, mode 600; it can decide nothing/,
    /needs_approval t-1 d-1, signature verified/,
    /Approved by ann on the web\. s-1 has started\./,
    /d-1 is approved, by ann@page; t-1 is done/,
    /needs_approval t-2 d-2, signature verified/,
    /200: approved, session s-2/,
    /d-2 is approved, by n8n@automation; t-2 is done/,
    /Telegram ann sends [A-Z]{4}-[A-Z]{4} to the bot, and says on the page that Ann, id 4201, is she/,
    /Slack +she sends [A-Z]{4}-[A-Z]{4} in #approvals, and lets the bot speak there/,
    /d-3 about t-3, fingerprint [0-9a-f]{8}\n +\[Approve\] \[Deny\] \[Open\]/,
    /message +Approved by ann in Telegram\. s-3 has started\. Its buttons are gone\./,
    /d-3 is approved, by ann@telegram; t-3 is done/,
    /d-4 about t-4, fingerprint [0-9a-f]{8}\n +\[Approve\] \[Deny\] \[Open\]/,
    /message +Approved by ann in Slack\. s-4 has started\. Its buttons are gone\./,
    /d-4 is approved, by ann@slack; t-4 is done/,
  ])
    assert.match(stdout, said);
  assert.doesNotMatch(stdout, /WRONG|Write a greeting/);
  const left = readdirSync(folder);
  assert.deepEqual(left, []);
  assert.deepEqual(findProcessesOf(folder), []);
  assert.deepEqual(readdirSync(home), ['tmp'], 'nothing of the demo is in the home of its user');
});
