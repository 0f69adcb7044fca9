import { createProviderIds } from './call-ids.ts';
import type {
  CallPart,
  ContentPart,
  Conversation,
  ConversationTurn,
  ResultPart,
  TextPart,
  TranslatedExchange,
} from './conversation.ts';

/** A conversation in the order that every protocol accepts. */
export interface OrderedTurns {
  /** The system prompt. */
  system: TextPart[];
  /** Adjacent turns differ in role. A user turn starts with the results of the preceding calls. */
  turns: ConversationTurn[];
}

interface Segment {
  assistant: ContentPart[];
  answers: Map<CallPart, ResultPart>;
  after: ConversationTurn[];
}

/** The placeholder for an empty turn, if a protocol requires content. */
export const NO_CONTENT: TextPart = { kind: 'text', text: '(no content)' };

const isText = (part: ContentPart): part is TextPart => part.kind === 'text' && part.text !== '';
const isCall = (part: ContentPart): part is CallPart => part.kind === 'call';

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

/** Returns a result whose call is missing, as user text: no provider accepts it as a result. */
const sayResult = ({ name, content }: ResultPart): ContentPart[] => [
  { kind: 'text', text: `Result of an earlier call${name === null ? '' : ` of ${name}`}:` },
  ...content.filter((part) => part.kind === 'media' || part.text !== ''),
];

/** Sorts the turns of a conversation into answers, each with the results of its calls and the text after it. */
function segmentTurns(turns: readonly ConversationTurn[], keepsSystem: boolean) {
  const system: TextPart[] = [];
  const segments: Segment[] = [{ assistant: [], answers: new Map(), after: [] }];
  /** Calls without a result so far. */
  const open: { call: CallPart; segment: Segment }[] = [];

  /** Finds the call of a result. If several have its id, it belongs to the first one of the latest answer. */
  function findCall(id: string): (typeof open)[number] | undefined {
    const latest = open.findLast(({ call }) => call.id === id)?.segment;
    const index = open.findIndex(({ call, segment }) => segment === latest && call.id === id);
    return index < 0 ? undefined : open.splice(index, 1)[0];
  }

  for (const { role, parts } of turns) {
    const last = segments.at(-1)!;
    if (role === 'assistant') {
      const isNew = last.after.length > 0 || last.answers.size > 0 || segments.length === 1;
      const segment: Segment = isNew ? { assistant: [], answers: new Map(), after: [] } : last;
      if (isNew) segments.push(segment);
      segment.assistant.push(...parts);
      open.push(...parts.filter(isCall).map((call) => ({ call, segment })));
      continue;
    }
    if (role === 'system') {
      const texts = parts.filter(isText);
      if (segments.length === 1) system.push(...texts);
      else if (texts.length > 0)
        last.after.push(keepsSystem ? { role, parts: texts } : { role: 'user', parts: texts.map(remind) });
      continue;
    }
    const others: ContentPart[] = [];
    for (const part of parts) {
      if (part.kind === 'result') {
        const found = findCall(part.callId);
        if (found === undefined) others.push(...sayResult(part));
        else found.segment.answers.set(found.call, part);
      } else if (part.kind !== 'text' || part.text !== '') others.push(part);
    }
    if (others.length > 0) last.after.push({ role, parts: others });
  }
  return { system, segments };
}

/**
 * Orders the turns of a conversation. System text before the first answer is the system prompt. Later system text
 * stays in place: as a separate turn with `keepsSystem`, otherwise as user text in `<system-reminder>` tags, since
 * many models' templates only accept a system turn at the start, and moving it there would change the prefix that a
 * prompt cache is keyed on. Results move to the calls they answer; an unanswered call gets a result that says so.
 * Calls get ids that the provider accepts.
 */
export function orderTurns(
  { turns }: Conversation,
  exchange: TranslatedExchange,
  { keepsSystem }: { keepsSystem: boolean },
): OrderedTurns {
  const { system, segments } = segmentTurns(turns, keepsSystem);
  const ordered: ConversationTurn[] = [];
  const pushTurn = (role: ConversationTurn['role'], parts: readonly ContentPart[]): void => {
    if (parts.length === 0) return;
    const last = ordered.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else ordered.push({ role, parts: [...parts] });
  };
  const nextId = createProviderIds(exchange);
  for (const [index, { assistant, answers, after }] of segments.entries()) {
    const ids = new Map(assistant.filter(isCall).map((call) => [call, nextId(call.id)]));
    const named = assistant.map((part) => (isCall(part) ? { ...part, id: ids.get(part)! } : part));
    pushTurn('assistant', named);
    const open = [...ids.keys()].filter((call) => !answers.has(call));
    const results = [...answers, ...open.map((call) => [call, missingResult(call)] as const)];
    if (after.length > 0 || index < segments.length - 1 || answers.size > 0)
      pushTurn(
        'user',
        results.map(([call, result]) => ({ ...result, callId: ids.get(call)! })),
      );
    for (const turn of after) pushTurn(turn.role, turn.parts);
  }
  // A conversation that ends with an answer asks for more of it, which a user who said nothing does not mean.
  if (turns.at(-1)?.role === 'user' && ordered.at(-1)?.role !== 'user') pushTurn('user', [NO_CONTENT]);
  return { system, turns: ordered };
}

/** Turns a lone system prompt into user text, for protocols that require user text. */
export const withUserTurn = ({ system, turns }: OrderedTurns): OrderedTurns =>
  turns.length === 0 && system.length > 0
    ? { system: [], turns: [{ role: 'user', parts: system }] }
    : { system, turns };

/** Adds a user turn at the start, for protocols whose conversations start with the user. */
export function startWithUser(ordered: OrderedTurns): OrderedTurns {
  const { system, turns } = withUserTurn(ordered);
  return turns[0]?.role === 'assistant'
    ? { system, turns: [{ role: 'user', parts: [NO_CONTENT] }, ...turns] }
    : { system, turns };
}
