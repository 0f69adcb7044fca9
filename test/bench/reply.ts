import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Resolves with the next message of a bench process. Throws if the process ends first. */
export async function reply<T>(from: ChildProcess): Promise<T> {
  const ending = new AbortController();
  const { signal } = ending;
  try {
    const gone = once(from, 'exit', { signal }).then(() => {
      throw new Error('a process of the bench ended early');
    });
    const [message] = await Promise.race([once(from, 'message', { signal }), gone]);
    return message as T;
  } finally {
    ending.abort();
  }
}
