import type { Conversation, ReasoningEffort, TranslatedExchange } from '../conversation.ts';
import { isNewOpenAi, isOpenAiReasoner } from '../model-traits.ts';

const isForeign = (from: TranslatedExchange['from']): boolean => from === 'messages' || from === 'gemini';

/**
 * Returns temperature and top_p of both OpenAI protocols. Newer OpenAI models refuse them, and programs for other
 * protocols set them for every model, so values from other protocols are omitted there.
 */
export function writeSampling(
  { temperature, topP }: Conversation,
  { from, model }: TranslatedExchange,
): { temperature: number | null; top_p: number | null } {
  if (isForeign(from) && isNewOpenAi(model)) return { temperature: null, top_p: null };
  return { temperature, top_p: topP };
}

/** Effort names of other protocols, in terms that every reasoning model of OpenAI knows. */
const COMMON: Readonly<Record<ReasoningEffort, ReasoningEffort | null>> = {
  none: null,
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
};

/** Returns the effort of thinking, for models that support it; a caller of an OpenAI protocol chose the name itself. */
export function writeEffort(
  { effort }: Conversation,
  { from, model }: TranslatedExchange,
): ReasoningEffort | null {
  if (effort === null || !isOpenAiReasoner(model)) return null;
  return isForeign(from) ? COMMON[effort] : effort;
}
