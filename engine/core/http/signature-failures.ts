import type { Clock } from '../base/clock.ts';
import { SvcError } from '../base/errors.ts';

/** Counts failed signatures per address. A valid signature is never refused because of earlier failures. */
export interface SignatureFailures {
  /** Records a failure from `remote`. Returns null, or the seconds to wait after too many. */
  recordFailure(remote: string): number | null;
}

interface Count {
  since: number;
  failures: number;
}

/** Allows `limit` failures per window and address; when `addresses` are tracked, the oldest count is dropped. */
export function createFailures({
  clock,
  limit = 50,
  windowMs = 60_000,
  addresses = 1000,
}: {
  clock: Clock;
  limit?: number;
  windowMs?: number;
  addresses?: number;
}): SignatureFailures {
  const counts = new Map<string, Count>();
  return {
    recordFailure(remote) {
      const now = clock.monotonic();
      let count = counts.get(remote);
      if (count === undefined || now - count.since >= windowMs) {
        counts.delete(remote);
        if (counts.size >= addresses) counts.delete(counts.keys().next().value as string);
        count = { since: now, failures: 0 };
        counts.set(remote, count);
      }
      count.failures += 1;
      if (count.failures <= limit) return null;
      return Math.max(1, Math.ceil((count.since + windowMs - now) / 1000));
    },
  };
}

/** Returns the error for an invalid signature, after counting it. */
export function refuseSignature(failures: SignatureFailures, remote: string): SvcError {
  const pause = failures.recordFailure(remote);
  if (pause === null)
    return new SvcError('signature_invalid', 'the signature is missing, malformed or wrong');
  return new SvcError('too_many_failures', 'too many failed signatures came from this address', {
    hint: 'a request with a valid signature is still accepted',
    data: { retry_after_s: pause },
  });
}
