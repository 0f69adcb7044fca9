/** So many at most share a commit. */
const MOST_TOGETHER = 64;

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Makes one write of what several callers ask for at about the same time, since what takes long is the commit. */
export function createGroupWrites<Item, Result>({
  write,
  sync,
}: {
  /** One transaction for all of them, which gives each its result in order, or keeps none of them. */
  write(items: readonly Item[]): Promise<readonly Result[]>;
  /** Awaited before a result is given, while the next group is written already. */
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
      // One that cannot be kept takes no other along.
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

  /** Waits for turns of the event loop as long as each brings more: a lone piece waits for microseconds. */
  async function gather(): Promise<void> {
    for (let before = 0; before < queue.length && queue.length < MOST_TOGETHER; ) {
      before = queue.length;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function run(): Promise<void> {
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
      if (!isRunning) void run();
    });
}
