import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { impossible, makeStrict } from '../support/agents/strict.ts';
import { awaitEvent } from '../support/workspaces/events.ts';
import { CannotRun, type Figure, figure, median, percentile } from './figure.ts';

const ROUNDS = 8;
const NEW_BYTES = 10 * 1024 * 1024;

/** A worker that commits this many new, incompressible bytes and records when it was done. */
const program = (bytes: number): string => `
const { execFileSync } = require('node:child_process');
const { writeFileSync } = require('node:fs');
const git = (...args) => execFileSync('git', args, { stdio: 'inherit' });
if (${bytes} > 0) writeFileSync('blob.bin', require('node:crypto').randomBytes(${bytes}));
writeFileSync('done.txt', 'x');
git('add', '--all');
git('commit', '--quiet', '--message', 'work');
console.log('FINISHED ' + Date.now());
`;

/**
 * Measures a strict worker from the approval to its process, and from its last instruction to the end of its session.
 */
export async function strictRuns(): Promise<Figure[]> {
  if (impossible !== null) throw new CannotRun(impossible);
  const ws = await makeStrict('', { commands: { node: `'${process.execPath}' -e {{prompt}}` } });
  try {
    const client = await ws.connect();
    const bare = bareTransfer(ws.repository.folder);
    const figures: Figure[] = [];
    for (const bytes of [0, NEW_BYTES]) {
      const starts: number[] = [];
      const ends: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const { task_id: id } = await client.call('task.add', {
          title: 'measured',
          agent: 'node',
          body: program(bytes),
        });
        const started = awaitEvent(
          client,
          ({ kind, task_id }) => kind === 'session_started' && task_id === id,
        );
        const ended = awaitEvent(
          client,
          ({ kind, task_id }) => ['sealed', 'failed'].includes(kind) && task_id === id,
        );
        const begin = performance.now();
        await client.call('task.run', { id });
        // A worker that cannot start only fails.
        await Promise.race([started, ended]);
        starts.push(performance.now() - begin);
        const end = await ended;
        const now = Date.now();
        if (end.kind !== 'sealed') throw new Error(`the strict worker failed: ${JSON.stringify(end)}`);
        const log = readFileSync(join(ws.root, '.svc', 'agents', String(end.session_id), 'log'), 'utf8');
        ends.push(now - Number(/FINISHED (\d+)/.exec(log)?.[1]));
      }
      const size = bytes === 0 ? 'one small commit' : '10 MB of new objects';
      figures.push(
        figure(`strict, ${size}: approve to worker process, p50`, median(starts), 'ms'),
        figure(`strict, ${size}: approve to worker process, p95`, percentile(starts, 0.95), 'ms'),
        figure(
          `strict, ${size}: worker done to session ended, p50 (reference: git pack-objects into index-pack of 10 MB)`,
          median(ends),
          'ms',
          bare,
        ),
      );
    }
    return figures;
  } finally {
    await ws.close();
  }
}

/** Time in ms that git alone needs to copy 10 MB from one repository to another, with every object hashed. */
function bareTransfer(folder: string): number {
  const [from, to] = ['transfer-from', 'transfer-to'].map((name) => join(folder, name)) as [string, string];
  for (const each of [from, to]) execFileSync('git', ['init', '-q', each]);
  writeFileSync(join(from, 'blob.bin'), randomBytes(NEW_BYTES));
  execFileSync('git', ['-C', from, 'add', 'blob.bin']);
  execFileSync('git', [
    '-C',
    from,
    '-c',
    'user.name=b',
    '-c',
    'user.email=b@example.test',
    'commit',
    '-qm',
    'blob',
  ]);
  const samples = Array.from({ length: 3 }, () => {
    const begin = performance.now();
    execFileSync(
      'sh',
      [
        '-c',
        'echo HEAD | git -C "$1" pack-objects --revs --stdout -q | git -C "$2" index-pack --stdin --strict --fix-thin',
        'sh',
        from,
        to,
      ],
      { stdio: 'ignore' },
    );
    return performance.now() - begin;
  });
  return median(samples);
}
