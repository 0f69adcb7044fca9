import type { CallAuthor } from '../core/api/operation.ts';
import type { Clock } from '../core/base/clock.ts';
import type { OutcomeWord } from '../core/link-protocol/messages.ts';
import type { EventLog } from '../storage/index.ts';
import { findCodeStep } from './decide-code.ts';
import type { LinkRows } from './rows.ts';

/** Number of wrong codes that block approval from outside, and for how long. */
const MOST_FAILURES = 5;
const CLOSED_MS = 15 * 60_000;

/** Checks the one-time code, or returns the refusal. It counts attempts, so it is called once per command. */
export function checkCode(
  { rows, clock, events }: { rows: LinkRows; clock: Clock; events: Pick<EventLog, 'append'> },
  typed: string | null,
  by: CallAuthor,
): OutcomeWord | null {
  const now = clock.now();
  const row = rows.readCode();
  if (row === null) return 'code_missing';
  // Never for longer: a fast clock, which makes every code wrong, may have been corrected since.
  if (row.closed_until > now && row.closed_until <= now + CLOSED_MS) return 'code_closed';
  const step = findCodeStep(row.secret, typed ?? '', row.last_step, now);
  if (step !== null) {
    rows.markCodeUsed(step);
    return null;
  }
  // A missing code is not a guess.
  if (typed === null) return 'code_invalid';
  const failures = row.failures + 1;
  if (failures < MOST_FAILURES) {
    rows.failCode(failures, 0);
    return 'code_invalid';
  }
  rows.failCode(0, now + CLOSED_MS);
  events.append({
    kind: 'alert',
    ...by,
    data: {
      code: 'code_closed',
      title: 'wrong one-time codes',
      reason: 'five wrong codes: approval from outside is blocked for 15 minutes',
    },
  });
  return 'code_closed';
}
