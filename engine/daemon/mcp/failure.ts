import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { asSvcError } from '../../core/base/errors.ts';

/** The error of a JSON-RPC answer. */
export interface ProtocolFailure {
  code: number;
  message: string;
  data?: unknown;
}

/** Describes why a request could not be served. */
export function describeFailure(thrown: unknown): ProtocolFailure {
  if (!(thrown instanceof ProtocolError))
    return { code: ProtocolErrorCode.InternalError, message: asSvcError(thrown).message };
  const { code, message, data } = thrown;
  return { code, message, ...(data === undefined ? {} : { data }) };
}
