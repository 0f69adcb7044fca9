import { createHmac } from 'node:crypto';

/**
 * Builds the headers of one attempt with a fresh signature in both schemes: svc's own, as on /task (hex HMAC-SHA256 of
 * `<timestamp>.<body>`), and Standard Webhooks (base64 HMAC-SHA256 of `<id>.<timestamp>.<body>`,
 * https://www.standardwebhooks.com).
 */
export function signedHeaders({
  secret,
  messageId,
  body,
  now,
}: {
  secret: string;
  messageId: string;
  body: string;
  /** Unix milliseconds. */
  now: number;
}): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  const own = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  const standard = createHmac('sha256', standardKey(secret))
    .update(`${messageId}.${timestamp}.${body}`)
    .digest('base64');
  return {
    'x-svc-timestamp': timestamp,
    'x-svc-signature': own,
    'webhook-id': messageId,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${standard}`,
  };
}

/** Derives the Standard Webhooks key: base64 after `whsec_`, otherwise the secret's own bytes. */
function standardKey(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret, 'utf8');
}
