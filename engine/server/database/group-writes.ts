/** Turns of the event loop from the first piece to its write: what arrives together shares a commit, and a lone one waits for microseconds. */
const TURNS = 3;
/** So many at most share a commit. */
const MOST_TOGETHER = 64;

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Makes one write of what several callers ask for at about the same time, since what takes long is the commit.
 * @param write one transaction for all of them, which gives each its result in order, or keeps none of them
 */
export function createGroupWrites<Item, Result>(
  write: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  let queue: Waiting<Item, Result>[] = [];
  let isRunning = false;

  async function writeGroup(group: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await write(group.map(({ item }) => item));
      for (const [index, { resolve }] of group.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (group.length === 1) group[0]?.reject(error);
      // One that cannot be kept takes no other along.
      else for (const each of group) await writeGroup([each]);
    }
  }

  async function run(): Promise<void> {
    isRunning = true;
    for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    while (queue.length > 0) {
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
