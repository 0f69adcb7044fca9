import { createFifo } from './fifo.ts';
import { IN_PARTS, KIND, type Kind, LARGEST_PAYLOAD, payloadOf, startFrame } from './frames.ts';

/** Cost of a waiting message besides its bytes. */
const MESSAGE_COST = 200;

interface LargeMessage {
  kind: Kind;
  number: number;
  bytes: Buffer;
  /** How many of its bytes were taken. */
  taken: number;
  isInParts: boolean;
}

/** Names what keeps its order: the messages of one call, those of one stream, and all notices. */
function orderOf(kind: Kind, number: number): string {
  if (kind === KIND.notice) return 'notices';
  if (kind >= KIND.open) return `stream ${number}`;
  return kind <= KIND.cancel ? `our call ${number}` : `their call ${number}`;
}

/**
 * Holds messages until they can be sent, as two rows: those of one frame, and those in parts, of which only one is sent
 * at a time. That limits what the other end has to hold.
 */
export function createMessageQueue() {
  const small = createFifo<Buffer>();
  /** Messages in parts, and those that must not overtake them. */
  const large = createFifo<LargeMessage>();
  /** How many messages of each order are in `large`. */
  const orders = new Map<string, number>();
  let waitingBytes = 0;

  function pushFrame(frame: Buffer): void {
    small.push(frame);
    waitingBytes += frame.length + MESSAGE_COST;
  }

  function pushLarge(message: LargeMessage, order: string): void {
    large.push(message);
    waitingBytes += message.bytes.length + MESSAGE_COST;
    orders.set(order, (orders.get(order) ?? 0) + 1);
  }

  function dropFirst({ kind, number, bytes }: LargeMessage): void {
    large.shift();
    waitingBytes -= bytes.length + MESSAGE_COST;
    const order = orderOf(kind, number);
    const left = (orders.get(order) ?? 1) - 1;
    if (left === 0) orders.delete(order);
    else orders.set(order, left);
  }

  return {
    /** Adds a frame of a few bytes. */
    pushFrame,
    push(kind: Kind, number: number, text: string): void {
      const size = Buffer.byteLength(text);
      const isInParts = size > LARGEST_PAYLOAD;
      const order = isInParts || orders.size > 0 ? orderOf(kind, number) : '';
      if (isInParts || orders.has(order)) {
        pushLarge({ kind, number, bytes: Buffer.from(text), taken: 0, isInParts }, order);
        return;
      }
      const frame = startFrame(kind, number, size);
      payloadOf(frame).write(text);
      pushFrame(frame);
    },
    takeSmall(): Buffer | null {
      const frame = small.shift();
      if (frame === undefined) return null;
      waitingBytes -= frame.length + MESSAGE_COST;
      return frame;
    },
    /** Returns the next part of the first message in parts. */
    takeLarge(): Buffer | null {
      const first = large.first();
      if (first === undefined) return null;
      const rest = first.bytes.length - first.taken;
      const isLast = rest <= LARGEST_PAYLOAD;
      const frame = isLast
        ? startFrame(first.kind, first.number, rest, first.isInParts ? IN_PARTS : 0)
        : startFrame(KIND.part, 0, LARGEST_PAYLOAD);
      first.taken += first.bytes.copy(payloadOf(frame), 0, first.taken);
      if (isLast) dropFirst(first);
      return frame;
    },
    waitingBytes: (): number => waitingBytes,
  };
}
