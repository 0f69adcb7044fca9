/**
 * Keeps this process alive until `work` has settled. What waits for a child or a timer that was let go of with `unref`
 * would be cut off otherwise as soon as nothing else is left: Node then exits with code 13 in the middle of it.
 */
export async function keepAliveDuring<T>(work: () => Promise<T>): Promise<T> {
  const hold = setInterval(() => undefined, 60_000);
  try {
    return await work();
  } finally {
    clearInterval(hold);
  }
}
