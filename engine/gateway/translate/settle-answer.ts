import { createCallerIds } from './call-ids.ts';
import { unwrapText } from './call-input.ts';
import type { ModelAnswer, TranslatedExchange } from './conversation.ts';
import { settleEnding } from './sequence-blocks.ts';

/** Returns a whole answer with the caller's tool names, a unique id for each call, and an end that matches its calls. */
export function settleAnswer(answer: ModelAnswer, exchange: TranslatedExchange): ModelAnswer {
  const { names } = exchange;
  const nextId = createCallerIds(exchange);
  const parts = answer.parts.map((part) => {
    if (part.kind !== 'call') return { ...part, text: part.text.toWellFormed() };
    const named = names.toCaller(part.name);
    const isWrapped = named.takesText && !part.takesText;
    return {
      ...part,
      ...named,
      id: nextId(part.id),
      namespace: named.namespace ?? part.namespace,
      input: isWrapped ? unwrapText(part.input) : part.input,
    };
  });
  const hasCalls = parts.some(({ kind }) => kind === 'call');
  const hasRefused = parts.some(({ kind }) => kind === 'refusal');
  return { ...answer, parts, ending: settleEnding(answer.ending, { hasCalls, hasRefused }) };
}
