import { once } from 'node:events';

interface Out {
  env: NodeJS.ProcessEnv;
  stdout: NodeJS.WriteStream;
}

/** Leaves at once what fits, lets colours through, and leaves what was read on the screen. */
const STANDARD = 'less -FRX';

/**
 * The command line of the pager for what a terminal is shown: `SVC_PAGER`, then `PAGER`, then `less -FRX`. Null where there
 * is no terminal that one could use, and for an empty one and `cat`.
 */
export function findPager({ env, stdout }: Out): string | null {
  if (!stdout.isTTY || (env.TERM ?? 'dumb') === 'dumb') return null;
  const pager = (env.SVC_PAGER ?? env.PAGER ?? STANDARD).trim();
  return pager === '' || pager === 'cat' ? null : pager;
}

/** Whether a text has fewer lines than the screen, where no pager is needed. A line that may wrap counts for several. */
function fitsScreen(text: string, out: Pick<NodeJS.WriteStream, 'columns' | 'rows'>): boolean {
  // Some terminals say 0.
  const [columns, rows] = [out.columns || 80, out.rows || 24];
  let lines = 1;
  for (const line of text.split('\n')) {
    lines += Math.max(1, Math.ceil(line.length / columns));
    if (lines > rows) return false;
  }
  return true;
}

/** Shows a text through the pager, and resolves when it is left. Without one, and where one cannot be started, it is printed. */
export async function showInPager(text: string, out: Out): Promise<void> {
  const { env, stdout } = out;
  const pager = findPager(out);
  if (pager === null || (pager === STANDARD && fitsScreen(text, stdout))) {
    stdout.write(text);
    return;
  }
  // Not loaded by a command whose output no pager shows.
  const { spawn } = await import('node:child_process');
  // A shell, as git does: a pager may have options. It is the person's own setting. `exec` leaves no shell in between.
  const child = spawn('/bin/sh', ['-c', `exec ${pager}`], {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { LESS: 'FRX', LV: '-c', ...env },
  });
  // Ctrl-C belongs to the pager, which does not end by it.
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  try {
    // Whoever leaves the pager early has read enough.
    child.stdin.on('error', ignore);
    child.stdin.end(text);
    const [code] = (await once(child, 'close')) as [number | null];
    // What a shell says of a program that is not there, or that may not be run.
    if (code === 127 || code === 126) stdout.write(text);
  } catch {
    stdout.write(text);
  } finally {
    process.off('SIGINT', ignore);
  }
}
