import {
  cutToKeep,
  END_CODES,
  type PlanEntry,
  type StreamFacts,
  toOneLine,
  type Usage,
} from '../agents/index.ts';

/**
 * It becomes an argument of the agent's command when its session goes on, so it begins with nothing that could be an
 * option, and is one word.
 */
const AGENT_SESSION = /^[A-Za-z0-9][A-Za-z0-9._:@/+=-]{0,199}$/;
const MOST_TOKENS = 1e12;
const MOST_DOLLARS = 1e6;
const MOST_STEPS = 200;
const STATES: readonly unknown[] = ['pending', 'active', 'done'] satisfies PlanEntry['state'][];

/**
 * What a run has said, as far as it is of the form that it should have. Everything that it prints may be a lie, or of a
 * version that nobody has seen: what cannot be kept must not keep its end from being recorded.
 */
export function sound(facts: StreamFacts): StreamFacts {
  const { agentSession, model, usage, conversation, activity, toolCalls, plan, end, trouble } = facts;
  return {
    isStream: facts.isStream,
    agentSession: typeof agentSession === 'string' && AGENT_SESSION.test(agentSession) ? agentSession : null,
    model: textOrNull(model),
    usage: usage === null ? null : usageOf(usage),
    conversation: conversation === null ? null : usageOf(conversation),
    activity: textOrNull(activity),
    toolCalls: count(toolCalls),
    plan: planOf(plan),
    end: end === null || end.ok === true ? end : failureOf(end),
    trouble: trouble === null ? null : failureOf(trouble),
  };
}

const number = (value: unknown, most: number): number =>
  typeof value === 'number' && value > 0 ? Math.min(value, most) : 0;

const count = (value: unknown): number => Math.round(number(value, MOST_TOKENS));

const textOrNull = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? toOneLine(cutToKeep(value, 2400), 300) : null;

const usageOf = ({ input, cached, output, costUsd }: Usage): Usage => ({
  input: count(input),
  cached: count(cached),
  output: count(output),
  costUsd: typeof costUsd === 'number' && costUsd >= 0 ? number(costUsd, MOST_DOLLARS) : null,
});

const planOf = (plan: unknown): PlanEntry[] =>
  (Array.isArray(plan) ? (plan as Partial<PlanEntry>[]) : []).slice(0, MOST_STEPS).flatMap((entry) => {
    const text = textOrNull(entry?.text);
    return text === null || !STATES.includes(entry?.state) ? [] : [{ text, state: entry.state! }];
  });

function failureOf({ code, text, resetAt }: NonNullable<StreamFacts['trouble']>) {
  return {
    ok: false,
    code: END_CODES.includes(code) ? code : 'agent_error',
    text: textOrNull(text) ?? 'it failed and did not say why',
    resetAt: typeof resetAt === 'number' && Number.isFinite(resetAt) ? Math.round(resetAt) : null,
  } as const;
}
