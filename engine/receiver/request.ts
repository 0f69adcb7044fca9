import type { ErrorCode } from '../core/base/errors.ts';
import type { SignedHeaders } from '../core/http/signature.ts';

/** The part of a request that arrives before its body. */
export interface RequestHead {
  method: string;
  /** Path without the query. */
  path: string;
  headers: SignedHeaders;
  /** The sender's address. */
  remote: string;
}

/** A whole request; signatures are verified over exactly these bytes. */
export interface InboundRequest extends RequestHead {
  body: Buffer;
}

/** A response, with what the access log records about it. */
export interface ReceiverAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** The error's code, if it is one. */
  code: ErrorCode | null;
  /** The task that the answer names, if any. */
  taskId: string | null;
}

const JSON_HEADERS = Object.freeze({ 'content-type': 'application/json' });

export const jsonAnswer = (status: number, body: unknown, taskId: string | null = null): ReceiverAnswer => ({
  status,
  headers: JSON_HEADERS,
  body: JSON.stringify(body),
  code: null,
  taskId,
});
