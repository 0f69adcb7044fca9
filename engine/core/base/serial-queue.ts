/** Runs work sequentially, in order of arrival; a failure does not stop the next one. Not reentrant. */
export type SerialQueue = <T>(work: () => T | Promise<T>) => Promise<T>;

/** A serial queue for each key. */
export type KeyedQueue = <T>(key: string, work: () => T | Promise<T>) => Promise<T>;

/** Creates a serial queue. Empty work resolves when all earlier work is over. */
export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

/**
 * Creates calls that are shared while they wait, one at a time for each key: a caller gets the result of work that
 * begins after it has asked, not of work in progress, which may have read older state.
 */
export function createFreshCalls<T>(): (key: string, work: () => Promise<T>) => Promise<T> {
  const enqueue = createKeyedQueue();
  const waiting = new Map<string, Promise<T>>();
  return (key, work) => {
    const begin = (): Promise<T> => {
      waiting.delete(key);
      return work();
    };
    const call = waiting.get(key) ?? enqueue(key, begin);
    waiting.set(key, call);
    return call;
  };
}

/** Creates a serial queue for each key. Keys are forgotten once their queue is empty. */
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
