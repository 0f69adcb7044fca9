import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectToEngine } from '../../engine/index.ts';
import { awaitEvent } from '../support/workspaces/events.ts';
import { AGENT, makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';
import { type Figure, figure } from './figure.ts';

const TASKS = 50;
const SLOTS = 8;

/** Compares a queue of tasks, each with an edit and a commit, with the same program in plain worktrees. */
export async function scale(): Promise<Figure[]> {
  const ws = await makeWorkspace();
  try {
    const daemon = [process.execPath, SVC, 'daemon', '--max-workers', String(SLOTS)];
    const client = await connectToEngine({ cwd: ws.root, env: ws.env, daemon });
    try {
      const ids: string[] = [];
      for (let at = 0; at < TASKS; at += 1) {
        const body = `task ${at}\n#agent: edit file-${at}.txt hello`;
        ids.push((await client.call('task.add', { body, agent: 'scripted' })).task_id);
      }
      const ended = Promise.all(
        ids.map((id) => awaitEvent(client, ({ kind, task_id }) => kind === 'sealed' && task_id === id)),
      );
      const begin = performance.now();
      await Promise.all(ids.map((id) => client.call('task.run', { id })));
      await ended;
      const ours = performance.now() - begin;
      const pid = ws.daemonPid();
      const [, peakKiB = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
      const bare = await plain(ws);
      return [
        figure(`${TASKS} tasks through ${SLOTS} slots (reference: plain runs)`, ours, 'ms', bare),
        figure('peak memory of the engine', Number(peakKiB) / 1024, 'MiB'),
      ];
    } finally {
      client.close();
    }
  } finally {
    await ws.close();
  }
}

async function plain(ws: TestWorkspace): Promise<number> {
  let next = 0;
  const env = {
    ...ws.env,
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap((who) => [
        [`GIT_${who}_NAME`, 'Plain'],
        [`GIT_${who}_EMAIL`, 'plain@example.test'],
      ]),
    ),
  };
  const run = async (cwd: string, program: string, ...words: string[]): Promise<void> => {
    const [code] = await once(spawn(program, words, { cwd, env, stdio: 'ignore' }), 'close');
    if (code !== 0) throw new Error(`${program} ended with ${code}`);
  };
  // Two of them at the same time in one repository may fail on each other's locks.
  let adding: Promise<void> = Promise.resolve();
  const add = (at: number, cwd: string): Promise<void> => {
    adding = adding.then(() => run(ws.root, 'git', 'worktree', 'add', '-q', '-b', `plain-${at}`, cwd));
    return adding;
  };
  async function slot(): Promise<void> {
    while (next < TASKS) {
      const at = next++;
      const cwd = join(ws.repository.folder, `plain-${at}`);
      await add(at, cwd);
      await run(cwd, process.execPath, AGENT, '--', `task ${at}\n#agent: edit file-${at}.txt hello`);
    }
  }
  const begin = performance.now();
  await Promise.all(Array.from({ length: SLOTS }, slot));
  return performance.now() - begin;
}
