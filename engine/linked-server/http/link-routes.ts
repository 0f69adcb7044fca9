import { Hono } from 'hono';
import type { z } from 'zod';
import { rfc3339 } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { fieldsInvalid } from '../../core/base/fields-invalid.ts';
import {
  type CommandsAnswer,
  commandOutcome,
  decisionsRequest,
  eventsRequest,
  LINK_PROTOCOL,
  LONGEST_POLL_S,
  linkRequest,
  PROTOCOL_HEADER,
} from '../../core/link-protocol/messages.ts';
import { telemetryDay } from '../../core/link-protocol/telemetry-day.ts';
import type { LinkedWorkspace } from '../database/tables.ts';
import { hashToken } from '../secrets.ts';
import { readHeader, type ServerContext, type ServerEnv, type ServerParts } from './context.ts';
import { answerProblems } from './problems.ts';

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

/** Routes for workspaces, with their token and no cookie. */
export function linkRoutes(parts: ServerParts): Hono<ServerEnv> {
  const { clock, machines, workspaces, events, pending, commands, polls, usage, leases, log } = parts;
  const routes = new Hono<ServerEnv>();
  const mayAsk = createRateLimit(() => clock.monotonic());
  const serverTime = (): string => rfc3339(clock.now());

  routes.onError(answerProblems(log, 'Bearer'));

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

  async function readBody<S extends z.ZodType>(context: ServerContext, schema: S): Promise<z.output<S>> {
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

  routes.post('/workspaces', async (context) => {
    const machine = await machines.findByToken(readToken(context));
    if (machine === null)
      throw new SvcError('revoked', 'the token does not belong to a machine that is logged in here');
    const { workspace, token } = await workspaces.link(await readBody(context, linkRequest), machine);
    polls.revoke(workspace.id);
    return context.json({
      workspace: workspace.id,
      token,
      account: machine.account,
      person: machine.person.name,
      lease_key: leases.publicKey,
      server_time: serverTime(),
    });
  });
  routes.post('/workspace/token', async (context) => {
    const token = await workspaces.rotateToken(await readWorkspace(context));
    return context.json({ token, server_time: serverTime() });
  });
  routes.delete('/workspace', async (context) => {
    const { id, account_id, name } = await readWorkspace(context);
    await workspaces.revoke(account_id, id, name);
    polls.revoke(id);
    return context.body(null, 204);
  });

  routes.get('/lease', async (context) => {
    const workspace = await readWorkspace(context);
    return context.json({ lease: await leases.issue(workspace, context.req.query('nonce') ?? '') });
  });

  routes.post('/events', async (context) => {
    const workspace = await workspaces.findTeller(readToken(context));
    const told = await readBody(context, eventsRequest);
    await workspaces.rename(workspace, told.workspace);
    const kept = await events.add(workspace, told.events);
    return context.json({ kept, server_time: serverTime() });
  });
  routes.put('/decisions', async (context) => {
    const workspace = await readWorkspace(context);
    const told = await readBody(context, decisionsRequest);
    await workspaces.rename(workspace, told.workspace);
    await pending.replace(workspace, told);
    return context.json({ server_time: serverTime() });
  });

  routes.put('/usage/:day', async (context) => {
    const workspace = await readWorkspace(context);
    const told = await readBody(context, telemetryDay);
    if (told.day !== context.req.param('day'))
      throw new SvcError('fields_invalid', 'day: does not match the address');
    await usage.put(workspace, told);
    return context.json({ server_time: serverTime() });
  });
  routes.delete('/usage', async (context) => {
    await usage.deleteOfWorkspace(await readWorkspace(context));
    return context.body(null, 204);
  });

  const readNumber = (text: string | undefined, most: number): number =>
    /^\d{1,15}$/.test(text ?? '') ? Math.min(most, Number(text)) : 0;
  routes.get('/commands', async (context) => {
    const { id } = await workspaces.findTeller(readToken(context));
    const after = readNumber(context.req.query('after'), Number.MAX_SAFE_INTEGER);
    const ends = clock.monotonic() + 1000 * readNumber(context.req.query('wait'), LONGEST_POLL_S);
    const instance = context.req.query('instance')?.slice(0, 64) ?? '';
    const poll = polls.open(id, instance, context.req.raw.signal);
    if (poll === null)
      throw new SvcError('limit_reached', 'too many workspaces are waiting here', {
        data: { retry_after_s: 2 },
      });
    const answerPoll = (found: CommandsAnswer['commands']) => {
      context.set('isUneventful', found.length === 0);
      return context.json({
        commands: found,
        contested: poll.isContested(),
        server_time: serverTime(),
      } satisfies CommandsAnswer);
    };
    try {
      for (let mayHaveNews = true; ; ) {
        const isContested = poll.isContested();
        const found = isContested || !mayHaveNews ? [] : await commands.listWaiting(id, after);
        if (found.length > 0) return answerPoll(found);
        const left = ends - clock.monotonic();
        if (left <= 0) return answerPoll([]);
        // A contested poll is checked again when the conflict may be over.
        const why = await poll.wait(Math.min(left, isContested ? 5000 : left));
        if (why === 'displaced')
          throw new SvcError('displaced', 'another engine polls with the token of this workspace');
        if (why === 'revoked') throw new SvcError('revoked', 'this workspace was unlinked');
        if (why === 'closing' || why === 'gone') return answerPoll([]);
        mayHaveNews = why === 'news' || isContested;
      }
    } finally {
      poll.close();
    }
  });
  routes.post('/commands/:id', async (context) => {
    const workspace = await readWorkspace(context);
    const outcome = await readBody(context, commandOutcome);
    const id = context.req.param('id');
    if (!/^k_[\w-]{1,64}$/.test(id) || !(await commands.settle(workspace, id, outcome)))
      throw new SvcError('not_found', 'this workspace received no such command');
    return context.body(null, 204);
  });
  return routes;
}
