import { hash } from 'node:crypto';
import { fetch } from 'undici';
import { cutToWidth } from '../../core/base/text.ts';
import { createOutgoing } from '../../core/http/outgoing.ts';
import type { ProxySettings } from '../../core/http/proxies.ts';
import { postOnce, type SendOutcome } from '../sending/attempt.ts';
import type { PushMessage } from './compose-message.ts';

/** The server turns a text of more than 4096 bytes into a file; the ellipsis of a cut one has three. */
const MOST_BYTES = 4093;

/**
 * Publishes a message to a topic of an ntfy server. The topic is in the body, so that no address contains it. `id`
 * lets the server replace a message that it gets twice.
 */
export async function sendNtfy(
  { url, topic, token }: { url: string; topic: string; token: string | null },
  { heading, lines, link }: PushMessage,
  { id, proxies, now, signal }: { id: string; proxies: ProxySettings; now: number; signal: AbortSignal },
): Promise<SendOutcome | null> {
  const text = lines.map((line) => line.map((span) => span.text).join('')).join('\n');
  const body = JSON.stringify({
    topic,
    title: heading,
    message: cutToWidth(text, MOST_BYTES, (part) => Buffer.byteLength(part)),
    ...(link === null ? {} : { click: link }),
    sequence_id: hash('sha256', id),
  });
  const dispatcher = createOutgoing(new URL(url), proxies);
  const fetchHere = ((address: URL, init: Parameters<typeof fetch>[1]) =>
    fetch(address, { ...init, dispatcher })) as unknown as typeof globalThis.fetch;
  try {
    const headers = token === null ? {} : { authorization: `Bearer ${token}` };
    const outcome = await postOnce({ url, body, headers }, { fetch: fetchHere, now, signal });
    return outcome === null || outcome.ok
      ? outcome
      : { ...outcome, error: describeRefusal(outcome.status, token !== null) ?? outcome.error };
  } finally {
    await dispatcher.destroy();
  }
}

function describeRefusal(status: number | null, hasToken: boolean): string | null {
  if (status === 401 || status === 403)
    return hasToken
      ? `ntfy does not let this token publish to the topic (HTTP ${status})`
      : `ntfy asks for a token (HTTP ${status}): set token_env of the entry`;
  if (status === 429) return 'ntfy limits the number of messages (HTTP 429)';
  if (status === 400) return 'ntfy refuses the topic or the message (HTTP 400)';
  return null;
}
