import type { SvcError } from '../../core/base/errors.ts';
import type { SignatureScheme } from '../../core/http/signature.ts';
import type { InboundRequest, ReceiverAnswer } from '../request.ts';

/** A route as data, read by the shared checks in receive.ts. */
export interface ReceiverRoute {
  method: 'GET' | 'POST';
  scheme: SignatureScheme;
  /** True if requests change nothing and may be repeated; otherwise a signature is valid once. */
  safe: boolean;
  /** Runs after the checks, inside `storage.write` unless `safe`. `id` comes from the path, '' when it has none. */
  handle(request: InboundRequest, id: string): ReceiverAnswer;
  /** Builds the answer when `handle` refuses; problem details by default. */
  answerRefusal?(error: SvcError): ReceiverAnswer;
}
