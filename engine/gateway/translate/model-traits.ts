/**
 * What models accept where a protocol is not one for all of its models. Names of other makers' models are unknown here and get what
 * most servers of the protocol accept.
 */
import type { Effort } from './conversation.ts';

/** The name without the maker in front of it, as routers write it. */
const plainName = (model: string): string => model.toLowerCase().split('/').at(-1)!;

/** OpenAI's models that reason: they refuse `max_tokens` and know an effort, which most others refuse. */
export const isOpenAiReasoner = (model: string): boolean =>
  /^(?:o\d|gpt-(?:[5-9]|oss)|codex)/.test(plainName(model));

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
