/** Why a run failed, as the agent itself reports it. docs/use/workers.md explains each. */
export const END_CODES = [
  'permission_denied',
  'auth_failed',
  'rate_limited',
  'usage_limit',
  'budget_exceeded',
  'turn_limit',
  'context_exceeded',
  'refused',
  'model_error',
  'agent_error',
] as const;
export type EndCode = (typeof END_CODES)[number];

/** How a run ended, as the agent reports it. */
export type AgentEnd =
  | { ok: true }
  | {
      ok: false;
      code: EndCode;
      /** One sentence, in the agent's words if it has some; no secret, at most a few hundred characters. */
      text: string;
      /** When the limit ends, Unix ms; null if unknown or not a limit. */
      resetAt: number | null;
    };

/** Tokens. `input` includes cached tokens, `cached` is their number. */
export interface StreamUsage {
  input: number;
  cached: number;
  output: number;
  /** US dollars, as the agent calculates them; null if it does not. */
  costUsd: number | null;
}

/** One step of the agent's plan. */
export interface PlanEntry {
  text: string;
  state: 'pending' | 'active' | 'done';
}

/** The facts in a run's output so far. */
export interface StreamFacts {
  /** True if anything in the expected form was printed. Otherwise the exit code alone decides. */
  isStream: boolean;
  /** The agent's own id of its session, for `resume`. */
  agentSession: string | null;
  model: string | null;
  /** Usage of this run only; null while unknown, never zero for that. */
  usage: StreamUsage | null;
  /**
   * Usage of the whole conversation, including earlier runs, from agents that report it; takes precedence over
   * `usage`.
   */
  conversation: StreamUsage | null;
  /** The last tool call, such as `edit src/a.ts`. */
  activity: string | null;
  /** The number of tool calls. */
  toolCalls: number;
  plan: PlanEntry[];
  /** Null until the agent reports its end. */
  end: AgentEnd | null;
  /**
   * The last reported failure, which it may still overcome; valid if it ends without reporting an end. A later
   * success clears it.
   */
  trouble: Extract<AgentEnd, { ok: false }> | null;
}

export const NO_FACTS: StreamFacts = {
  isStream: false,
  agentSession: null,
  model: null,
  usage: null,
  conversation: null,
  activity: null,
  toolCalls: 0,
  plan: [],
  end: null,
  trouble: null,
};

/** Reads the output of one run line by line. Never throws: unknown lines are passed through. */
export interface StreamReader {
  /**
   * Takes one line without its newline, and returns its text for a person: some lines, or null for nothing. A line of
   * another form is returned unchanged.
   */
  readLine(text: string): string | null;
  facts(): StreamFacts;
}
