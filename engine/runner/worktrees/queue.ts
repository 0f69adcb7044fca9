/** Runs one change after another per key, in order of arrival. */
export type Queue = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Changes to one repository's refs and worktree list go one at a time: git itself answers a second one with
 * "index.lock exists" or "cannot lock ref" instead of waiting. Reads do not queue. Not reentrant.
 */
export function createQueue(): Queue {
  const last = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve();
    const result = before.then(work, work);
    const settled = result.catch(() => {});
    last.set(key, settled);
    void settled.then(() => {
      if (last.get(key) === settled) last.delete(key);
    });
    return result;
  };
}

/** `map` for asynchronous work with at most `limit` running at once; the results keep their order. */
export async function mapLimit<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length);
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const index = next;
      next += 1;
      results[index] = await work(items[index]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  return results;
}
