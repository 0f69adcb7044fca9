import { setTimeout as delay } from 'node:timers/promises';
import { SvcError } from '../../../engine/index.ts';

/** What waits for another process is looked at so often, and for so long, ms. */
const LOOK_MS = 100;
const PATIENCE_MS = 30_000;

/** Looks until there is something. */
export async function waitFor<T>(
  look: () => Promise<T | null> | T | null | undefined,
  what: string,
): Promise<T> {
  for (const end = Date.now() + PATIENCE_MS; ; await delay(LOOK_MS)) {
    const found = await look();
    if (found !== null && found !== undefined) return found;
    if (Date.now() > end) throw new SvcError('internal', `timed out waiting for ${what}`);
  }
}

/** What a page says in a place. */
export function findIn(html: string, pattern: RegExp): string {
  const found = pattern.exec(html)?.[1];
  if (found === undefined) throw new SvcError('internal', 'unexpected content of a demo page');
  return found;
}
