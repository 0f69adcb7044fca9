import { type Failure, failure } from './failure.ts';
import { createRecent, keptText } from './recent.ts';

/** What a run was not allowed to do by the agent's own permissions, as long as it found no other way. */
export interface Denials {
  /** `kind` is what the tool does, such as `edit`. */
  add(kind: string, text: string): void;
  /** A tool of that kind did its work: it was allowed after all, or there was another way. */
  overcome(kind: string): void;
  /** The last one that nothing made good; null when the run may pass for a success. */
  left(): Failure | null;
}

export function createDenials(): Denials {
  const open = createRecent<string>();
  return {
    add: (kind, text) => open.set(kind, keptText(text, 4096)),
    overcome: (kind) => open.delete(kind),
    left() {
      const text = open.values().at(-1);
      return text === undefined ? null : failure('permission_denied', text, { resetAt: null });
    },
  };
}
