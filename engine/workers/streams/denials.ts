import { type Failure, failure } from './failure.ts';

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
  const open = new Map<string, string>();
  return {
    add(kind, text) {
      open.delete(kind);
      open.set(kind, text);
    },
    overcome: (kind) => void open.delete(kind),
    left() {
      const text = [...open.values()].at(-1);
      return text === undefined ? null : failure('permission_denied', text, { resetAt: null });
    },
  };
}
