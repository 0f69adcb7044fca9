/** The share of time that the work may take: one tenth. */
const TIMES_ITS_LENGTH = 9;

/** Runs work that many events ask for. */
export interface PacedCall {
  /** Runs it at the next turn, or at the end of the pause after the last time. */
  request(): void;
  close(): void;
}

/**
 * Runs work soon after it is requested, however often: requests within a pause lead to one run. The pause is longer
 * after work that took long, so that a burst of events does not occupy the process.
 * @param pauseMs the shortest pause
 */
export function createPacedCall(work: () => void, pauseMs: number): PacedCall {
  let timer: NodeJS.Timeout | null = null;
  let nextAt = 0;
  let isClosed = false;

  function run(): void {
    timer = null;
    const begun = performance.now();
    try {
      work();
    } finally {
      const end = performance.now();
      nextAt = end + Math.max(pauseMs, TIMES_ITS_LENGTH * (end - begun));
    }
  }

  return {
    request() {
      if (isClosed || timer !== null) return;
      timer = setTimeout(run, Math.max(0, nextAt - performance.now())).unref();
    },
    close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}
