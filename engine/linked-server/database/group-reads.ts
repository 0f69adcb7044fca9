/** The maximum number in a query. */
const MOST_TOGETHER = 64;

interface Waiting<Result> {
  key: string;
  resolve(result: Result | undefined): void;
  reject(error: unknown): void;
}

/**
 * Combines concurrent reads of single rows into one query. Keys that arrive while it runs are in the next one, so each
 * result is from after its call.
 * @param read returns what it found, by key
 */
export function createGroupReads<Result>(
  read: (keys: readonly string[]) => Promise<ReadonlyMap<string, Result>>,
): (key: string) => Promise<Result | undefined> {
  let queue: Waiting<Result>[] = [];
  let isRunning = false;

  async function readGroup(group: readonly Waiting<Result>[]): Promise<void> {
    try {
      const found = await read([...new Set(group.map(({ key }) => key))]);
      for (const { key, resolve } of group) resolve(found.get(key));
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  async function runGroups(): Promise<void> {
    isRunning = true;
    while (queue.length > 0) {
      // Requests that have arrived together are read in this turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      const group = queue.slice(0, MOST_TOGETHER);
      queue = queue.slice(MOST_TOGETHER);
      await readGroup(group);
    }
    isRunning = false;
  }

  return (key) =>
    new Promise((resolve, reject) => {
      queue.push({ key, resolve, reject });
      if (!isRunning) void runGroups();
    });
}
