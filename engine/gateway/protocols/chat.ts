import { isJsonObject } from '../../core/base/json-object.ts';
import type { SseEvent } from '../protocol.ts';
import type { TokenUsage } from '../tokens.ts';
import { type ProtocolFace, parseEventData, type UsageMeter } from './face.ts';
import { writeFault } from './fault.ts';
import { findChatUsage, readUsage, toTokenUsage } from './usage.ts';

// Inside a JSON string these quotes would be escaped.
const HAS_USAGE = /"usage"\s*:\s*\{/;
/** Strings of events that may end an answer, belong to a second choice, or contain a call. */
const HAS_STATE = /"(?:finish_reason"\s*:\s*"|index"\s*:\s*[1-9]|tool_calls")/;
const HAS_CALLS = /"tool_calls"/;
const HAS_END = /"(?:finish_reason"\s*:\s*"|index"\s*:\s*[1-9])/;
/** One pattern for all of these: most events contain none of them. */
const MATTERS = /"(?:usage"\s*:\s*\{|finish_reason"\s*:\s*"|index"\s*:\s*[1-9]|tool_calls"|error")|\[DONE\]/;
const IS_ERROR = /^data:\s*\{\s*"error"\s*:\s*[{"]/m;
const IS_DONE = /^data:\s*\[DONE\]\s*$/m;

/** Reports whether a stream event contains only usage, which a client has to request. */
export const isUsageOnly = (bytes: Buffer): boolean => {
  const text = bytes.toString('latin1');
  return HAS_USAGE.test(text) && /"choices"\s*:\s*\[\s*\]/.test(text);
};

/** Reports whether the arguments of all calls in these events are complete. */
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

/**
 * Reports whether a text is one or several JSON objects: several are the arguments of several calls, which some
 * servers number alike.
 */
function isFilledList(list: string): boolean {
  try {
    return (JSON.parse(`[${list}]`) as unknown[]).length > 0;
  } catch {
    return false;
  }
}

function createChatMeter(): UsageMeter {
  let usage: TokenUsage | null = null;
  let isDone = false;
  let hasFailed = false;
  /** Answers of the stream by index, and whether each has ended; a client may request several. */
  const choices = new Map<number, boolean>();
  /** Events that contain calls. */
  const calls: Buffer[] = [];

  function noteChoices(bytes: Buffer): void {
    const listed = parseEventData(bytes)?.choices;
    for (const choice of Array.isArray(listed) ? listed : []) {
      if (!isJsonObject(choice)) continue;
      const { index: given, finish_reason: reason } = choice;
      const index = typeof given === 'number' ? given : 0;
      // Some servers send an empty reason until there is one.
      const hasEnded = typeof reason === 'string' && reason !== '';
      choices.set(index, hasEnded || choices.get(index) === true);
    }
  }

  const haveAllEnded = (): boolean => choices.size > 0 && [...choices.values()].every(Boolean);

  return {
    readEvent(bytes) {
      const text = bytes.toString('latin1');
      if (choices.size > 0 && !MATTERS.test(text)) return;
      // A stream may report its usage repeatedly: the last number applies, and it ends nothing.
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
    // Not every service of this protocol sends [DONE], and some send only that.
    isComplete: () => haveAllEnded() || (isDone && hasWholeCalls(calls)),
    isOver: () => isDone || haveAllEnded(),
    hasFailed: () => hasFailed,
  };
}

/** The text of an answer, as most chunks have it. */
const HAS_WORDS = /"delta"\s*:\s*\{[^{}]*"content"\s*:\s*"[^"]/;

/** Reports whether a chunk contains more than the role. */
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
