/** Outcomes of tasks. `unfinished` have not ended. */
export const OUTCOMES = ['done', 'failed', 'denied', 'cancelled', 'unfinished'] as const;
export type RunOutcome = (typeof OUTCOMES)[number];

/** A task for the figures; times are Unix ms. */
export interface CountedTask {
  status: string;
  failure_code: string | null;
  attempt: number;
  ended_at: number | null;
}

/** A session for the figures, with its decision; times are Unix ms. Tokens and cost are as its agent claims. */
export interface CountedSession {
  runs: number;
  continues: number | null;
  /** The outcome of the session that it continues. */
  former_failure: string | null;
  started_at: number | null;
  ended_at: number | null;
  promoted_at: number | null;
  tokens_in: number | null;
  tokens_cached: number | null;
  tokens_out: number | null;
  cost_usd: number | null;
  /** 1 if its promotion has met a conflict, which only the event log records. */
  has_conflict: 0 | 1;
}

export const outcomeOf = ({
  status,
  failure_code: code,
}: Pick<CountedTask, 'status' | 'failure_code'>): RunOutcome => {
  if (status === 'done') return 'done';
  if (status !== 'failed') return 'unfinished';
  return code === 'denied' || code === 'cancelled' ? code : 'failed';
};
