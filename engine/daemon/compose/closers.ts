import { keepAliveDuring } from '../../core/base/keep-alive.ts';

/** Collects what has to be closed, and closes it in the opposite order. */
export function createClosers() {
  const closers: (() => unknown)[] = [];
  return {
    closing: (close: () => unknown): void => void closers.push(close),
    unwind: (): Promise<void> =>
      keepAliveDuring(async () => {
        for (const close of closers.splice(0).reverse()) await close();
      }),
  };
}
