/**
 * Properties of models, if a protocol is not uniform for all of its models. Models of other makers are unknown here
 * and get what most servers of the protocol accept.
 */
import type { ReasoningEffort } from './conversation.ts';

/** Returns the name without the maker's prefix, as routers write it. */
const plainName = (model: string): string => model.toLowerCase().split('/').at(-1)!;

/**
 * Reports whether a model is one of OpenAI's newer ones, which refuse `max_tokens` and accept hints that other
 * servers may refuse.
 */
export const isNewOpenAi = (model: string): boolean =>
  /^(?:o\d|gpt-(?:[5-9]|oss)|codex)/.test(plainName(model));

/** Reports whether an OpenAI model reasons, and so supports effort and encrypted reasoning; chat and search models do not. */
export const isOpenAiReasoner = (model: string): boolean =>
  isNewOpenAi(model) && !/^(?:gpt-[\d.]+-(?:chat|search)|o1-(?:mini|preview))/.test(plainName(model));

/** Models whose template requires short call ids, and an answer after each result. */
export const isMistral = (model: string): boolean =>
  /^(?:open-|labs-)?(?:mi[sx]tral|ministral|codestral|devstral|pixtral|magistral|voxtral)/.test(
    plainName(model),
  );

/** Models that think by default, and the fields that disable it on their makers' servers. */
const THINKING_OFF: readonly (readonly [names: RegExp, fields: Readonly<Record<string, unknown>>])[] = [
  [
    /^(?:deepseek|glm-?(?:4\.[5-9]|[5-9])|kimi-k(?:2\.[5-9]|[3-9])|doubao-seed|mimo)/,
    { thinking: { type: 'disabled' } },
  ],
  // Alibaba's servers read the first; other servers of the model read the second.
  [/^(?:qwen|qwq)/, { enable_thinking: false, chat_template_kwargs: { enable_thinking: false } }],
];

/** Returns the chat fields that disable thinking for a model that thinks by default; none for others. */
export function thinkingOff(model: string): Readonly<Record<string, unknown>> {
  const name = plainName(model);
  const fields = THINKING_OFF.find(([names]) => names.test(name))?.[1] ?? {};
  // Ollama, whose names have a tag, reads neither.
  return Object.keys(fields).length > 0 && name.includes(':')
    ? { ...fields, reasoning_effort: 'none' }
    : fields;
}

/** Models that refuse a past call without the thoughts before it. */
export const demandsThoughts = (model: string): boolean => /^(?:deepseek|kimi-k)/.test(plainName(model));

const claudeVersion = (model: string): number | null => {
  const name = plainName(model);
  const version = /^claude-[a-z]+-(\d{1,2})(?:-(\d{1,2})(?!\d))?/.exec(name);
  if (version !== null) return Number(version[1]) + Number(version[2] ?? 0) / 10;
  return /^claude-[a-z]+-/.test(name) ? 9 : null;
};

export const isClaude = (model: string): boolean => plainName(model).startsWith('claude-');

/** Reports whether an Anthropic model decides itself how much to think; older ones need a token budget. */
export const hasAdaptiveThinking = (model: string): boolean => (claudeVersion(model) ?? 0) >= 4.6;

/** Reports whether an effort may be above high. */
export const knowsHighestEffort = (model: string): boolean => (claudeVersion(model) ?? 0) >= 4.7;

/** Reports whether a conversation may end with an answer that the model continues. */
export const continuesAnswers = (model: string): boolean => (claudeVersion(model) ?? 0) < 4.6;

/** Reports whether temperature and similar fields are accepted: Anthropic's newer models refuse them. */
export const acceptsSampling = (model: string): boolean => (claudeVersion(model) ?? 0) < 4.7;

const geminiVersion = (model: string): number => {
  const version = /^gemini-(\d+(?:\.\d+)?)/.exec(plainName(model));
  return version === null ? 0 : Number(version[1]);
};

/** Reports whether a past call must carry a signature, and thinking is requested by level. */
export const needsThoughtSignature = (model: string): boolean => geminiVersion(model) >= 3;

/** Reports whether thinking is requested by token budget. */
export const hasThinkingBudget = (model: string): boolean => geminiVersion(model) === 2.5;

/** Returns the minimum thinking of a Google model. */
export function leastThinking(model: string): Readonly<Record<string, unknown>> | null {
  const isPro = plainName(model).includes('pro');
  if (hasThinkingBudget(model)) return { thinkingBudget: isPro ? 128 : 0 };
  if (needsThoughtSignature(model)) return { thinkingLevel: isPro ? 'LOW' : 'MINIMAL' };
  return null;
}

const EFFORTS: readonly ReasoningEffort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

export const readEffort = (value: unknown): ReasoningEffort | null => {
  const word = typeof value === 'string' ? value.toLowerCase() : '';
  return EFFORTS.find((effort) => effort === word) ?? null;
};

/** Thinking tokens that correspond to an effort. */
export const BUDGETS: Readonly<Record<ReasoningEffort, number>> = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 24_576,
};

/** Returns the effort that corresponds to a number of tokens. */
export const effortOfBudget = (tokens: number): ReasoningEffort | null => {
  if (tokens < 0) return null;
  if (tokens === 0) return 'none';
  if (tokens <= BUDGETS.low) return 'low';
  return tokens <= BUDGETS.medium ? 'medium' : 'high';
};
