/** Counts what large requests and answers take of the memory together. */
export interface HeldBytes {
  /** False when there is no room for so many more; then nothing is counted. */
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
