import type { z } from 'zod';
import { rfc3339 } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { fieldsInvalid } from '../../core/base/fields-invalid.ts';
import { LINK_PROTOCOL, PROTOCOL_HEADER } from '../../core/link-protocol/messages.ts';
import type { LinkedWorkspace } from '../database/tables.ts';
import { hashToken } from '../secrets.ts';
import { readHeader, type ServerContext, type ServerParts } from './context.ts';

/** Rate limit per token: a burst, and then a number per second. */
const BURST = 100;
const PER_SECOND = 50;
const MOST_COUNTED = 10_000;

/** Counts the remaining requests of each token: a bucket for each; full ones are forgotten. */
function createRateLimit(now: () => number): (token: string) => boolean {
  const buckets = new Map<string, { left: number; at: number }>();
  return (token) => {
    const at = now();
    const bucket = buckets.get(token) ?? { left: BURST, at };
    buckets.delete(token);
    const left = Math.min(BURST, bucket.left + ((at - bucket.at) / 1000) * PER_SECOND);
    buckets.set(token, { left: Math.max(0, left - 1), at });
    // The least recently used one is full again.
    if (buckets.size > MOST_COUNTED) buckets.delete(buckets.keys().next().value!);
    return left >= 1;
  };
}

/** Reads the body of a request. Throws `body_invalid`, `fields_invalid`. */
export async function readBody<S extends z.ZodType>(context: ServerContext, schema: S): Promise<z.output<S>> {
  let body: unknown;
  try {
    body = JSON.parse(await context.req.text());
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new SvcError('body_invalid', 'the body is not JSON', { cause });
  }
  const parsed = schema.safeParse(body);
  if (!parsed.success) throw fieldsInvalid(parsed.error);
  return parsed.data;
}

export type LinkRequests = ReturnType<typeof createLinkRequests>;

/** Reads the tokens of workspaces and machines from their requests. */
export function createLinkRequests({ clock, workspaces }: Pick<ServerParts, 'clock' | 'workspaces'>) {
  const mayAsk = createRateLimit(() => clock.monotonic());

  function readToken(context: ServerContext): string {
    const given = readHeader(context, PROTOCOL_HEADER);
    const version = /^\d{1,4}$/.test(given ?? '') ? Number(given) : null;
    if (version !== LINK_PROTOCOL) {
      const older =
        version === null || version < LINK_PROTOCOL ? 'update svc on the machine' : 'update the server';
      throw new SvcError(
        'protocol_mismatch',
        `this server speaks ${LINK_PROTOCOL} of Svc-Protocol: ${older}`,
        {
          hint: older,
        },
      );
    }
    const token = /^Bearer (\S{1,200})$/i.exec(readHeader(context, 'authorization') ?? '')?.[1];
    if (token === undefined) throw new SvcError('token_invalid', 'a bearer token is required');
    if (!mayAsk(hashToken(token)))
      throw new SvcError('limit_reached', `more than ${PER_SECOND} requests a second`, {
        hint: 'wait for Retry-After',
        data: { retry_after_s: 2 },
      });
    return token;
  }
  const readWorkspace = (context: ServerContext): Promise<LinkedWorkspace> =>
    workspaces.findByToken(readToken(context));

  return { readToken, readWorkspace, serverTime: (): string => rfc3339(clock.now()) };
}
