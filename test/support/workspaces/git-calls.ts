import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { quoteForShell } from '../../../engine/core/base/text.ts';

/** Counts the starts of git by programs with the environment `env`. */
export interface GitCallLog {
  env: { PATH: string };
  count(): number;
  clear(): void;
}

/** Puts a git that logs its starts ahead of the real one on PATH. @param folder where its files are */
export function logGitCalls(folder: string): GitCallLog {
  const own = mkdtempSync(join(folder, 'git-calls-'));
  const bin = join(own, 'bin');
  const log = join(own, 'log');
  mkdirSync(bin);
  const path = process.env.PATH ?? '';
  writeFileSync(
    join(bin, 'git'),
    `#!/bin/sh\necho x >> ${quoteForShell(log)}\nPATH=${quoteForShell(path)} exec git "$@"\n`,
  );
  chmodSync(join(bin, 'git'), 0o755);
  const clear = (): void => writeFileSync(log, '');
  clear();
  return {
    env: { PATH: [bin, path].join(delimiter) },
    count: () => readFileSync(log, 'utf8').split('\n').length - 1,
    clear,
  };
}
