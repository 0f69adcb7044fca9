/** Finds whether a person can still do what an event asks for. */
export interface OpenMatters {
  isPending(decisionId: string): boolean;
  /** Returns an open question to a person; null once it is closed. */
  findQuestion(askId: number): string | null;
}

/** Reports whether a decision or question of an event is still open; true for every other event. */
export function isStillOpen(
  { kind, decisionId, askId }: { kind: string; decisionId: string | null; askId: number | null },
  { isPending, findQuestion }: OpenMatters,
): boolean {
  try {
    if (kind === 'needs_approval') return decisionId !== null && isPending(decisionId);
    return kind !== 'ask_opened' || (askId !== null && findQuestion(askId) !== null);
  } catch {
    // It was removed after a long time.
    return false;
  }
}
