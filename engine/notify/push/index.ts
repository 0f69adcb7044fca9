import type { Clock } from '../../core/base/clock.ts';
import type { ProxySettings } from '../../core/http/proxies.ts';
import { shownAddress } from '../../core/http/shown-address.ts';
import type { LoggedEvent } from '../../storage/index.ts';
import type { PushEntry } from '../config.ts';
import type { OutboundEvent } from '../events.ts';
import { isForPerson } from '../for-person.ts';
import { findQuietEnd } from '../quiet-hours.ts';
import { isStillOpen, type OpenMatters } from '../still-open.ts';
import type { DeliveryTarget, SendEvents } from '../targets.ts';
import { composeMessage, type PushFacts } from './compose-message.ts';

/** Events of one such time become one message. */
const GATHER_MS = 5000;
/** Events that one message covers. */
const MOST_AT_ONCE = 500;

export interface PushDeps extends OpenMatters {
  clock: Clock;
  /** Looks up the value of a variable. */
  secret(name: string): string | undefined;
  /** `notify.quiet`. */
  quiet: string;
  proxies(): ProxySettings;
  buildBody(event: LoggedEvent, id: string): string;
}

/** Names an entry without a secret. */
function nameEntry(entry: PushEntry): string {
  const { kind, url } = entry;
  return kind === 'ntfy'
    ? `ntfy ${shownAddress(url)} ${entry.topic_env}`
    : `telegram ${shownAddress(url)} ${entry.token_env} ${entry.chat}`;
}

/** Creates a target of short messages to a person: several events at once, or of a night, are one message. */
export function createPushTarget(entry: PushEntry, deps: PushDeps): DeliveryTarget {
  /** Returns the value of each variable, or a clause about the first one that is not set. */
  function readSecrets(names: readonly string[]): string[] | { missing: string } {
    const values = names.map((name) => deps.secret(name)?.trim() ?? '');
    const at = values.indexOf('');
    return at < 0 ? values : { missing: `${names[at]} is not set` };
  }

  function sendOver(values: readonly string[]): SendEvents {
    return async (due, signal) => {
      // A retried event is due later than newer ones.
      const rows = due.toSorted((one, other) => one.id - other.id);
      const current = rows
        .map(({ body }) => JSON.parse(body) as PushFacts)
        .filter(({ event, decision_id, ask_id }) =>
          isStillOpen({ kind: event, decisionId: decision_id, askId: ask_id }, deps),
        );
      // All of it was over before it could be sent.
      if (current.length === 0)
        return { ok: true, gone: false, status: null, error: null, retryAfterMs: null };
      const message = composeMessage(current);
      const options = { proxies: deps.proxies(), now: deps.clock.now(), signal };
      // Loaded late: most engines send no messages.
      if (entry.kind === 'ntfy') {
        const [topic = '', token = null] = values;
        const { sendNtfy } = await import('./send-ntfy.ts');
        return sendNtfy({ url: entry.url, topic, token }, message, { ...options, id: rows[0]!.message_id });
      }
      const [token = ''] = values;
      const { sendTelegram } = await import('./send-telegram.ts');
      return sendTelegram({ url: entry.url, token, chat: entry.chat }, message, options);
    };
  }

  return {
    key: nameEntry(entry),
    mostAtOnce: MOST_AT_ONCE,
    isPaced: true,
    wants: (event, kind: OutboundEvent) =>
      entry.events === undefined ? isForPerson(event) : entry.events.includes(kind),
    buildBody: deps.buildBody,
    postpone(at) {
      const gathered = Math.ceil((at + 1) / GATHER_MS) * GATHER_MS;
      return findQuietEnd(deps.quiet, gathered) ?? gathered;
    },
    open() {
      const names =
        entry.kind === 'ntfy'
          ? [entry.topic_env, ...(entry.token_env ? [entry.token_env] : [])]
          : [entry.token_env];
      const values = readSecrets(names);
      return 'missing' in values ? values : { send: sendOver(values) };
    },
  };
}
