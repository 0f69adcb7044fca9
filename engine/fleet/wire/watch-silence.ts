/** Sends a sign of life when nothing else is sent, and ends a link whose other end is silent. */
export function watchSilence({
  aliveMs,
  silentMs,
  now,
  sentAt,
  sendAlive,
  onSilent,
}: {
  aliveMs: number;
  silentMs: number;
  now(): number;
  /** Returns the time of the last write. */
  sentAt(): number;
  sendAlive(): void;
  onSilent(): void;
}) {
  const lookMs = Math.max(1, Math.min(aliveMs, silentMs) / 2);
  let hasHeard = false;
  /** How long this end has listened in vain. */
  let silence = 0;
  let lookedAt = now();
  let lastCheck: NodeJS.Immediate | undefined;

  function look(): void {
    const time = now();
    const passed = time - lookedAt;
    lookedAt = time;
    // A process that was stopped itself starts to count again: what it has missed waits to be read.
    if (hasHeard || passed > 2 * lookMs) silence = 0;
    else silence += passed;
    hasHeard = false;
    if (silence >= silentMs)
      // Timers run before what has arrived is read.
      lastCheck = setImmediate(() => {
        if (!hasHeard) onSilent();
      });
    if (time - sentAt() >= aliveMs - 1) sendAlive();
  }
  const timer = setInterval(look, lookMs).unref();

  return {
    /** Called for everything that arrives. */
    noteSign(): void {
      hasHeard = true;
    },
    stop(): void {
      clearInterval(timer);
      clearImmediate(lastCheck);
    },
  };
}
