import { once } from 'node:events';

interface Out {
  env: NodeJS.ProcessEnv;
  stdout: NodeJS.WriteStream;
}

/** Quits immediately if the text fits, passes colours through, and leaves the text on the screen. */
const STANDARD = 'less -FRX';

/**
 * Returns the pager's command line for a terminal: `SVC_PAGER`, `PAGER`, or `less -FRX`. Null without a suitable
 * terminal, and for an empty value and `cat`.
 */
export function findPager({ env, stdout }: Out): string | null {
  if (!stdout.isTTY || (env.TERM ?? 'dumb') === 'dumb') return null;
  const pager = (env.SVC_PAGER ?? env.PAGER ?? STANDARD).trim();
  return pager === '' || pager === 'cat' ? null : pager;
}

/** Reports whether a text fits on the screen, so that no pager is needed. A line that may wrap counts as several. */
function fitsScreen(text: string, out: Pick<NodeJS.WriteStream, 'columns' | 'rows'>): boolean {
  // Some terminals report 0.
  const [columns, rows] = [out.columns || 80, out.rows || 24];
  let lines = 1;
  for (const line of text.split('\n')) {
    lines += Math.max(1, Math.ceil(line.length / columns));
    if (lines > rows) return false;
  }
  return true;
}

/** Shows a text through the pager, and resolves when it is closed. Prints the text if there is no pager or it cannot be started. */
export async function showInPager(text: string, out: Out): Promise<void> {
  const { env, stdout } = out;
  const pager = findPager(out);
  if (pager === null || (pager === STANDARD && fitsScreen(text, stdout))) {
    stdout.write(text);
    return;
  }
  // Loaded only by commands whose output uses the pager.
  const { spawn } = await import('node:child_process');
  // Runs in a shell, as git does: the pager is the person's own setting and may have options. `exec` leaves no shell in between.
  const child = spawn('/bin/sh', ['-c', `exec ${pager}`], {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { LESS: 'FRX', LV: '-c', ...env },
  });
  // Ctrl-C belongs to the pager, which does not exit on it.
  const ignore = (): void => undefined;
  process.on('SIGINT', ignore);
  try {
    // A person who quits the pager early has read enough.
    child.stdin.on('error', ignore);
    child.stdin.end(text);
    const [code] = (await once(child, 'close')) as [number | null];
    // The exit codes of a shell for a program that is missing or not executable.
    if (code === 127 || code === 126) stdout.write(text);
  } catch {
    stdout.write(text);
  } finally {
    process.off('SIGINT', ignore);
  }
}
