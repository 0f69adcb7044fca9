import { setTimeout as delay } from 'node:timers/promises';
import { SvcError } from '../../../engine/core/base/errors.ts';

/** Interval and limit for polling another process, ms. */
const LOOK_MS = 100;
const PATIENCE_MS = 30_000;

/** Polls until there is a result. */
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

/** Returns the text of a page at a pattern. */
export function findIn(html: string, pattern: RegExp): string {
  const found = pattern.exec(html)?.[1];
  if (found === undefined) throw new SvcError('internal', 'unexpected content of a demo page');
  return found;
}
