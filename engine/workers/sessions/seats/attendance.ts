/** Counts the clients that are attached to each session. */
export function createAttendance() {
  const held = new Map<string, number>();
  return {
    /** Attaches a client. Call the returned function when it disconnects. */
    hold(sessionId: string): () => void {
      let isHere = true;
      held.set(sessionId, (held.get(sessionId) ?? 0) + 1);
      return () => {
        if (!isHere) return;
        isHere = false;
        const left = (held.get(sessionId) ?? 1) - 1;
        if (left > 0) held.set(sessionId, left);
        else held.delete(sessionId);
      };
    },
    holders: (sessionId: string): number => held.get(sessionId) ?? 0,
  };
}
