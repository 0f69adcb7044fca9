import { sep } from 'node:path';
import { findProgram } from '../../../agents/index.ts';
import { runProgram } from '../../../base/run-program.ts';

/** Everything as outside but the process table. Root keeps its rights; an ordinary user has none to keep. */
const words = (): string[] => [
  ...['--dev-bind', '/', '/', '--unshare-pid', '--proc', '/proc'],
  ...(process.getuid?.() === 0 ? ['--cap-add', 'ALL'] : []),
];

/**
 * bubblewrap's path, tried out; null where it is not or may not. Its first process inside has the run's mark, which
 * nothing inside can take off it, and becomes the parent of whatever loses its own: killing it ends all.
 */
export async function findNamespaceTool(path: string | undefined): Promise<string | null> {
  if (process.platform !== 'linux') return null;
  const program = findProgram('bwrap', { cwd: sep, path });
  if (program === undefined) return null;
  const trial = [...words(), '--', '/bin/sh', '-c', ':'];
  const { exitCode } = await runProgram(program, trial, { timeoutMs: 5000 });
  return exitCode === 0 ? program : null;
}

export const inNamespace = (program: string, argv: readonly string[]): string[] => [
  program,
  ...words(),
  '--',
  ...argv,
];
