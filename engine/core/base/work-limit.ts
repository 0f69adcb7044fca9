/** Runs work at once, or once an earlier one is over if too many run already, in order of arrival. */
export type WorkLimit = <T>(work: () => Promise<T>) => Promise<T>;

/** Lets at most so much work run at the same time. */
export function createWorkLimit(most: number): WorkLimit {
  let free = most;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
