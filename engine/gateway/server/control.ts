import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLoopback } from '../../core/base/values/address.ts';
import type { RouteModels } from '../../core/models/index.ts';
import type { GatewaySettings } from '../settings.ts';
import { sendBody, sendJson } from './answer.ts';

/** The state of one provider, for people. */
export interface ProviderStatus {
  name: string;
  tier: string;
  model: string;
  protocols: readonly string[];
  hasKey: boolean;
  /** Unix ms until which it is tried after the others. Null if it is not delayed. */
  coolUntil: number | null;
  lastFailure: { at: number; what: string } | null;
  lastSuccessAt: number | null;
  /** Number of models in its list; null while unknown. */
  models: number | null;
  /** The model for names such as svc/auto: its configured model, or the only one of its list; '' for none. */
  ownModel: string;
  /** The model for a trial: the same, otherwise the cheapest of its list; null if no price is known. */
  trialModel: string | null;
}

/** The state of a gateway. */
export interface GatewayState {
  pid: number;
  version: string;
  host: string;
  port: number;
  mode: GatewaySettings['mode'];
  startedAt: string;
  memoryBytes: number;
  active: number;
  calls: number;
  budgetTokensDay: number;
  spentToday: number;
  reservedToday: number;
  /** The holders whose calls are logged with their content. */
  contentOf: readonly string[];
  providers: ProviderStatus[];
}

/** The engine's requests to its gateway, below `/-/`, with the token of the record; and `/metrics`. */
export interface ControlEndpoint {
  handles(path: string): boolean;
  handle(request: IncomingMessage, response: ServerResponse, path: string, key: string | null): Promise<void>;
}

const MOST_BYTES = 1024 * 1024;

export function createControl({
  token,
  state,
  apply,
  stop,
  models,
  metrics,
}: {
  token: string;
  state(): GatewayState;
  apply(settings: GatewaySettings): void;
  /** Stops listening, and ends when the calls are over. */
  stop(): void;
  models(): Promise<RouteModels>;
  metrics(): string;
}): ControlEndpoint {
  const expected = Buffer.from(token);
  const isToken = (key: string | null): boolean => {
    const shown = Buffer.from(key ?? '');
    return shown.length === expected.length && timingSafeEqual(shown, expected);
  };

  return {
    handles: (path) => path.startsWith('/-/') || path === '/metrics',
    async handle(request, response, path, key) {
      const isNear = isLoopback(request.socket.remoteAddress ?? '');
      if (!isNear || !isToken(key)) {
        request.resume();
        return sendJson(response, 403, { error: 'only the engine of the workspace may call this' });
      }
      const { method } = request;
      if (path === '/metrics' && method === 'GET')
        return sendBody(response, 200, metrics(), {
          'content-type': 'text/plain; version=0.0.4; charset=utf-8',
        });
      if (path === '/-/status' && method === 'GET') return sendJson(response, 200, state());
      if (path === '/-/models' && method === 'GET') return sendJson(response, 200, await models());
      if (path === '/-/settings' && method === 'POST') {
        apply(JSON.parse(await readControlBody(request)) as GatewaySettings);
        return sendJson(response, 200, state());
      }
      if (path === '/-/stop' && method === 'POST') {
        stop();
        return sendJson(response, 200, {});
      }
      request.resume();
      sendJson(response, 404, { error: 'not found' });
    },
  };
}

async function readControlBody(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > MOST_BYTES) throw new Error('too large');
  }
  return text;
}
