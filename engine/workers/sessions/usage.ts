/** Usage as an agent reports it. Tokens; `input` includes `cached`. */
export interface ClaimedUsage {
  input: number;
  cached: number;
  output: number;
  /** US dollars; null if the agent does not report them. */
  costUsd: number | null;
}

/**
 * Usage as people see it, of a run, a session, a task or a day: as the gateway counted it, and as agents report it
 * about runs that made no call through the gateway.
 */
export interface SessionUsage extends ClaimedUsage {
  /** Tokens at an unknown price, which `costUsd` leaves out. */
  unpriced: number;
  /** Tokens that no provider has reported: an agent claims them, or they follow from the size of a call. */
  estimatedTokens: number;
  /** True if a number of tokens or a price is an estimate. */
  estimated: boolean;
}

/** Calls through the gateway, of one model at one provider. `input` excludes tokens of a prompt cache. */
export interface CountedCalls {
  provider: string | null;
  model: string | null;
  calls: number;
  failed: number;
  denied: number;
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
  cache_write_hour: number;
  estimated_tokens: number;
}

/** The figures that the gateway has counted. */
export interface SessionBooks {
  /** Returns the usage of sessions by their numbers; sessions without calls are left out. */
  sumSessions(sessions: readonly number[]): ReadonlyMap<number, SessionUsage>;
  /** Reports whether the last run of a session has called. */
  hasCalled(session: number): boolean;
}

/** Books without any call. */
export const EMPTY_BOOKS: SessionBooks = { sumSessions: () => new Map(), hasCalled: () => false };

/** Returns what an agent claims as an estimate. */
export const estimateByClaim = (claim: ClaimedUsage): SessionUsage => ({
  ...claim,
  unpriced: claim.costUsd === null ? claim.input + claim.output : 0,
  estimatedTokens: claim.input + claim.output,
  estimated: true,
});

const addNullable = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : one + other;

/** Sums the known ones; null if there are none. */
export const sumUsages = (all: readonly (SessionUsage | null)[]): SessionUsage | null =>
  all.reduce<SessionUsage | null>(
    (sum, each) =>
      sum === null || each === null
        ? (sum ?? each)
        : {
            input: sum.input + each.input,
            cached: sum.cached + each.cached,
            output: sum.output + each.output,
            costUsd: addNullable(sum.costUsd, each.costUsd),
            unpriced: sum.unpriced + each.unpriced,
            estimatedTokens: sum.estimatedTokens + each.estimatedTokens,
            estimated: sum.estimated || each.estimated,
          },
    null,
  );

/** Adds what an agent claims; null for nothing. */
export const addClaim = (usage: SessionUsage | null, claim: ClaimedUsage | null): SessionUsage | null =>
  claim === null ? usage : sumUsages([usage, estimateByClaim(claim)]);
