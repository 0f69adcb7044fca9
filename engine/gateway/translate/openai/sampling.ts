import type { Conversation, Effort, Exchange } from '../conversation.ts';
import { isNewOpenAi, isOpenAiReasoner } from '../model-traits.ts';

const isForeign = (from: Exchange['from']): boolean => from === 'messages' || from === 'gemini';

/**
 * Temperature and top_p as both protocols of OpenAI have them. Its newer models refuse them, and programs for other protocols
 * set them whatever the model, so those of others are left out there.
 */
export function writeSampling(
  { temperature, topP }: Conversation,
  { from, model }: Exchange,
): { temperature: number | null; top_p: number | null } {
  if (isForeign(from) && isNewOpenAi(model)) return { temperature: null, top_p: null };
  return { temperature, top_p: topP };
}

/** Words of other protocols for an effort, as every reasoning model of OpenAI knows them. */
const COMMON: Readonly<Record<Effort, Effort | null>> = {
  none: null,
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
};

/** The effort of thinking, for the models that know one; a caller of a protocol of OpenAI chose its word itself. */
export function writeEffort({ effort }: Conversation, { from, model }: Exchange): Effort | null {
  if (effort === null || !isOpenAiReasoner(model)) return null;
  return isForeign(from) ? COMMON[effort] : effort;
}
