import { createFailure, type Failure } from './failure.ts';
import { createRecent, cutToKeep } from './recent.ts';

/** What a run was not allowed to do by the agent's own permissions, as long as it found no other way. */
export interface Denials {
  /** `kind` is what the tool does, such as `edit`. */
  addDenial(kind: string, text: string): void;
  /** A tool of that kind did its work: it was allowed after all, or there was another way. */
  clearKind(kind: string): void;
  /** The last one that nothing made good; null when the run may pass for a success. */
  findUncleared(): Failure | null;
}

export function createDenials(): Denials {
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
