/**
 * Translates model calls between the protocols, for a caller of one and a provider of another: pure functions on
 * parsed bodies and events. Each protocol has a reader into the neutral form of conversation.ts and a writer out of
 * it.
 *
 * Content that another protocol cannot express (docs/reference/translation.md has the reasons):
 *
 * | refused by the name of its field | omitted |
 * | --- | --- |
 * | `n`, `candidateCount` above 1 | `store`, `metadata`, `user` and other bookkeeping marks |
 * | token probabilities, `logit_bias` | cache marks, `context_management` |
 * | `previous_response_id` and everything stored at a provider | reasoning of another provider or model |
 * | answers that are spoken, drawn, or made in the background | tools that a provider runs itself, next to others |
 * | tools that a provider runs itself, if they are all or chosen | the output of such tools |
 * | tools whose schema only their maker's models know | `seed`, `top_k` and penalties if unsupported |
 * | stop sequences by responses, of space alone by messages | effort, temperature if the model accepts none |
 * | media that the provider's protocol does not support | unknown fields, except between chat and responses |
 */
import type { Protocol, SseEvent } from '../protocol.ts';
import { writeFault } from '../protocols/fault.ts';
import { chat } from './chat/index.ts';
import type { Conversation, ProtocolDialect, TranslatedExchange } from './conversation.ts';
import { brokenFault, cutFault, readFault } from './faults.ts';
import { asFields, parseJson } from './fields.ts';
import { gemini } from './gemini/index.ts';
import { messages } from './messages/index.ts';
import { pickRepeated } from './responses/answer.ts';
import { responses } from './responses/index.ts';
import { sequenceBlocks } from './sequence-blocks.ts';
import { settleAnswer } from './settle-answer.ts';
import { createToolNames } from './tool-names.ts';

export { dropSealedReasoning } from './drop-seals.ts';
export { readFault } from './faults.ts';
export { SEAL_MARK } from './reasoning.ts';

const DIALECTS: Record<Protocol, ProtocolDialect> = { chat, responses, messages, gemini };

export interface StreamTranslator {
  /** Returns the caller's events for one event of the provider; none if the caller's protocol has no equivalent. */
  push(event: SseEvent): SseEvent[];
  /** Runs when the provider's stream is over. If it was cut off, the caller gets an error, never a clean end. */
  end(): SseEvent[];
  /** Returns why the caller received an error; null while it has not. */
  failure(): string | null;
}

/** The translation of one exchange: the request is remembered for the answer. */
export interface ProtocolTranslation {
  /**
   * Returns the provider's body for the caller's.
   * @param model - the provider's name of the model
   * @param mostOutput - its maximum output tokens; null if unknown
   * @throws `fields_invalid` for content that the provider's protocol cannot express; `data.field` names it
   */
  request(body: object, model: string, mostOutput?: number | null): object;
  /**
   * Returns the caller's body for a whole answer of the provider.
   * @throws `answer_invalid` for a body that is not an answer in the provider's protocol
   */
  response(body: object): object;
  /** Returns the caller's body for an error of the provider: parsed JSON, or text. */
  error(status: number, body: unknown): object;
  /** Translates a streamed answer. */
  stream(): StreamTranslator;
}

const listCallIds = ({ turns }: Conversation): Set<string> =>
  new Set(turns.flatMap(({ parts }) => parts.flatMap((part) => (part.kind === 'call' ? part.id : []))));

/**
 * Part of the type or key of everything with the input of a call, which may be an object whose numbers are kept exact. It begins
 * with a rare letter, so that most events are dismissed fast. Gemini marks no such event.
 */
const CALL_MARKS: Readonly<Record<Protocol, string>> = {
  chat: '_call',
  responses: '_call',
  messages: '_use',
  gemini: '',
};

export function createTranslation(from: Protocol, to: Protocol): ProtocolTranslation {
  const caller = DIALECTS[from];
  const provider = DIALECTS[to];
  let exchange: TranslatedExchange = {
    from,
    to,
    model: '',
    names: createToolNames(to),
    callIds: new Set(),
    stop: [],
    mostOutput: null,
    asked: {},
    wantsUsage: true,
  };

  function translateStream(): StreamTranslator {
    let events: SseEvent[] = [];
    const emit = (data: object | string, event?: string): void => {
      events.push({ event: event ?? null, data: typeof data === 'string' ? data : JSON.stringify(data) });
    };
    const sequence = sequenceBlocks(caller.writeStream(emit, exchange), exchange);
    const reader = provider.readStream(sequence, exchange);
    const flushEvents = (): SseEvent[] => {
      const flushed = events;
      events = [];
      return flushed;
    };
    return {
      push({ event, data }) {
        if (sequence.isOver() || data === '') return [];
        if (data.trim() === '[DONE]') reader.read(undefined, event);
        else {
          const parsed = parseJson(data, { isExact: data.includes(CALL_MARKS[to]) });
          if (parsed === undefined) sequence.fail(brokenFault());
          else reader.read(parsed, event);
        }
        return flushEvents();
      },
      end() {
        if (sequence.isOver()) return [];
        reader.end?.();
        sequence.fail(cutFault());
        return flushEvents();
      },
      failure: sequence.failure,
    };
  }

  return {
    request(body, model, mostOutput = null) {
      const asked = asFields(body);
      const conversation = caller.readRequest(asked);
      const { maxTokens } = conversation;
      const includesUsage = asFields(asked.stream_options).include_usage === true;
      exchange = {
        ...exchange,
        model,
        asked: from === 'responses' ? pickRepeated(asked) : {},
        wantsUsage: from !== 'chat' || includesUsage,
        names: createToolNames(to),
        callIds: listCallIds(conversation),
        stop: conversation.stop,
        mostOutput,
      };
      const most = maxTokens === null || mostOutput === null ? maxTokens : Math.min(maxTokens, mostOutput);
      return provider.writeRequest({ ...conversation, maxTokens: most }, exchange);
    },
    response(body) {
      const answer = provider.readAnswer(asFields(Array.isArray(body) ? body[0] : body), exchange);
      return caller.writeAnswer(settleAnswer(answer, exchange), exchange);
    },
    error: (status, body) => writeFault(from, readFault(status, body)),
    stream: translateStream,
  };
}
