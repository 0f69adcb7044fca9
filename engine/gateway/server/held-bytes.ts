/** Counts the memory that large requests and answers use together. */
export interface HeldBytes {
  /** Returns false if there is no room; then nothing is counted. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export function createHeldBytes(most: number): HeldBytes {
  let held = 0;
  return {
    take(bytes) {
      if (held + bytes > most) return false;
      held += bytes;
      return true;
    },
    give(bytes) {
      held -= bytes;
    },
  };
}
