import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { awaitEvent } from '../support/workspaces/events.ts';
import { makeWorkspace } from '../support/workspaces/workspace.ts';
import { type Figure, figure, median, percentile } from './figure.ts';

const ROUNDS = 20;

/** Compares the time from the approval to the worker's process with `git worktree add` in the same repository. */
export async function approveToSpawn(): Promise<Figure[]> {
  const ws = await makeWorkspace();
  try {
    const client = await ws.connect();
    const ours: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { task_id: id } = await client.call('task.add', {
        title: 'measured',
        agent: 'scripted',
        body: 'x',
      });
      const started = awaitEvent(client, (event) => event.kind === 'session_started' && event.task_id === id);
      const ended = awaitEvent(client, (event) => event.kind === 'sealed' && event.task_id === id);
      const begin = performance.now();
      await client.call('task.run', { id });
      await started;
      ours.push(performance.now() - begin);
      await ended;
      const beginBare = performance.now();
      execFileSync(
        'git',
        ['worktree', 'add', '-q', '-b', `bare-${round}`, join(ws.repository.folder, `bare-${round}`), 'HEAD'],
        { cwd: ws.root, stdio: 'ignore' },
      );
      bare.push(performance.now() - beginBare);
    }
    return [
      figure(
        'approve to worker process, p50 (reference: git worktree add)',
        median(ours),
        'ms',
        median(bare),
      ),
      figure(
        'approve to worker process, p95 (reference: git worktree add)',
        percentile(ours, 0.95),
        'ms',
        percentile(bare, 0.95),
      ),
    ];
  } finally {
    await ws.close();
  }
}
