/** Runs one piece of work after another, in order of arrival; one that fails does not keep the next from running. Not reentrant. */
export type SerialQueue = <T>(work: () => T | Promise<T>) => Promise<T>;

/** A serial queue for each key. */
export type KeyedQueue = <T>(key: string, work: () => T | Promise<T>) => Promise<T>;

/** An empty piece of work resolves when all before it are over. */
export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

/** Keys are forgotten once nothing waits behind them. */
export function createKeyedQueue(): KeyedQueue {
  const queues = new Map<string, { enqueue: SerialQueue; waiting: number }>();
  return (key, work) => {
    const queue = queues.get(key) ?? { enqueue: createSerialQueue(), waiting: 0 };
    queues.set(key, queue);
    queue.waiting += 1;
    return queue.enqueue(work).finally(() => {
      queue.waiting -= 1;
      if (queue.waiting === 0) queues.delete(key);
    });
  };
}
