/**
 * What models accept where a protocol is not one for all of its models. Names of other makers' models are unknown here and get what
 * most servers of the protocol accept.
 */
import type { Effort } from './conversation.ts';

/** The name without the maker in front of it, as routers write it. */
const plainName = (model: string): string => model.toLowerCase().split('/').at(-1)!;

/** OpenAI's newer models: they refuse `max_tokens`, and take hints that other servers may refuse. */
export const isNewOpenAi = (model: string): boolean =>
  /^(?:o\d|gpt-(?:[5-9]|oss)|codex)/.test(plainName(model));

/** Whether a model of OpenAI reasons, and so knows an effort and has encrypted reasoning; those for chats and searches do not. */
export const isOpenAiReasoner = (model: string): boolean =>
  isNewOpenAi(model) && !/^(?:gpt-[\d.]+-(?:chat|search)|o1-(?:mini|preview))/.test(plainName(model));

/** Models whose template wants short ids of calls, and an answer after each result. */
export const isMistral = (model: string): boolean =>
  /^(?:open-|labs-)?(?:mi[sx]tral|ministral|codestral|devstral|pixtral|magistral|voxtral)/.test(
    plainName(model),
  );

/** Models that think unless they are told not to, and how their makers' servers are told. */
const THINKING_OFF: readonly (readonly [names: RegExp, fields: Readonly<Record<string, unknown>>])[] = [
  [
    /^(?:deepseek|glm-?(?:4\.[5-9]|[5-9])|kimi-k(?:2\.[5-9]|[3-9])|doubao-seed|mimo)/,
    { thinking: { type: 'disabled' } },
  ],
  // The first is read by Alibaba's servers, the second by those that run the model elsewhere.
  [/^(?:qwen|qwq)/, { enable_thinking: false, chat_template_kwargs: { enable_thinking: false } }],
];

/** The fields of chat by which a model that thinks by default is told not to; none for others. */
export function thinkingOff(model: string): Readonly<Record<string, unknown>> {
  const name = plainName(model);
  const fields = THINKING_OFF.find(([names]) => names.test(name))?.[1] ?? {};
  // Ollama, whose names have a tag, reads neither.
  return Object.keys(fields).length > 0 && name.includes(':')
    ? { ...fields, reasoning_effort: 'none' }
    : fields;
}

/** Models that refuse a call of the past which comes without the thoughts before it. */
export const demandsThoughts = (model: string): boolean => /^(?:deepseek|kimi-k)/.test(plainName(model));

const claudeVersion = (model: string): number | null => {
  const name = plainName(model);
  const version = /^claude-[a-z]+-(\d{1,2})(?:-(\d{1,2})(?!\d))?/.exec(name);
  if (version !== null) return Number(version[1]) + Number(version[2] ?? 0) / 10;
  return /^claude-[a-z]+-/.test(name) ? 9 : null;
};

export const isClaude = (model: string): boolean => plainName(model).startsWith('claude-');

/** Whether a model of Anthropic decides itself how much to think; older ones need a number of tokens. */
export const hasAdaptiveThinking = (model: string): boolean => (claudeVersion(model) ?? 0) >= 4.6;

/** Whether an effort may be above high. */
export const knowsHighestEffort = (model: string): boolean => (claudeVersion(model) ?? 0) >= 4.7;

/** Whether a conversation may end with an answer that the model goes on with. */
export const continuesAnswers = (model: string): boolean => (claudeVersion(model) ?? 0) < 4.6;

/** Whether temperature and its like are accepted: Anthropic's newer models refuse them. */
export const acceptsSampling = (model: string): boolean => (claudeVersion(model) ?? 0) < 4.7;

const geminiVersion = (model: string): number => {
  const version = /^gemini-(\d+(?:\.\d+)?)/.exec(plainName(model));
  return version === null ? 0 : Number(version[1]);
};

/** Whether a call of the past has to carry a signature, and thinking is asked for by a level. */
export const needsThoughtSignature = (model: string): boolean => geminiVersion(model) >= 3;

/** Whether thinking is asked for by a number of tokens. */
export const hasThinkingBudget = (model: string): boolean => geminiVersion(model) === 2.5;

/** The least that a model of Google can be told to think. */
export function leastThinking(model: string): Readonly<Record<string, unknown>> | null {
  const isPro = plainName(model).includes('pro');
  if (hasThinkingBudget(model)) return { thinkingBudget: isPro ? 128 : 0 };
  if (needsThoughtSignature(model)) return { thinkingLevel: isPro ? 'LOW' : 'MINIMAL' };
  return null;
}

const EFFORTS: readonly Effort[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

export const readEffort = (value: unknown): Effort | null => {
  const word = typeof value === 'string' ? value.toLowerCase() : '';
  return EFFORTS.find((effort) => effort === word) ?? null;
};

/** Tokens of thinking that stand for an effort. */
export const BUDGETS: Readonly<Record<Effort, number>> = {
  none: 0,
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 24_576,
};

/** The effort that stands for a number of tokens. */
export const effortOfBudget = (tokens: number): Effort | null => {
  if (tokens < 0) return null;
  if (tokens === 0) return 'none';
  if (tokens <= BUDGETS.low) return 'low';
  return tokens <= BUDGETS.medium ? 'medium' : 'high';
};
