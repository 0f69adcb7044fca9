import { Hono } from 'hono';
import { asSvcError } from '../../core/base/errors.ts';
import type { ServerEnv, ServerParts } from './context.ts';

/** Requests of chat services to this server. They have no cookie; each request is verified separately. */
export function chatRequests({ chats, log }: ServerParts): Hono<ServerEnv> {
  const routes = new Hono<ServerEnv>();
  routes.post('/:kind/*', async (context) => {
    const { path } = context.req;
    const kind = context.req.param('kind');
    const request = {
      path: path.slice(`/chats/${kind}/`.length),
      headers: Object.fromEntries(context.req.raw.headers),
      body: Buffer.from(await context.req.arrayBuffer()),
    };
    try {
      const { status, body = '' } = await chats.bots.receive(kind, request);
      return typeof body === 'string' ? context.body(body, status as 200) : context.json(body, status as 200);
    } catch (thrown) {
      log.error({ bot: kind, error: asSvcError(thrown).message }, 'a request of a chat service failed');
      return context.body('', 500);
    }
  });
  return routes;
}
