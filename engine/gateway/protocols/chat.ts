import { isJsonObject } from '../../core/base/json-object.ts';
import type { SseEvent } from '../protocol.ts';
import type { TokenUsage } from '../tokens.ts';
import { type Meter, type ProtocolFace, parseEventData } from './face.ts';
import { writeFault } from './fault.ts';
import { findChatUsage, readUsage, toTokenUsage } from './usage.ts';

// Inside a string of JSON these quotes would have backslashes before them.
const HAS_USAGE = /"usage"\s*:\s*\{/;
/** What may end an answer, belong to a choice beyond the first, or tell of a call. */
const HAS_STATE = /"(?:finish_reason"\s*:\s*"|index"\s*:\s*[1-9]|tool_calls")/;
const HAS_CALLS = /"tool_calls"/;
const HAS_END = /"(?:finish_reason"\s*:\s*"|index"\s*:\s*[1-9])/;
/** One of all these: most events have none of them. */
const MATTERS = /"(?:usage"\s*:\s*\{|finish_reason"\s*:\s*"|index"\s*:\s*[1-9]|tool_calls"|error")|\[DONE\]/;
const IS_ERROR = /^data:\s*\{\s*"error"\s*:\s*[{"]/m;
const IS_DONE = /^data:\s*\[DONE\]\s*$/m;

/** Whether an event of a stream has nothing but usage, as those have that a client has to ask for. */
export const isUsageOnly = (bytes: Buffer): boolean => {
  const text = bytes.toString('latin1');
  return HAS_USAGE.test(text) && /"choices"\s*:\s*\[\s*\]/.test(text);
};

/** Whether the arguments of all calls that these events tell are whole. */
function hasWholeCalls(events: readonly Buffer[]): boolean {
  const texts = new Map<string, string>();
  for (const bytes of events) {
    const choices = parseEventData(bytes)?.choices;
    for (const choice of Array.isArray(choices) ? choices : []) {
      const { tool_calls: pieces } =
        (isJsonObject(choice) && isJsonObject(choice.delta) && choice.delta) || {};
      for (const piece of Array.isArray(pieces) ? pieces : []) {
        if (!isJsonObject(piece)) continue;
        const told = isJsonObject(piece.function) ? piece.function.arguments : undefined;
        const key = `${String(choice.index)} ${String(piece.index ?? piece.id)}`;
        texts.set(key, `${texts.get(key) ?? ''}${typeof told === 'string' ? told : ''}`);
      }
    }
  }
  return [...texts.values()].every((text) => isFilledList(text.replaceAll(/\}\s*\{/g, '},{')));
}

/** Several objects one after the other are the arguments of several calls, which some servers number alike. */
function isFilledList(list: string): boolean {
  try {
    return (JSON.parse(`[${list}]`) as unknown[]).length > 0;
  } catch {
    return false;
  }
}

function createChatMeter(): Meter {
  let usage: TokenUsage | null = null;
  let isDone = false;
  let hasFailed = false;
  /** Answers of the stream, by their index, and whether each has ended; a client may have asked for several. */
  const choices = new Map<number, boolean>();
  /** Events that tell of calls. */
  const calls: Buffer[] = [];

  function noteChoices(bytes: Buffer): void {
    const listed = parseEventData(bytes)?.choices;
    for (const choice of Array.isArray(listed) ? listed : []) {
      if (!isJsonObject(choice)) continue;
      const { index: given, finish_reason: reason } = choice;
      const index = typeof given === 'number' ? given : 0;
      // Some servers have an empty word for it until there is one.
      const hasEnded = typeof reason === 'string' && reason !== '';
      choices.set(index, hasEnded || choices.get(index) === true);
    }
  }

  const haveAllEnded = (): boolean => choices.size > 0 && [...choices.values()].every(Boolean);

  return {
    readEvent(bytes) {
      const text = bytes.toString('latin1');
      if (choices.size > 0 && !MATTERS.test(text)) return;
      // A stream may tell its usage again and again: the last number counts, and it ends nothing.
      if (HAS_USAGE.test(text))
        usage = toTokenUsage(readUsage('chat', findChatUsage(parseEventData(bytes) ?? {}))) ?? usage;
      const hasState = HAS_STATE.test(text);
      const hasCalls = hasState && HAS_CALLS.test(text);
      if (hasCalls) calls.push(bytes);
      if (choices.size === 0 || (hasState && (!hasCalls || HAS_END.test(text)))) noteChoices(bytes);
      isDone ||= IS_DONE.test(text);
      hasFailed ||= IS_ERROR.test(text);
    },
    readAnswer(body) {
      if (!isJsonObject(body)) return;
      usage = toTokenUsage(readUsage('chat', findChatUsage(body)));
      hasFailed = isJsonObject(body.error) && body.choices === undefined && body.data === undefined;
    },
    usage: () => usage,
    // Not every service that speaks this protocol says [DONE], and some say it alone.
    isComplete: () => haveAllEnded() || (isDone && hasWholeCalls(calls)),
    isOver: () => isDone || haveAllEnded(),
    hasFailed: () => hasFailed,
  };
}

/** Words of an answer, as most chunks have them. */
const HAS_WORDS = /"delta"\s*:\s*\{[^{}]*"content"\s*:\s*"[^"]/;

/** Whether a chunk has more than the role of the one who answers. */
function hasChatContent(event: Buffer): boolean {
  const text = event.toString('latin1');
  if (HAS_WORDS.test(text) || IS_DONE.test(text)) return true;
  const choices = parseEventData(event)?.choices;
  return (Array.isArray(choices) ? choices : [])
    .filter(isJsonObject)
    .some(({ delta, text, finish_reason }) => {
      const { role: _, ...said } = isJsonObject(delta) ? delta : {};
      return [finish_reason, text, ...Object.values(said)].some(isFilled);
    });
}

const isFilled = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== null && value !== undefined && value !== '';

/** OpenAI's chat completions, which most services speak. */
export const chat: ProtocolFace = {
  name: 'chat',
  formatStreamError: (fault) => ({ event: null, data: JSON.stringify(writeFault('chat', fault)) }),
  keepAlive: null,
  createMeter: createChatMeter,
  hasContent: hasChatContent,
  outputLimits: ['max_completion_tokens', 'max_tokens'],
  formatAnswer: ({ model, text, usage }) => ({
    id: 'chatcmpl-svc',
    object: 'chat.completion',
    created: 0,
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text, refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: formatChatUsage(usage),
  }),
  formatStream({ model, text, usage }) {
    const head = { id: 'chatcmpl-svc', object: 'chat.completion.chunk', created: 0, model };
    const chunk = (delta: object, reason: string | null): SseEvent =>
      dataEvent({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] });
    return [
      chunk({ role: 'assistant', content: '' }, null),
      chunk({ content: text }, null),
      chunk({}, 'stop'),
      dataEvent({ ...head, choices: [], usage: formatChatUsage(usage) }),
      { event: null, data: '[DONE]' },
    ];
  },
};

const dataEvent = (data: object): SseEvent => ({ event: null, data: JSON.stringify(data) });

const formatChatUsage = ({ input, output, cacheRead }: TokenUsage): object => ({
  prompt_tokens: input + cacheRead,
  completion_tokens: output,
  total_tokens: input + cacheRead + output,
  prompt_tokens_details: { cached_tokens: cacheRead },
});
