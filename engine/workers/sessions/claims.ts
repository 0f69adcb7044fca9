import { parseId } from '../../core/base/ids.ts';
import type { Storage } from '../../storage/index.ts';
import { type ClaimedUsage, estimateByClaim, type SessionUsage } from './usage.ts';

interface DayRow {
  tokens_in: number;
  tokens_cached: number;
  tokens_out: number;
  cost_usd: number | null;
  unpriced: number;
}

/** Sums what agents claim about runs that the gateway has not counted. */
export function createClaims({ db }: Pick<Storage, 'db'>) {
  const ofTask = db.prepare<unknown[], { tokens: number }>(
    'SELECT coalesce(sum(tokens_in + tokens_out), 0) AS tokens FROM session WHERE task_id = +?',
  );
  const ofDay = db.prepare<unknown[], DayRow>('SELECT * FROM claimed_day WHERE day = ?');
  const putDay = db.prepare(
    `INSERT INTO claimed_day (day, tokens_in, tokens_cached, tokens_out, cost_usd, unpriced)
     VALUES (@day, @input, @cached, @output, @costUsd, @unpriced)
     ON CONFLICT (day) DO UPDATE SET tokens_in = tokens_in + @input, tokens_cached = tokens_cached + @cached,
       tokens_out = tokens_out + @output, unpriced = unpriced + @unpriced,
       cost_usd = iif(@costUsd IS NULL, cost_usd, coalesce(cost_usd, 0) + @costUsd)`,
  );

  return {
    claimedByTask: (taskId: string): number => ofTask.get(parseId('t', taskId))?.tokens ?? 0,
    /** Adds a run, inside `storage.write`. */
    addToDay(day: string, claim: ClaimedUsage): void {
      const { input, cached, output, costUsd, unpriced } = estimateByClaim(claim);
      putDay.run({ day, input, cached, output, costUsd, unpriced });
    },
    claimedOn(day: string): SessionUsage | null {
      const row = ofDay.get(day);
      if (row === undefined) return null;
      const {
        tokens_in: input,
        tokens_cached: cached,
        tokens_out: output,
        cost_usd: costUsd,
        unpriced,
      } = row;
      return { ...estimateByClaim({ input, cached, output, costUsd }), unpriced };
    },
  };
}
