import type { Clock } from '../core/base/clock.ts';
import type { LoggedEvent } from '../storage/index.ts';
import type { OutboundEvent } from './events.ts';
import { attemptDelivery } from './sending/index.ts';
import type { DeliveryTarget } from './targets.ts';

/** One entry of `notify.webhooks`. */
export interface EventTarget {
  url: string;
  /** Defaults to all events. */
  events?: readonly OutboundEvent[] | undefined;
  secret_env?: string | undefined;
}

interface WebhookDeps {
  clock: Clock;
  fetch: typeof globalThis.fetch;
  /** Looks up the value of a variable. */
  secret(name: string): string | undefined;
  /** `webhook.secret_env`. */
  shared: unknown;
  buildBody(event: LoggedEvent, id: string): string;
}

/** Creates a target of signed events, which are sent one by one. */
export const createWebhookTarget = (entry: EventTarget, deps: WebhookDeps): DeliveryTarget => ({
  key: entry.url,
  mostAtOnce: 1,
  isPaced: false,
  wants: (_, kind) => entry.events === undefined || entry.events.includes(kind),
  buildBody: deps.buildBody,
  postpone: (at) => at,
  open() {
    const found = findSigningSecret(entry, deps);
    if ('missing' in found) return found;
    return {
      send: ([{ url, body, message_id: messageId }], signal) =>
        attemptDelivery(
          { url, body, messageId, secrets: [found.secret] },
          { fetch: deps.fetch, now: deps.clock.now(), signal },
        ),
    };
  },
});

/** Returns the secret that signs the events of a target. */
function findSigningSecret(
  entry: EventTarget,
  { secret: findSecret, shared }: WebhookDeps,
): { secret: string } | { missing: string } {
  const own = entry.secret_env ?? '';
  // A secret per route must not be used for events: their receivers could sign requests with it.
  const named = own !== '' ? own : typeof shared === 'string' ? shared : '';
  const names = named.split(',').map((name) => name.trim());
  for (const name of names) {
    const secret = name === '' ? undefined : findSecret(name);
    if (secret !== undefined && secret !== '') return { secret };
  }
  const known = names.filter((name) => name !== '').join(', ');
  return {
    missing: known === '' ? 'set secret_env of the entry, or webhook.secret_env' : `${known} is not set`,
  };
}
