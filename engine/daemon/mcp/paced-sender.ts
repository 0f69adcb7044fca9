/** Sends a message about a thing; a newer one about the same thing may replace it. */
export type PacedSender<M> = (about: string, message: M) => void;

/**
 * Creates a sender that, while the receiver does not read, keeps only the newest message about each thing.
 * @param send returns false if the receiver reads slower than we write
 * @param onDrained calls its argument once the receiver has caught up
 */
export function createPacedSender<M>(
  send: (message: M) => boolean,
  onDrained: (work: () => void) => void,
): PacedSender<M> {
  /** Null while the receiver reads. */
  let held: Map<string, M> | null = null;
  function sendHeld(): void {
    const waiting = held ?? new Map<string, M>();
    held = null;
    for (const [about, message] of waiting) sendPaced(about, message);
  }
  function sendPaced(about: string, message: M): void {
    if (held !== null) {
      // At the end: a message may mean that those before it have been sent.
      held.delete(about);
      held.set(about, message);
    } else if (!send(message)) {
      held = new Map();
      onDrained(sendHeld);
    }
  }
  return sendPaced;
}
