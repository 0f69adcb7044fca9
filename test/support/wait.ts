import { setTimeout as delay } from 'node:timers/promises';

const DAY_MS = 24 * 3600_000;

/**
 * Waits until a condition holds and returns its truthy value. The limit does not test speed: it only ends a test
 * whose condition never holds.
 * @param what names it in the error, as a function with what was last seen of it
 */
export async function until<T>(
  condition: () => T | Promise<T>,
  what: string | (() => string) = 'the condition',
  limitMs = 60_000,
): Promise<Exclude<T, null | undefined | false | '' | 0>> {
  const deadline = performance.now() + limitMs;
  const name = (): string => (typeof what === 'string' ? what : what());
  for (;;) {
    const begun = performance.now();
    const looked = condition();
    // Twice the limit, so that a nested wait times out first and its name shows.
    const value = looked instanceof Promise ? await settled(looked, name(), 2 * limitMs) : looked;
    if (value) return value as Exclude<T, null | undefined | false | '' | 0>;
    if (performance.now() > deadline) throw new Error(`waited ${limitMs} ms in vain for ${name()}`);
    // A check that starts programs takes CPU time from the programs under test.
    await delay(Math.min(100, Math.max(10, 9 * (performance.now() - begun))));
  }
}

/** Time limit of a test that runs real programs with real clocks. */
const LONGEST_OF_DAY_MS = 60_000;

/** Resolves once the UTC day will last for a while, for tests of programs that count by the day. */
export async function awaitQuietDay(): Promise<void> {
  const left = DAY_MS - (Date.now() % DAY_MS);
  if (left < LONGEST_OF_DAY_MS) await delay(left);
}

/** Awaits a promise that does not keep the process alive, such as the exit of an unref'ed child. */
export async function settled<T>(promise: Promise<T>, what = 'the promise', limitMs = 60_000): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error(`waited ${limitMs} ms in vain for ${what}`)), limitMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
