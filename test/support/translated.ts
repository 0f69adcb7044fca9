import type { Protocol, SseEvent } from '../../engine/gateway/protocol.ts';
import { createTranslation, type Translation } from '../../engine/gateway/translate/index.ts';
import type { Json } from './plain-protocols.ts';

export interface Exchanged {
  translation: Translation;
  /** The provider's body. */
  sent: Json;
  /** The caller's events for those of the provider, up to its end. */
  stream(events: readonly Json[]): SseEvent[];
  /** The caller's body for that of the provider. */
  answer(body: Json): Json;
}

/** An event of a provider: its data, with the name that its `type` says; `[DONE]` as it is. */
export const toEvent = (data: Json): SseEvent => ({
  event: typeof data.type === 'string' ? data.type : null,
  data: typeof data === 'string' ? data : JSON.stringify(data),
});

/** The data of events as a client parses it. */
export const parseEvents = (events: readonly SseEvent[]): Json[] =>
  events.map(({ data }) => (data === '[DONE]' ? data : JSON.parse(data)));

/** One exchange between a caller and a provider: what the caller sent, and then what the provider answers. */
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
