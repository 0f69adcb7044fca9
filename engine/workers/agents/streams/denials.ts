import { createFailure, type StreamFailure } from './failure.ts';
import { createRecent, cutToKeep } from './recent.ts';

/** Calls that the agent's own permissions denied, unless it found another way. */
export interface ToolDenials {
  /** `kind` is the tool's action, such as `edit`. */
  addDenial(kind: string, text: string): void;
  /** Clears denials of a kind: a tool of that kind succeeded later. */
  clearKind(kind: string): void;
  /** Returns the last uncleared denial; null if the run counts as a success. */
  findUncleared(): StreamFailure | null;
}

export function createDenials(): ToolDenials {
  const open = createRecent<string>();
  return {
    addDenial: (kind, text) => open.set(kind, cutToKeep(text, 4096)),
    clearKind: (kind) => open.delete(kind),
    findUncleared() {
      const text = open.values().at(-1);
      return text === undefined ? null : createFailure('permission_denied', text, { resetAt: null });
    },
  };
}
