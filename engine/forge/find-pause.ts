import { type BackoffPolicy, backoffMs } from '../core/base/backoff.ts';
import type { SvcError } from '../core/base/errors.ts';

/** Returns the pause after a failed request, ms: the one that the code host asks for, otherwise a growing one. */
export const findPauseMs = ({ data }: SvcError, failures: number, policy: BackoffPolicy): number =>
  data.retry_after_s === undefined ? backoffMs(failures, policy) : Number(data.retry_after_s) * 1000;
