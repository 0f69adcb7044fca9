import { SvcError } from './errors.ts';

/** Runs work sequentially, in order of arrival; a failure does not stop the next one. Not reentrant. */
export type SerialQueue = <T>(work: () => T | Promise<T>) => Promise<T>;

/**
 * A serial queue for each key. Rejects with `cancelled`, and skips the work, if the signal aborts before its turn; work
 * that has begun heeds the signal itself.
 */
export type KeyedQueue = <T>(
  key: string,
  work: () => T | Promise<T>,
  signal?: AbortSignal | undefined,
) => Promise<T>;

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
  return (key, work, signal) => {
    const queue = queues.get(key) ?? { enqueue: createSerialQueue(), waiting: 0 };
    queues.set(key, queue);
    queue.waiting += 1;
    return withdrawOnAbort(queue.enqueue, work, signal, () => {
      queue.waiting -= 1;
      if (queue.waiting === 0) queues.delete(key);
    });
  };
}

/** Enqueues work, and rejects at once if it is cancelled while it waits. @param onOver its turn is over */
function withdrawOnAbort<T>(
  enqueue: SerialQueue,
  work: () => T | Promise<T>,
  signal: AbortSignal | undefined,
  onOver: () => void,
): Promise<T> {
  if (signal === undefined) return enqueue(work).finally(onOver);
  const cancelled = (): SvcError => new SvcError('cancelled', 'it was cancelled before its turn');
  return new Promise((resolve, reject) => {
    const withdraw = (): void => reject(cancelled());
    const begin = (): T | Promise<T> => {
      signal.removeEventListener('abort', withdraw);
      if (signal.aborted) throw cancelled();
      return work();
    };
    if (signal.aborted) withdraw();
    signal.addEventListener('abort', withdraw, { once: true });
    enqueue(begin).finally(onOver).then(resolve, reject);
  });
}
