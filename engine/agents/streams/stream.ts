/** Why a run did not do its work, as the agent itself tells it. docs/workers.md has what each means. */
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

/** How a run ended by its own words. */
export type AgentEnd =
  | { ok: true }
  | {
      ok: false;
      code: EndCode;
      /** One sentence, in the agent's words where it has some; no secret, at most a few hundred characters. */
      text: string;
      /** Of a limit: when it is over, Unix ms; null when that is not said. */
      resetAt: number | null;
    };

/** Tokens. `input` includes what came from a cache, `cached` says how much of it did. */
export interface Usage {
  input: number;
  cached: number;
  output: number;
  /** US dollars, as the agent reckons them; null when it does not. */
  costUsd: number | null;
}

/** One step of the agent's plan. */
export interface PlanEntry {
  text: string;
  state: 'pending' | 'active' | 'done';
}

/** What is known of a run from what it printed so far. */
export interface StreamFacts {
  /** Whether anything of the expected form was printed. Without it the exit code alone decides. */
  isStream: boolean;
  /** The agent's own id of its session, for `resume`. */
  agentSession: string | null;
  model: string | null;
  /** Of this run alone; null while nothing is known of it, never zero for that. */
  usage: Usage | null;
  /** Of the whole conversation, runs before this one as well, from an agent that tells that; it counts before `usage`. */
  conversation: Usage | null;
  /** The last tool call, such as `edit src/a.ts`. */
  activity: string | null;
  /** How many tool calls there were. */
  toolCalls: number;
  plan: PlanEntry[];
  /** Null until it has said that it is at its end. */
  end: AgentEnd | null;
  /**
   * The last failure that it spoke of and may yet overcome; what counts when it ends without an end of its own. A
   * success after it clears it.
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

/** Reads the output of one run, line by line. Never throws: what it does not know it leaves as it is. */
export interface StreamReader {
  /**
   * Takes one line without its newline, and answers what a person reads instead of it: some lines of text, or null
   * for nothing. A line of another form is answered as it is.
   */
  readLine(text: string): string | null;
  facts(): StreamFacts;
}
