import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { after, before, describe, it } from 'node:test';
import type { EngineClient } from '../../../engine/index.ts';
import { settled, until } from '../../support/wait.ts';
import { hasAheadFiles } from '../../support/workspaces/ahead-files.ts';
import { awaitEvent } from '../../support/workspaces/events.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

/** Names a child by its program; a git by its command. */
function nameProgram({ spawnfile, spawnargs }: ChildProcess): string {
  if (!spawnfile.endsWith('/git')) return spawnfile;
  const words = spawnargs.slice(1);
  while (words[0] === '-c') words.splice(0, 2);
  return `git ${words[0]}`;
}

/** Lists the programs that this process starts during `work`. */
async function listPrograms(work: () => Promise<unknown>): Promise<string[]> {
  const children: ChildProcess[] = [];
  const note = (message: unknown): void => void children.push((message as { process: ChildProcess }).process);
  subscribe('child_process', note);
  try {
    await work();
  } finally {
    unsubscribe('child_process', note);
  }
  return children.map(nameProgram);
}

describe('the programs that a run needs', () => {
  let ws: TestWorkspace;
  let client: EngineClient;
  before(async () => {
    ws = await makeWorkspace({ hosted: true });
    client = await ws.connect();
    // The first run tries what the machine offers.
    await run('');
  });
  after(() => ws?.close());

  async function add(body: string): Promise<string> {
    return (await client.call('task.add', { title: 'counted', agent: 'scripted', body })).task_id;
  }

  async function runTask(id: string): Promise<void> {
    const sealed = awaitEvent(client, (event) => event.kind === 'sealed' && event.task_id === id);
    await client.call('task.run', { id });
    await settled(sealed, 'the end of the run');
  }

  const run = async (body: string): Promise<void> => runTask(await add(body));

  const START = ['git worktree', '/bin/sh'];

  it('a run that changes nothing starts one git for its worktree, and its own shell', async () => {
    assert.deepEqual(await listPrograms(() => run('#agent: no-change')), START);
  });

  it('a run that commits its work needs one more git, which counts the lines', async () => {
    assert.deepEqual(await listPrograms(() => run('x')), [...START, 'git diff-tree']);
  });

  it('a run that leaves changes needs five more, which commit them', async () => {
    const commit = [
      'git status',
      'git add',
      'git write-tree',
      'git diff-tree',
      'git commit-tree',
      'git update-ref',
    ];
    assert.deepEqual(await listPrograms(() => run('#agent: dirty')), [...START, ...commit]);
  });

  it('a run of a task that waited needs no git to start', async () => {
    const id = await add('#agent: no-change');
    await until(() => hasAheadFiles(ws.root), 'files that are written ahead');
    assert.deepEqual(await listPrograms(() => runTask(id)), ['/bin/sh']);
  });

  it('files are written ahead as long as a task waits that a person may start', async () => {
    const id = await add('x');
    await until(() => hasAheadFiles(ws.root), 'files that are written ahead');
    await client.call('task.cancel', { id });
    await until(() => !hasAheadFiles(ws.root), 'their removal');
  });
});
