import type { SvcError } from '../../core/base/errors.ts';
import type { Scheme } from '../../core/http/signature.ts';
import type { Answer, InboundRequest } from '../request.ts';

/** A route as data, read by the shared checks in receive.ts. */
export interface Route {
  method: 'GET' | 'POST';
  scheme: Scheme;
  /** True if requests change nothing and may be repeated; otherwise a signature is valid once. */
  safe: boolean;
  /** Runs after the checks, inside `storage.write` unless `safe`. `id` comes from the path, '' when it has none. */
  handle(request: InboundRequest, id: string): Answer;
  /** Builds the answer when `handle` refuses; problem details by default. */
  answerRefusal?(error: SvcError): Answer;
}
