import { execFile } from 'node:child_process';
import { sep } from 'node:path';
import { findProgram } from '../../../agents/index.ts';

/** Everything as outside except the process table. Root keeps its rights; an ordinary user has none to keep. */
const buildNamespaceWrapper = (): string[] => [
  ...['--dev-bind', '/', '/', '--unshare-pid', '--proc', '/proc'],
  ...(process.getuid?.() === 0 ? ['--cap-add', 'ALL'] : []),
];

/**
 * bubblewrap's path, after a trial; null where it is missing or not allowed. Its first process inside has the run's
 * mark, which nothing inside can remove, and becomes the parent of every orphan: killing it kills all.
 */
export async function findNamespaceTool(path: string | undefined): Promise<string | null> {
  if (process.platform !== 'linux') return null;
  const program = findProgram('bwrap', { cwd: sep, path });
  if (program === undefined) return null;
  return new Promise((done) => {
    execFile(program, [...buildNamespaceWrapper(), '--', '/bin/sh', '-c', ':'], { timeout: 5000 }, (error) =>
      done(error === null ? program : null),
    );
  });
}

export const wrapInNamespace = (program: string, argv: readonly string[]): string[] => [
  program,
  ...buildNamespaceWrapper(),
  '--',
  ...argv,
];
