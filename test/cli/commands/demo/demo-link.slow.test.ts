import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { gitEnvironment, temporaryFolder } from '../../../support/workspaces/git.ts';
import { SVC } from '../../../support/workspaces/workspace.ts';

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
    /token +of .+, mode 600; it cannot decide anything/,
    /needs_approval t-1 d-1, signature verified/,
    /Approved by ann on the web\. s-1 has started\./,
    /d-1 is approved, by ann@page; t-1 is done/,
    /needs_approval t-2 d-2, signature verified/,
    /200: approved, session s-2/,
    /d-2 is approved, by n8n@automation; t-2 is done/,
  ])
    assert.match(stdout, said);
  assert.doesNotMatch(stdout, /WRONG|Write a greeting/);
  const left = readdirSync(folder);
  assert.deepEqual(left, []);
  assert.deepEqual(findProcessesOf(folder), []);
  assert.deepEqual(readdirSync(home), ['tmp'], "the demo leaves nothing in its user's home");
});
