import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
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
  writeFileSync(file, `#!/bin/sh\nexec ${svc.map(quoteForShell).join(' ')} "$@"\n`, {
    mode: 0o700,
    flag: 'wx',
  });
  return file;
}
