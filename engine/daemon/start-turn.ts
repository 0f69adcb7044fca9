import { lstatSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readPrivate, withPrivate } from '../base/private-files.ts';

/** Nobody starts an engine for longer than this, ms; a mark that is older was left behind. */
const LONGEST_MS = 20_000;
const PAUSE_MS = 25;

/**
 * One client at a time starts an engine in a data folder; the others wait until it has, or has given up. The host's own
 * lock is what keeps two engines apart: this only spares the many that would start at once, after an engine was killed,
 * to find out that they are too late. Returns the end of the turn; null when somebody else had it, and it is over.
 */
export async function takeStartTurn(data: string): Promise<(() => void) | null> {
  const file = join(data, 'starting');
  if (mark(file)) return () => rmSync(file, { force: true });
  const end = performance.now() + LONGEST_MS;
  while (isHeld(file) && performance.now() < end) await delay(PAUSE_MS);
  return null;
}

/** Whether the turn is ours; also where it cannot be marked, since it is no more than a courtesy. */
function mark(file: string): boolean {
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      withPrivate(file, 'new', (fd) => writeSync(fd, `${process.pid}\n`));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return true;
      if (isHeld(file)) return false;
      rmSync(file, { force: true });
    }
  }
  return true;
}

function isHeld(file: string): boolean {
  try {
    if (Date.now() - lstatSync(file).mtimeMs > LONGEST_MS) return false;
    const pid = Number(readPrivate(file, 32) ?? Number.NaN);
    // Empty for the moment between its making and its text.
    return pid === 0 || process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
