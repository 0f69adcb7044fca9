import { execFile } from 'node:child_process';
import { quoteForShell } from '../../../engine/core/base/text.ts';

/**
 * Runs a command line on a separate terminal, through script(1). Returns every byte that the terminal received, from
 * stdout and stderr. Without a pager, which would wait for a key, unless `env` sets one.
 */
export const runOnTerminal = (
  argv: readonly string[],
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<{ code: number; bytes: Buffer; text: string }> =>
  new Promise((resolve) => {
    const line = argv.map(quoteForShell).join(' ');
    const child = execFile(
      'script',
      ['--quiet', '--return', '--command', line, '/dev/null'],
      {
        cwd,
        env: { SVC_PAGER: 'cat', ...env, TERM: 'xterm-256color' },
        encoding: 'buffer',
        maxBuffer: 16 * 1024 * 1024,
      },
      (error, stdout) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 128;
        resolve({ code, bytes: stdout, text: stdout.toString('utf8') });
      },
    );
    child.stdin?.end();
  });
