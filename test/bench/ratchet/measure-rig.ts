import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../../support/workspaces/git.ts';
import { CannotRun } from '../figure.ts';
import type { GuardedFigures } from './limits.ts';
import type { ChildAnswer, MeasuredTime, MeasuredWork } from './measure-child.ts';
import type { CountedWork } from './operation.ts';
import { findLeastWork, readTrace, TRACED } from './trace.ts';

const CHILD = fileURLToPath(new URL('./measure-child.js', import.meta.url));

type Kind = 'processor' | 'work';

/** The work that one process measures. */
export interface RigPart {
  rig: string;
  kind: Kind;
  operations: readonly string[];
}

function startChild({ rig, kind, operations }: RigPart, trace: string | null): ChildProcess {
  const words = [CHILD, rig, kind, JSON.stringify(operations)];
  const strace = [
    '-f',
    '--seccomp-bpf',
    '-y',
    '-qq',
    '-s',
    '0',
    '-e',
    'signal=none',
    '-e',
    `trace=${TRACED}`,
  ];
  const [program, ...args] =
    trace === null
      ? [process.execPath, ...words]
      : ['strace', ...strace, '-o', trace, process.execPath, ...words];
  return spawn(program as string, args, {
    // As in the built dashboard: React's development build is several times slower.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

/**
 * Measures operations of a rig in a separate process.
 * @param canTrace false without strace: then only SQL statements are counted
 */
export async function measureRigPart(part: RigPart, canTrace: boolean): Promise<Map<string, GuardedFigures>> {
  const folder = temporaryFolder('svc-bench-');
  try {
    const trace = part.kind === 'work' && canTrace ? join(folder, 'trace') : null;
    const child = startChild(part, trace);
    let answer: ChildAnswer | null = null;
    child.on('message', (message) => {
      answer = message as ChildAnswer;
    });
    const [code] = await once(child, 'exit');
    const said = answer as ChildAnswer | null;
    if (said !== null && 'cannotRun' in said) throw new CannotRun(said.cannotRun);
    if (said === null || code !== 0) throw new Error(`the operations of ${part.rig} were not measured`);
    if (part.kind === 'processor') return toTimes(said.measured as Record<string, MeasuredTime>);
    const text = trace === null ? null : readFileSync(trace, 'utf8');
    return toWork(said.measured as Record<string, MeasuredWork>, text);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const round = (ratio: number): number => Number(ratio.toPrecision(3));

const toTimes = (measured: Record<string, MeasuredTime>): Map<string, GuardedFigures> =>
  new Map(
    Object.entries(measured).map(([name, { ours, reference }]) => [name, { time: round(ours / reference) }]),
  );

function toWork(measured: Record<string, MeasuredWork>, trace: string | null): Map<string, GuardedFigures> {
  const traced = trace === null ? null : readTrace(trace);
  return new Map(
    Object.entries(measured).map(([name, { calls, statements }]) => {
      const blocks = statements.map(
        (count, at): CountedWork => ({
          ...(traced?.get(name)?.[at] ?? { processes: 0, files: 0, syncs: 0, read: 0, written: 0 }),
          statements: count,
        }),
      );
      const work = findLeastWork(blocks, calls);
      return [name, traced === null ? { statements: work.statements } : work];
    }),
  );
}
