import type { SseEvent } from '../protocol.ts';
import { FACES, isUsageOnly, type UsageMeter } from '../protocols/index.ts';
import type { TokenUsage } from '../tokens.ts';
import type { ProtocolTranslation } from '../translate/index.ts';
import type { GatewayCall } from './call.ts';
import type { ClientAnswer } from './client-answer.ts';
import type { RouteCandidate } from './routing.ts';
import { createEventSplitter, parseEvent } from './sse.ts';
import type { UpstreamHeaders } from './upstream.ts';

/** Passes the events of a stream from its upstream to the client. */
export interface StreamRelay {
  push(chunk: Buffer): void;
  /** Called when the upstream has sent everything; the last event may lack its blank line. */
  end(): void;
  /** Ends the client's stream without more data of the upstream, which has sent its last event. */
  finish(): void;
  /** Number of events that the upstream has sent. */
  events(): number;
  /** Ends its timers; no further event is passed on. */
  release(): void;
}

export interface StreamRelayOptions {
  answer: ClientAnswer;
  /** Headers of the upstream's answer. */
  headers: UpstreamHeaders;
  meter: UsageMeter;
  translator: ProtocolTranslation | null;
  /** True if the client did not request the usage that the stream reports. */
  stripsUsage: boolean;
  /** Maximum bytes of one event. */
  mostBytes: number;
  /** Milliseconds between two keep-alive events. */
  keepAliveMs: number;
  /** Called at most a few times a second while an answer arrives. */
  onProgress(usage: TokenUsage | null, events: number, bytes: number): void;
  /** Called for an error before any content: the client has seen nothing of the stream. */
  onFailedStart(event: Buffer): void;
  /** Called for a stream that cannot be continued. */
  onBroken(message: string): void;
  /** Called after the end of the client's stream; `fault` says why it is not a success. */
  onEnd(fault: string | null): void;
}

const PROGRESS_MS = 250;
/** How much of a stream's start is buffered; some repeat the request's instructions in the first event. */
const MOST_HELD_BYTES = 256 * 1024;

export function createStreamRelay(
  { face }: GatewayCall,
  { provider: { name }, protocol }: RouteCandidate,
  { answer, headers, meter, translator, ...options }: StreamRelayOptions,
): StreamRelay {
  const splitter = createEventSplitter();
  const translated = translator?.stream() ?? null;
  let events = 0;
  let progressAt = 0;
  /** The start of the stream, buffered until it has content; null once the client has it. */
  let held: (Buffer | SseEvent)[] | null = [];
  let heldBytes = 0;
  let holding: NodeJS.Timeout | null = null;
  let isReleased = false;
  const { keepAlive } = face;
  const pinging =
    keepAlive === null
      ? null
      : setInterval(() => {
          sendHeld();
          answer.sendEvents([keepAlive], headers);
        }, options.keepAliveMs);

  function sendHeld(): void {
    const out = held ?? [];
    held = null;
    answer.sendEvents(out, headers);
  }

  function passEvents(found: readonly Buffer[]): void {
    const out: (Buffer | SseEvent)[] = [];
    for (const event of found) {
      events += 1;
      meter.readEvent(event);
      if (held !== null) {
        // The client has seen none of it, so this is like an error before the stream.
        if (meter.hasFailed()) {
          options.onFailedStart(event);
          return;
        }
        heldBytes += event.length;
        if (FACES[protocol].hasContent(event) || heldBytes > MOST_HELD_BYTES) sendHeld();
      }
      if (translated !== null) {
        const parsed = parseEvent(event);
        if (parsed !== null) out.push(...translated.push(parsed));
      } else if (!options.stripsUsage || !isUsageOnly(event)) out.push(event);
    }
    if (held === null) answer.sendEvents(out, headers);
    else {
      held.push(...out);
      holding ??= setTimeout(sendHeld, options.keepAliveMs);
    }
  }

  /** Runs a step of the translation, which throws for events that it cannot read; false if it did. */
  function translateSafely(step: () => void): boolean {
    try {
      step();
      return true;
    } catch (error) {
      options.onBroken(`the answer of ${name} could not be translated: ${(error as Error).message}`);
      return false;
    }
  }

  function reportProgress(): void {
    const now = performance.now();
    if (now - progressAt < PROGRESS_MS) return;
    progressAt = now;
    options.onProgress(meter.usage(), events, answer.bytes());
  }

  function finish(): void {
    if (!meter.isComplete() && !meter.hasFailed()) {
      options.onBroken(`${name} cut off its answer`);
      return;
    }
    sendHeld();
    if (!translateSafely(() => answer.sendEvents(translated?.end() ?? [], headers))) return;
    answer.endStream(headers);
    const broken = translated?.failure() ?? null;
    options.onEnd(
      meter.hasFailed() ? `${name} reported an error within its answer` : broken && `${name}: ${broken}`,
    );
  }

  return {
    push(chunk) {
      pinging?.refresh();
      if (!translateSafely(() => passEvents(splitter.push(chunk))) || isReleased) return;
      if (splitter.pending() > options.mostBytes) options.onBroken(`an event of ${name} is too large`);
      else reportProgress();
    },
    end() {
      const isRead =
        splitter.pending() === 0 || translateSafely(() => passEvents(splitter.push(Buffer.from('\n\n'))));
      if (isRead && !isReleased) finish();
    },
    finish,
    events: () => events,
    release() {
      isReleased = true;
      if (pinging !== null) clearInterval(pinging);
      if (holding !== null) clearTimeout(holding);
    },
  };
}
