import { asSvcError, isErrorCode, SvcError } from './errors.ts';
import { readParts, Sentence } from './sentence.ts';

/** An error as data for another process. */
export interface WireError {
  message: string;
  /** The facts of the error, with `code`, and `hint` and `hint_parts` if it has a hint. */
  data: Record<string, unknown>;
}

/**
 * Converts a thrown value for another process. A hint is included as text; with operations in it, also in a form into
 * which a client puts its own names.
 */
export function toWireError(thrown: unknown): WireError {
  const { code, message, hint, data } = asSvcError(thrown);
  return {
    message,
    data: {
      ...data,
      code,
      ...(hint === undefined ? {} : { hint: String(hint) }),
      ...(hint instanceof Sentence ? { hint_parts: hint.parts } : {}),
    },
  };
}

/** Converts the data of another process back; an unknown code becomes `internal`. */
export function fromWireError({ message, data: sent }: { message: string; data?: unknown }): SvcError {
  const { code, hint, hint_parts, ...data } = (sent ?? {}) as Record<string, unknown>;
  const said = readParts(hint_parts) ?? (typeof hint === 'string' ? hint : undefined);
  return new SvcError(isErrorCode(code) ? code : 'internal', message, {
    ...(said === undefined ? {} : { hint: said }),
    data,
  });
}
