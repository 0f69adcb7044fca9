/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import type { ChatKind } from '../database/tables.ts';
import { chatChannelRoutes } from './chat-channel-routes.tsx';
import { createChatsView, readChatKind } from './chats-view.tsx';
import type { ServerEnv, ServerParts } from './context.ts';
import { readForm } from './guards.ts';

/** Pages about connected chat users, and channels for events of the account. */
export function chatRoutes(parts: ServerParts): Hono<ServerEnv> {
  const { bots, connections } = parts.chats;
  const renderChats = createChatsView(parts);
  const routes = new Hono<ServerEnv>();

  const isSetUp = async (kind: ChatKind): Promise<boolean> =>
    (await bots.list()).some((bot) => bot.kind === kind);

  routes.get('/chats', (context) => renderChats(context));
  for (const [path, purpose] of [
    ['connect', 'person'],
    ['channels', 'channel'],
  ] as const)
    routes.post(`/chats/${path}/:kind/code`, async (context, next) => {
      const kind = readChatKind(context.req.param('kind'));
      if (kind === null || !(await isSetUp(kind))) return context.notFound();
      const { person } = context.get('signedIn');
      if (purpose === 'channel' && person.role !== 'admin') return next();
      const text = await connections.makeCode(kind, purpose, person.id);
      return renderChats(context, { code: { kind, purpose, text } });
    });
  routes.post('/chats/connect/:kind', async (context) => {
    const kind = readChatKind(context.req.param('kind'));
    if (kind === null) return context.notFound();
    const { person } = context.get('signedIn');
    const field = await readForm(context);
    if (field('answer') !== 'yes') {
      await connections.refuse(kind, 'person', person.id);
      return context.redirect('/app/chats?said=refused', 303);
    }
    return (await connections.connect(kind, field('user'), person))
      ? context.redirect('/app/chats?said=connected', 303)
      : renderChats(context, { error: 'Someone else sent the code, or it is too old.' }, 409);
  });
  routes.post('/chats/disconnect/:kind', async (context) => {
    const kind = readChatKind(context.req.param('kind'));
    if (kind === null || !(await connections.disconnect(kind, context.get('signedIn').person)))
      return context.notFound();
    return context.redirect('/app/chats?said=disconnected', 303);
  });

  routes.route('/', chatChannelRoutes(parts, renderChats));
  return routes;
}
