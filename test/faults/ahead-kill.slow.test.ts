import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { quoteForShell } from '../../engine/core/base/text.ts';
import { settled, until } from '../support/wait.ts';
import { hasAheadFiles, listAheadFiles } from '../support/workspaces/ahead-files.ts';
import { awaitEvent } from '../support/workspaces/events.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { isRunning, makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

describe('an engine that is killed around files that are written ahead', () => {
  const own = temporaryFolder();
  const hold = join(own, 'hold');
  let ws: TestWorkspace;
  before(async () => {
    // A git that says when it writes files, and waits for as long as a file exists.
    const bin = join(own, 'bin');
    mkdirSync(bin);
    const path = process.env.PATH ?? '';
    const log = quoteForShell(join(own, 'pid'));
    writeFileSync(
      join(bin, 'git'),
      `#!/bin/sh
PATH=${quoteForShell(path)}
case "$*" in *read-tree*) echo $$ >${log}; while [ -e ${quoteForShell(hold)} ]; do sleep 0.05; done;; esac
exec git "$@"
`,
    );
    chmodSync(join(bin, 'git'), 0o755);
    ws = await makeWorkspace({ env: { PATH: [bin, path].join(delimiter) } });
  });
  after(() => ws?.close());

  const listAhead = (): string[] => listAheadFiles(ws.root);
  const isReady = (): boolean => hasAheadFiles(ws.root) && listAhead().length === 1;

  /** Lists what git knows, and what svc shows. */
  async function readLists() {
    const client = await ws.connect();
    const { worktrees } = await client.call('worktree.status', {});
    client.close();
    return {
      shown: worktrees.map(({ branch }) => branch),
      known: ws.repository.git('worktree', 'list').split('\n').length - 1,
    };
  }

  it('leaves nothing that a list shows, and the next engine removes what is left', async () => {
    writeFileSync(hold, '');
    const client = await ws.connect();
    await client.call('task.add', { title: 'waits', agent: 'scripted', body: 'x' });
    await until(() => existsSync(join(own, 'pid')), 'the start of git');
    const [killed] = listAhead();
    await ws.killDaemon();
    assert.match(killed ?? '', /\.new$/);
    assert.deepEqual(await readLists(), { shown: [], known: 0 });
    rmSync(hold);
    await until(isReady, 'other files');
    assert.notEqual(listAhead()[0], killed?.replace('.new', ''));
    const git = Number(readFileSync(join(own, 'pid'), 'utf8'));
    await until(() => !isRunning(git));
  });

  it('finished files of a killed engine are replaced, and its waiting git has ended', async () => {
    await until(isReady);
    const [before] = listAhead();
    await ws.killDaemon();
    assert.deepEqual(await readLists(), { shown: [], known: 0 });
    await until(() => isReady() && listAhead()[0] !== before, 'other files');
    const waiting = readdirSync('/proc').filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        const env = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        return words.includes('update-ref') && env.includes(`GIT_DIR=${join(ws.root, '.git')}`);
      } catch {
        return false;
      }
    });
    assert.equal(waiting.length, 1);
  });

  it('a run takes them after that, and an engine that stops leaves none', async () => {
    const client = await ws.connect();
    await until(isReady);
    const [task] = (await client.call('task.list', {})).tasks;
    const id = task?.task_id ?? '';
    const sealed = awaitEvent(client, (event) => event.kind === 'sealed' && event.task_id === id);
    await client.call('task.run', { id });
    await settled(sealed, 'the end of the run');
    assert.deepEqual(await readLists(), { shown: ['svc/s-1'], known: 1 });
    await client.call('task.add', { title: 'waits', agent: 'scripted', body: 'x' });
    await until(isReady);
    const pid = ws.daemonPid() ?? 0;
    await client.call('engine.stop', { stop_workers: true });
    await until(() => !isRunning(pid));
    assert.deepEqual(listAhead(), []);
  });
});
