import { sep } from 'node:path';
import { findProgram } from '../../../base/find-program.ts';
import { runProgram } from '../../../base/run-program.ts';

/** Everything as outside except the process table. Root keeps its rights; an ordinary user has none to keep. */
const buildNamespaceWrapper = (): string[] => [
  ...['--dev-bind', '/', '/', '--unshare-pid', '--proc', '/proc'],
  ...(process.getuid?.() === 0 ? ['--cap-add', 'ALL'] : []),
];

/**
 * Returns bubblewrap's path, after a trial; null if it is missing or not allowed. Its first process inside has the
 * run's mark, which nothing inside can remove, and becomes the parent of every orphan: killing it kills all.
 */
export async function findNamespaceTool(path: string | undefined): Promise<string | null> {
  const program = findProgram('bwrap', { cwd: sep, path });
  if (program === undefined) return null;
  const trial = [...buildNamespaceWrapper(), '--', '/bin/sh', '-c', ':'];
  const { exitCode } = await runProgram(program, trial, { timeoutMs: 5000 });
  return exitCode === 0 ? program : null;
}

export const wrapInNamespace = (program: string, argv: readonly string[]): string[] => [
  program,
  ...buildNamespaceWrapper(),
  '--',
  ...argv,
];
