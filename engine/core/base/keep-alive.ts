/**
 * Keeps this process alive until `work` has settled. Waiting for an unreferenced child or timer would otherwise be
 * cut off when nothing else is left: Node then exits with code 13.
 */
export async function keepAliveDuring<T>(work: () => Promise<T>): Promise<T> {
  const hold = setInterval(() => undefined, 60_000);
  try {
    return await work();
  } finally {
    clearInterval(hold);
  }
}
