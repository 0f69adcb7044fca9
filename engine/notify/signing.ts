import { createHmac } from 'node:crypto';

/**
 * Headers of one try, signed afresh. Both schemes over the same bytes:
 * ours as on /task (hex HMAC-SHA256 of `<timestamp>.<body>`), and Standard Webhooks (base64 HMAC-SHA256 of
 * `<id>.<timestamp>.<body>`, https://www.standardwebhooks.com).
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

/** A secret that was issued as `whsec_…` is base64; any other is taken as it is written. */
function standardKey(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret, 'utf8');
}
