import { createHash } from 'node:crypto';
import { makeId } from './answer-ids.ts';
import type { TranslatedExchange } from './conversation.ts';
import { isMistral } from './model-traits.ts';

const hashCallId = (id: string): string => createHash('sha256').update(id).digest('hex');

/** Returns the id of a call as messages accept it. */
export const fitToolUseId = (id: string): string =>
  /^[a-zA-Z0-9_-]+$/.test(id) ? id : `toolu_${hashCallId(id).slice(0, 24)}`;

const LONGEST = { chat: 40, responses: 64 } as const;

function fitCallId(id: string, { to, model }: Pick<TranslatedExchange, 'to' | 'model'>): string {
  if (to === 'messages') return fitToolUseId(id);
  if (isMistral(model)) return /^[a-zA-Z0-9]{9}$/.test(id) ? id : hashCallId(id).slice(0, 9);
  if (to === 'gemini' || id.length <= LONGEST[to]) return id;
  return `call_${hashCallId(id).slice(0, 32)}`;
}

/**
 * Creates the ids of a conversation's calls for its provider: each call gets an id that the provider accepts and that
 * no earlier call has. It depends only on the earlier turns, so that a prompt cache finds the same bytes in every
 * turn.
 */
export function createProviderIds(
  exchange: Pick<TranslatedExchange, 'to' | 'model'>,
): (id: string) => string {
  const used = new Set<string>();
  return (given) => {
    const id = given || 'call';
    let fitted = fitCallId(id, exchange);
    for (let count = 2; used.has(fitted); count += 1) fitted = fitCallId(`${id}_${count}`, exchange);
    used.add(fitted);
    return fitted;
  };
}

/** Creates the ids of an answer's calls for its caller: an id that the conversation already uses is replaced. */
export function createCallerIds({ from, callIds }: TranslatedExchange): (id: string) => string {
  const used = new Set(callIds);
  return (given) => {
    const id = used.has(given) ? makeId(from === 'messages' ? 'toolu_' : 'call_') : given;
    used.add(id);
    return id;
  };
}
