import type { Conversation, Exchange } from '../conversation.ts';
import { isOpenAiReasoner } from '../model-traits.ts';

/**
 * Temperature and top_p as both protocols of OpenAI have them. Its reasoning models refuse them, and programs for other protocols
 * set them whatever the model, so those of others are left out there.
 */
export function writeSampling(
  { temperature, topP }: Conversation,
  { from, model }: Exchange,
): { temperature: number | null; top_p: number | null } {
  const isForeign = from === 'messages' || from === 'gemini';
  if (isForeign && isOpenAiReasoner(model)) return { temperature: null, top_p: null };
  return { temperature, top_p: topP };
}
