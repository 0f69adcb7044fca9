import { createHmac } from 'node:crypto';

/** The secrets of one target: the newest first, then those still valid during a rotation. */
export type SigningSecrets = readonly [string, ...string[]];

/**
 * Builds the headers of one attempt with a fresh signature in both schemes: svc's own, as on /task (hex HMAC-SHA256 of
 * `<timestamp>.<body>`), and Standard Webhooks (base64 HMAC-SHA256 of `<id>.<timestamp>.<body>`,
 * https://www.standardwebhooks.com). Only Standard Webhooks has room for several signatures; svc's own is made with the newest secret.
 */
export function signedHeaders({
  secrets,
  messageId,
  body,
  now,
}: {
  secrets: SigningSecrets;
  messageId: string;
  body: string;
  /** Unix milliseconds. */
  now: number;
}): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const own = createHmac('sha256', secrets[0]).update(`${timestamp}.${body}`).digest('hex');
  const standard = secrets.map((secret) => {
    const signed = createHmac('sha256', standardKey(secret)).update(`${messageId}.${timestamp}.${body}`);
    return `v1,${signed.digest('base64')}`;
  });
  return {
    'x-svc-timestamp': timestamp,
    'x-svc-signature': own,
    'webhook-id': messageId,
    'webhook-timestamp': timestamp,
    'webhook-signature': standard.join(' '),
  };
}

/** Derives the Standard Webhooks key: base64 after `whsec_`, otherwise the secret's own bytes. */
function standardKey(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret, 'utf8');
}
