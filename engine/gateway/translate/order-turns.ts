import type { CallPart, Conversation, Part, ResultPart, TextPart, Turn } from './conversation.ts';

/** A conversation in the order that every protocol accepts. */
export interface OrderedTurns {
  /** The system prompt. */
  system: TextPart[];
  /** Neighbours differ in their role. A turn of the user begins with the results of the calls just before it. */
  turns: Turn[];
}

interface Segment {
  assistant: Part[];
  results: ResultPart[];
  after: Turn[];
}

const isText = (part: Part): part is TextPart => part.kind === 'text' && part.text !== '';

const remind = ({ text }: TextPart): TextPart => ({
  kind: 'text',
  text: `<system-reminder>\n${text}\n</system-reminder>`,
});

const missingResult = (call: CallPart): ResultPart => ({
  kind: 'result',
  callId: call.id,
  name: call.name,
  content: [{ kind: 'text', text: 'no result: the call was interrupted' }],
  isError: true,
});

/**
 * Orders the turns of a conversation. System text before the first answer is the system prompt. Later it stays where it is: as
 * a turn of its own with `keepsSystem`, else as text of the user in `<system-reminder>` tags, since many models' templates accept
 * a system turn at the beginning only, and moving it there would change the prefix that a prompt cache is keyed on. Results move
 * to the calls they answer; a call that was never answered gets a result that says so.
 */
export function orderTurns({ turns }: Conversation, { keepsSystem }: { keepsSystem: boolean }): OrderedTurns {
  const system: TextPart[] = [];
  const segments: Segment[] = [{ assistant: [], results: [], after: [] }];
  const callers = new Map<string, Segment>();

  for (const { role, parts } of turns) {
    const last = segments.at(-1)!;
    if (role === 'assistant') {
      const isNew = last.after.length > 0 || last.results.length > 0 || segments.length === 1;
      const segment = isNew ? { assistant: [], results: [], after: [] } : last;
      if (isNew) segments.push(segment);
      for (const part of parts) {
        segment.assistant.push(part);
        if (part.kind === 'call') callers.set(part.id, segment);
      }
      continue;
    }
    if (role === 'system') {
      const texts = parts.filter(isText);
      if (segments.length === 1) system.push(...texts);
      else if (texts.length > 0)
        last.after.push(keepsSystem ? { role, parts: texts } : { role: 'user', parts: texts.map(remind) });
      continue;
    }
    const others: Part[] = [];
    for (const part of parts) {
      if (part.kind === 'result') (callers.get(part.callId) ?? last).results.push(part);
      else if (part.kind !== 'text' || part.text !== '') others.push(part);
    }
    if (others.length > 0) last.after.push({ role, parts: others });
  }

  const ordered: Turn[] = [];
  const push = (role: Turn['role'], parts: readonly Part[]): void => {
    if (parts.length === 0) return;
    const last = ordered.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else ordered.push({ role, parts: [...parts] });
  };
  for (const [index, { assistant, results, after }] of segments.entries()) {
    push('assistant', assistant);
    if (after.length > 0 || index < segments.length - 1 || results.length > 0) {
      const answered = new Set(results.map(({ callId }) => callId));
      const open = assistant.filter((part) => part.kind === 'call').filter(({ id }) => !answered.has(id));
      push('user', [...results, ...open.map(missingResult)]);
    }
    for (const turn of after) push(turn.role, turn.parts);
  }
  return { system, turns: ordered };
}

/** For protocols that want something said by the user: a system prompt alone is said by the user instead. */
export const withUserTurn = ({ system, turns }: OrderedTurns): OrderedTurns =>
  turns.length === 0 && system.length > 0
    ? { system: [], turns: [{ role: 'user', parts: system }] }
    : { system, turns };
