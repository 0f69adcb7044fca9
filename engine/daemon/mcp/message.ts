import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCNotification,
  type JSONRPCRequest,
} from '@modelcontextprotocol/server';
import { isJsonObject } from '../../core/base/json-object.ts';

/** JSON-RPC 2.0, section 5.1. */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;

/** A message that a client sends: servers send no requests, so its responses mean nothing. */
export type ClientMessage = JSONRPCRequest | JSONRPCNotification;

/** Builds the answer to an invalid message. Its id is null if the request's is unknown. */
export interface RpcRefusal {
  jsonrpc: '2.0';
  id: string | number | null;
  error: { code: number; message: string };
}

const isId = (value: unknown): value is string | number =>
  typeof value === 'string' || Number.isSafeInteger(value);

/**
 * Reads one message of a client. An invalid one has a separate answer (JSON-RPC 2.0, section 5): also a batch, which
 * MCP has not had since 2025-06-18, and a request whose id is null. A response gets no answer.
 */
export function readRpcMessage(
  text: string,
): { message: ClientMessage } | { refusal: RpcRefusal } | { ignored: true } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { refusal: rpcRefusal(PARSE_ERROR, 'Parse error: the message is not JSON') };
  }
  const invalidRequest = (why: string, id: string | number | null = null) => ({
    refusal: rpcRefusal(INVALID_REQUEST, `Invalid request: ${why}`, id),
  });
  if (Array.isArray(value)) return invalidRequest('batches are not supported; send one message at a time');
  if (!isJsonObject(value)) return invalidRequest('a message is an object');
  // As everywhere, null means not given.
  if (value.params === null) delete value.params;
  if (!('method' in value) && ('result' in value || 'error' in value)) return { ignored: true };
  if ('id' in value ? isJSONRPCRequest(value) : isJSONRPCNotification(value))
    return { message: value as unknown as ClientMessage };
  const id = isId(value.id) ? value.id : null;
  if (value.jsonrpc !== '2.0') return invalidRequest('jsonrpc must be "2.0"', id);
  if (typeof value.method !== 'string') return invalidRequest('method must be a string', id);
  if ('id' in value && id === null) return invalidRequest('id must be a string or an integer');
  if ('params' in value && !isJsonObject(value.params)) return invalidRequest('params must be an object', id);
  return invalidRequest('params are invalid for a request', id);
}

export const rpcRefusal = (code: number, message: string, id: string | number | null = null): RpcRefusal => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});
