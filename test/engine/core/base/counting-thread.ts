import { threadId, workerData } from 'node:worker_threads';
import { answerThreadCalls } from '../../../../engine/core/base/thread-calls.ts';

/** Messages to the thread. */
export interface CountingCalls {
  count: { takes: number; answers: number; tells: number };
  startedWith: { takes: null; answers: unknown };
  whoAmI: { takes: null; answers: number };
  fail: { takes: string; answers: never };
  never: { takes: null; answers: null };
  die: { takes: null; answers: null };
}

answerThreadCalls<CountingCalls>({
  count(most, tell) {
    for (let each = 1; each <= most; each += 1) tell(each);
    return most;
  },
  startedWith: () => workerData,
  whoAmI: () => threadId,
  fail(why) {
    throw new Error(why);
  },
  never: () => new Promise(() => undefined),
  die: () => process.exit(3),
});
