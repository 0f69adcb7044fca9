import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EngineClient } from '../../engine/index.ts';
import { until } from '../support/wait.ts';
import { hasAheadFiles } from '../support/workspaces/ahead-files.ts';
import type { SeenEvent } from '../support/workspaces/events.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';
import { type Figure, figure, median, percentile } from './figure.ts';

const ROUNDS = 20;
const PERSON = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.test'];

/**
 * Compares the time from the approval to the worker's process with `git worktree add` in the same repository, without
 * and with files that were written ahead; and the time from the worker's end to its record with the git commands that
 * its work needs at least.
 */
export async function approveToSpawn(): Promise<Figure[]> {
  const ws = await makeWorkspace({ commands: { shell: '/bin/sh {{prompt_file}}' } });
  try {
    return [
      ...(await measureStarts(ws, { isAhead: false })),
      ...(await measureStarts(ws, { isAhead: true })),
      ...(await measureEnds(ws)),
    ];
  } finally {
    await ws.close();
  }
}

async function measureStarts(ws: TestWorkspace, { isAhead }: { isAhead: boolean }): Promise<Figure[]> {
  const client = await ws.connect();
  const events = await followEvents(client);
  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const id = await addTask(client, 'scripted', 'x');
    if (isAhead) await until(() => hasAheadFiles(ws.root), 'files written ahead');
    const started = events.waitFor(id, 'session_started');
    const ended = events.waitFor(id, 'sealed');
    const begin = performance.now();
    await client.call('task.run', { id });
    await started;
    ours.push(performance.now() - begin);
    await ended;
    const name = `bare-${isAhead ? 'ahead' : 'new'}-${round}`;
    const add = ['worktree', 'add', '-q', '-b', name, join(ws.repository.folder, name), 'HEAD'];
    bare.push(timeOf(() => runGitIn(ws.root, add)));
  }
  client.close();
  const what = `approve to worker process${isAhead ? ' with files written ahead' : ''}`;
  const reference = '(reference: git worktree add)';
  return [
    figure(`${what}, p50 ${reference}`, median(ours), 'ms', median(bare)),
    figure(`${what}, p95 ${reference}`, percentile(ours, 0.95), 'ms', percentile(bare, 0.95)),
  ];
}

const COMMIT = [...PERSON, 'commit', '-q', '--all', '-m', 'work'];

async function measureEnds(ws: TestWorkspace): Promise<Figure[]> {
  const change = 'echo more >> app/main.txt';
  const left = await timeEnds(ws, change);
  const committed = await timeEnds(ws, `${change}; git ${COMMIT.join(' ')}`);
  const bare = { commit: [] as number[], diff: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const folder = join(ws.repository.folder, 'bare-new-0');
    ws.repository.write(join(folder, 'app/main.txt'), `${round}\n`);
    bare.commit.push(timeOf(() => ['status', 'add -A'].map((each) => runGitIn(folder, each.split(' ')))));
    bare.commit[round]! += timeOf(() => runGitIn(folder, COMMIT));
    bare.diff.push(timeOf(() => runGitIn(folder, ['diff', '--numstat', 'HEAD~1', 'HEAD'])));
  }
  return [
    figure(
      'end of a worker to its record, uncommitted work, p50 (reference: git status, add and commit)',
      median(left),
      'ms',
      median(bare.commit),
    ),
    figure(
      'end of a worker to its record, committed work, p50 (reference: git diff --numstat)',
      median(committed),
      'ms',
      median(bare.diff),
    ),
  ];
}

/** Measures from the last instruction of workers that run a command to the event of their end. */
async function timeEnds(ws: TestWorkspace, command: string): Promise<number[]> {
  const client = await ws.connect();
  const events = await followEvents(client);
  const file = join(ws.repository.folder, 'ended');
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const id = await addTask(client, 'shell', `${command}; date +%s%N >'${file}'; echo done`);
    const ended = events.waitFor(id, 'sealed').then(() => performance.timeOrigin + performance.now());
    await client.call('task.run', { id });
    times.push((await ended) - Number(readFileSync(file, 'utf8')) / 1e6);
  }
  client.close();
  return times;
}

async function addTask(client: EngineClient, agent: string, body: string): Promise<string> {
  return (await client.call('task.add', { title: 'measured', agent, body })).task_id;
}

/** Follows all events with one subscription: the engine sends each event once for each of them. */
async function followEvents(client: EngineClient) {
  const waiting = new Map<string, () => void>();
  await client.subscribe('events.subscribe', {}, ({ params }) => {
    const { kind, task_id } = params.event as SeenEvent;
    waiting.get(`${task_id} ${kind}`)?.();
  });
  return {
    waitFor: (taskId: string, kind: string): Promise<void> =>
      new Promise((resolve) => waiting.set(`${taskId} ${kind}`, resolve)),
  };
}

const runGitIn = (cwd: string, args: readonly string[]): Buffer =>
  execFileSync('git', args, { cwd, stdio: ['ignore', 'pipe', 'ignore'] });

function timeOf(work: () => unknown): number {
  const begin = performance.now();
  work();
  return performance.now() - begin;
}
