import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeFileAtomically } from '../../../core/base/atomic-file.ts';
import { makePrivateFolder } from '../../../core/base/private-files.ts';
import { quoteForShell } from '../../../core/base/text.ts';

/** @param runFolder of the run, absolute */
export const shimFile = (runFolder: string): string => join(runFolder, 'bin', 'svc');

/**
 * Writes `svc` for the worker's shells, independent of the path: this very program, and so the engine's version. Null
 * if the host has none.
 */
export function writeShim(svc: readonly string[] | null, runFolder: string): string | null {
  if (svc === null) return null;
  const file = shimFile(runFolder);
  makePrivateFolder(runFolder, dirname(file));
  const text = `#!/bin/sh\nexec ${svc.map(quoteForShell).join(' ')} "$@"\n`;
  try {
    writeFileSync(file, text, { mode: 0o700, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    // A repeated call: the first may have been killed in the middle, and the agent may use it now.
    writeFileAtomically(file, text, { mode: 0o700, isDurable: false });
  }
  return file;
}
