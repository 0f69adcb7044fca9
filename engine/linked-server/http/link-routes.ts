import { Hono } from 'hono';
import { SvcError } from '../../core/base/errors.ts';
import { decisionsRequest, eventsRequest, linkRequest } from '../../core/link-protocol/messages.ts';
import { telemetryDay } from '../../core/link-protocol/telemetry-day.ts';
import { commandRoutes } from './command-routes.ts';
import type { ServerEnv, ServerParts } from './context.ts';
import { createLinkRequests, readBody } from './link-requests.ts';
import { answerProblems } from './problems.ts';

/** Routes for workspaces, with their token and no cookie. */
export function linkRoutes(parts: ServerParts): Hono<ServerEnv> {
  const { machines, workspaces, events, pending, polls, usage, leases, log } = parts;
  const routes = new Hono<ServerEnv>();
  const requests = createLinkRequests(parts);
  const { readToken, readWorkspace, serverTime } = requests;

  routes.onError(answerProblems(log, 'Bearer'));

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

  routes.route('/', commandRoutes(parts, requests));
  return routes;
}
