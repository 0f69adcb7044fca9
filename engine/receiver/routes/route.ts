import type { SvcError } from '../../base/errors.ts';
import type { Answer, InboundRequest } from '../request.ts';
import type { Scheme } from '../signature.ts';

/** A route is data: the checks that all routes share read it, in one order, in receive.ts. */
export interface Route {
  method: 'GET' | 'POST';
  scheme: Scheme;
  /** A safe request changes nothing and may be repeated; any other uses its signature up. */
  safe: boolean;
  /** Runs after the checks; inside `storage.write` unless `safe`. `id` is the path's, '' where it has none. */
  handle(request: InboundRequest, id: string): Answer;
  /** The answer to a request that `handle` refused; left out, problem details. */
  answerRefusal?(error: SvcError): Answer;
}
