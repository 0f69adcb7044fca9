import { lstatSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readPrivate, withPrivate } from '../core/base/private-files.ts';

/** No start takes longer than this, ms; an older mark was left behind. */
const LONGEST_MS = 20_000;
const PAUSE_MS = 25;

/**
 * Lets one client at a time start an engine in a data folder; the others wait until it has started or failed. The
 * host's lock keeps two engines apart: this only avoids many hosts starting concurrently after an engine was killed.
 * Returns the function that ends the turn; null if another client had it, once that is over.
 */
export async function takeStartTurn(data: string): Promise<(() => void) | null> {
  const file = join(data, 'starting');
  if (markTurn(file)) return () => rmSync(file, { force: true });
  const end = performance.now() + LONGEST_MS;
  while (isTurnHeld(file) && performance.now() < end) await delay(PAUSE_MS);
  return null;
}

/** Reports whether the turn is ours. Also true if it cannot be marked: it is only a courtesy. */
function markTurn(file: string): boolean {
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      withPrivate(file, 'new', (fd) => writeSync(fd, `${process.pid}\n`));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return true;
      if (isTurnHeld(file)) return false;
      rmSync(file, { force: true });
    }
  }
  return true;
}

function isTurnHeld(file: string): boolean {
  try {
    if (Date.now() - lstatSync(file).mtimeMs > LONGEST_MS) return false;
    const pid = Number(readPrivate(file, 32) ?? Number.NaN);
    // Empty for a moment between its creation and its text.
    return pid === 0 || process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
