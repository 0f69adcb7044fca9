import {
  cutToKeep,
  END_CODES,
  type PlanEntry,
  type StreamFacts,
  type StreamUsage,
  toOneLine,
} from '../../agents/index.ts';

/** It becomes an argument of the agent's command when its session is resumed, so it must be one word that cannot be an option. */
const AGENT_SESSION = /^[A-Za-z0-9][A-Za-z0-9._:@/+=-]{0,199}$/;
const MOST_TOKENS = 1e12;
const MOST_DOLLARS = 1e6;
const MOST_STEPS = 200;
const STATES: readonly unknown[] = ['pending', 'active', 'done'] satisfies PlanEntry['state'][];

/**
 * Keeps the reported facts of a run that have the expected form. Its output may be wrong, or of an unknown version:
 * invalid facts must not prevent its end from being recorded.
 */
export function sanitizeFacts(facts: StreamFacts): StreamFacts {
  const { agentSession, model, usage, conversation, activity, toolCalls, plan, end, trouble } = facts;
  return {
    isStream: facts.isStream,
    agentSession: typeof agentSession === 'string' && AGENT_SESSION.test(agentSession) ? agentSession : null,
    model: toTextOrNull(model),
    usage: usage === null ? null : sanitizeUsage(usage),
    conversation: conversation === null ? null : sanitizeUsage(conversation),
    activity: toTextOrNull(activity),
    toolCalls: limitCount(toolCalls),
    plan: sanitizePlan(plan),
    end: end === null || end.ok === true ? end : sanitizeFailure(end),
    trouble: trouble === null ? null : sanitizeFailure(trouble),
  };
}

const limitNumber = (value: unknown, most: number): number =>
  typeof value === 'number' && value > 0 ? Math.min(value, most) : 0;

const limitCount = (value: unknown): number => Math.round(limitNumber(value, MOST_TOKENS));

const toTextOrNull = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? toOneLine(cutToKeep(value, 2400), 300) : null;

const sanitizeUsage = ({ input, cached, output, costUsd }: StreamUsage): StreamUsage => ({
  input: limitCount(input),
  cached: limitCount(cached),
  output: limitCount(output),
  costUsd: typeof costUsd === 'number' && costUsd >= 0 ? limitNumber(costUsd, MOST_DOLLARS) : null,
});

const sanitizePlan = (plan: unknown): PlanEntry[] =>
  (Array.isArray(plan) ? (plan as Partial<PlanEntry>[]) : []).slice(0, MOST_STEPS).flatMap((entry) => {
    const text = toTextOrNull(entry?.text);
    return text === null || !STATES.includes(entry?.state) ? [] : [{ text, state: entry.state! }];
  });

function sanitizeFailure({ code, text, resetAt }: NonNullable<StreamFacts['trouble']>) {
  return {
    ok: false,
    code: END_CODES.includes(code) ? code : 'agent_error',
    text: toTextOrNull(text) ?? 'it failed without giving a reason',
    resetAt: typeof resetAt === 'number' && Number.isFinite(resetAt) ? Math.round(resetAt) : null,
  } as const;
}
