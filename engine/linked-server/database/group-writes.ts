/** The maximum number that shares a commit. */
const MOST_TOGETHER = 64;

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Combines concurrent writes of several callers into one, since the commit is the slow part. */
export function createGroupWrites<Item, Result>({
  write,
  sync,
}: {
  /** One transaction for all of them, which returns their results in order, or stores none of them. */
  write(items: readonly Item[]): Promise<readonly Result[]>;
  /** Awaited before a result is returned, while the next group is already being written. */
  sync(): Promise<void>;
}): (item: Item) => Promise<Result> {
  let queue: Waiting<Item, Result>[] = [];
  let isRunning = false;

  async function writeGroup(group: readonly Waiting<Item, Result>[]): Promise<void> {
    let results: readonly Result[];
    try {
      results = await write(group.map(({ item }) => item));
    } catch (error) {
      if (group.length === 1) group[0]?.reject(error);
      // A failing write must not take others along.
      else for (const each of group) await writeGroup([each]);
      return;
    }
    sync().then(
      () => {
        for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result);
      },
      (error: unknown) => {
        for (const { reject } of group) reject(error);
      },
    );
  }

  /** Waits for turns of the event loop as long as each brings more: a single write waits for microseconds. */
  async function gather(): Promise<void> {
    for (let before = 0; before < queue.length && queue.length < MOST_TOGETHER; ) {
      before = queue.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function runGroup(): Promise<void> {
    isRunning = true;
    while (queue.length > 0) {
      await gather();
      const group = queue.slice(0, MOST_TOGETHER);
      queue = queue.slice(MOST_TOGETHER);
      await writeGroup(group);
    }
    isRunning = false;
  }

  return (item) =>
    new Promise<Result>((resolve, reject) => {
      queue.push({ item, resolve, reject });
      if (!isRunning) void runGroup();
    });
}
