import type { Protocol, SseEvent } from '../../../engine/gateway/protocol.ts';
import { createTranslation, type ProtocolTranslation } from '../../../engine/gateway/translate/index.ts';
import type { Json } from './plain-protocols.ts';

export interface Exchanged {
  translation: ProtocolTranslation;
  /** Returns the provider's body. */
  sent: Json;
  /** Returns the caller's events for the provider's complete stream. */
  stream(events: readonly Json[]): SseEvent[];
  /** Returns the caller's body for the provider's body. */
  answer(body: Json): Json;
}

/** Formats an event of a provider: its data, named after its `type`; `[DONE]` stays as it is. */
export const toEvent = (data: Json): SseEvent => ({
  event: typeof data.type === 'string' ? data.type : null,
  data: typeof data === 'string' ? data : JSON.stringify(data),
});

/** Returns the data of events as a client parses them. */
export const parseEvents = (events: readonly SseEvent[]): Json[] =>
  events.map(({ data }) => (data === '[DONE]' ? data : JSON.parse(data)));

/** One exchange between a caller and a provider: the caller's request, then the provider's answer. */
export function exchange(from: Protocol, to: Protocol, body: Json = {}, model = 'm'): Exchanged {
  const translation = createTranslation(from, to);
  const sent = JSON.parse(JSON.stringify(translation.request(body, model)));
  return {
    translation,
    sent,
    stream(events) {
      const stream = translation.stream();
      return [...events.flatMap((event) => stream.push(toEvent(event))), ...stream.end()];
    },
    answer: (whole) => JSON.parse(JSON.stringify(translation.response(whole))),
  };
}
