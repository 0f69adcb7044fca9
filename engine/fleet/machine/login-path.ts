import { DEFAULT_PATH } from '../../core/base/find-program.ts';
import { readProgramEnd } from '../../core/base/read-program-end.ts';

const PATIENCE_MS = 10_000;
const MOST_BYTES = 1024 * 1024;
const MARK = 'svc-environment';

/**
 * Reads PATH as the person's own shell sets it: ssh starts programs without the files in which version managers add
 * theirs. Returns `otherwise` if no shell answers.
 */
export async function readLoginPath(env: NodeJS.ProcessEnv, otherwise = env.PATH): Promise<string> {
  const shell = env.SHELL ?? '/bin/sh';
  // A login shell that is interactive reads all of its files; some shells refuse the combination.
  for (const flags of [['-l', '-i'], ['-l'], []]) {
    const { text: stdout } = await readProgramEnd(shell, [...flags, '-c', `echo ${MARK}; env`], {
      cwd: process.cwd(),
      env: { ...env, TERM: 'dumb' },
      timeoutMs: PATIENCE_MS,
      mostBytes: MOST_BYTES,
    });
    const lines = stdout.slice(stdout.lastIndexOf(MARK)).split('\n');
    const found = lines.find((line) => line.startsWith('PATH=/'));
    if (stdout.includes(MARK) && found !== undefined) return found.slice('PATH='.length);
  }
  return otherwise ?? DEFAULT_PATH;
}
