/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import { asSvcError } from '../../core/base/errors.ts';
import { KIND_NAMES } from '../chats/bots.ts';
import { CHAT_KINDS, type ChatChannel, type ChatKind } from '../database/tables.ts';
import { ChannelPage, ChatsPage } from '../pages/chats.tsx';
import { ConfirmPage } from '../pages/front.tsx';
import type { ServerContext, ServerEnv, ServerParts } from './context.ts';
import { readForm, readFormLists, readSaid, requireAdmin } from './guards.ts';
import { readRefusal } from './refusals.ts';

const SAID: Readonly<Record<string, string>> = {
  saved: 'Saved.',
  connected: 'Connected. Buttons that this chat user presses now act in your name.',
  disconnected: 'Disconnected. Nothing more is sent to that private chat.',
  refused: 'The code was refused, and nothing was connected.',
  added: 'Events now go there.',
  removed: 'The channel was removed. Buttons on existing messages there no longer work.',
  unmuted: 'No longer muted.',
};

const readChatKind = (text: string): ChatKind | null => CHAT_KINDS.find((kind) => kind === text) ?? null;

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

/** Pages about connected chat users, and channels for events of the account. */
export function chatRoutes(parts: ServerParts): Hono<ServerEnv> {
  const { chats, plans, clock } = parts;
  const { bots, connections, channels } = chats;
  const routes = new Hono<ServerEnv>();

  async function renderChats(
    context: ServerContext,
    facts: { error?: string; code?: { kind: ChatKind; purpose: 'person' | 'channel'; text: string } } = {},
    status: 200 | 409 = 200,
  ) {
    const signedIn = context.get('signedIn');
    const [listed, users, claims, found, entitlements] = await Promise.all([
      bots.list(),
      connections.list(signedIn.person.id),
      connections.listClaims(signedIn.person.id),
      channels.list(signedIn.account.id),
      plans.entitlementsOf(signedIn.account.id),
    ]);
    return context.html(
      <ChatsPage
        signedIn={signedIn}
        said={readSaid(context, SAID)}
        bots={listed}
        users={users}
        claims={claims}
        channels={found}
        entitlements={entitlements}
        now={clock.now()}
        {...facts}
      />,
      status,
    );
  }

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

  /** Adds a channel, and reports the result. */
  async function addChannel(
    context: ServerContext,
    kind: ChatKind,
    place: { channel: string; name: string; isPrivate: boolean },
  ) {
    const { account, person } = context.get('signedIn');
    try {
      await channels.add(account.id, kind, place, person.name);
      return context.redirect('/app/chats?said=added', 303);
    } catch (thrown) {
      return renderChats(context, { error: readRefusal(thrown).error }, 409);
    }
  }
  routes.post('/chats/channels/:kind', requireAdmin, async (context) => {
    const kind = readChatKind(context.req.param('kind') ?? '');
    if (kind === null) return context.notFound();
    const { person } = context.get('signedIn');
    const field = await readForm(context);
    if (field('answer') !== 'yes') {
      await connections.refuse(kind, 'channel', person.id);
      return context.redirect('/app/chats?said=refused', 303);
    }
    const claim = await connections.takeChannel(kind, field('channel'), person.id);
    if (claim === null)
      return renderChats(context, { error: 'The code was sent from a different chat, or is too old.' }, 409);
    const { channel, channelName, isPrivate } = claim.place;
    return addChannel(context, kind, { channel, name: isPrivate ? claim.user.name : channelName, isPrivate });
  });
  routes.post('/chats/channels/:kind/private', requireAdmin, async (context) => {
    const kind = readChatKind(context.req.param('kind') ?? '');
    const own = await connections.list(context.get('signedIn').person.id);
    const user = own.find((each) => each.kind === kind);
    if (kind === null || user === undefined || user.private_channel === null) return context.notFound();
    return addChannel(context, kind, { channel: user.private_channel, name: user.name, isPrivate: true });
  });

  /** Finds the channel in the address; null for one of another account. */
  const findChannel = (context: ServerContext): Promise<ChatChannel | null> =>
    channels.find(context.req.param('id') ?? '', context.get('signedIn').account.id);
  const renderChannel = (context: ServerContext, channel: ChatChannel, error?: string) =>
    context.html(
      <ChannelPage
        signedIn={context.get('signedIn')}
        channel={channel}
        now={clock.now()}
        said={readSaid(context, SAID)}
        {...(error === undefined ? {} : { error })}
      />,
      error === undefined ? 200 : 422,
    );
  routes.get('/chats/channel/:id', async (context) => {
    const channel = await findChannel(context);
    return channel === null ? context.notFound() : renderChannel(context, channel);
  });
  routes.post('/chats/channel/:id', requireAdmin, async (context) => {
    const channel = await findChannel(context);
    if (channel === null) return context.notFound();
    try {
      const field = await readFormLists(context);
      await channels.change(channel, field('events[]'), context.get('signedIn').person.name);
    } catch (thrown) {
      return renderChannel(context, channel, readRefusal(thrown).error);
    }
    return context.redirect(`/app/chats/channel/${channel.id}?said=saved`, 303);
  });
  routes.post('/chats/channel/:id/unmute', requireAdmin, async (context) => {
    const channel = await findChannel(context);
    if (channel === null) return context.notFound();
    await channels.mute(channel, 0);
    return context.redirect(`/app/chats/channel/${channel.id}?said=unmuted`, 303);
  });
  routes.get('/chats/channel/:id/remove', requireAdmin, async (context) => {
    const channel = await findChannel(context);
    if (channel === null) return context.notFound();
    return context.html(
      <ConfirmPage
        signedIn={context.get('signedIn')}
        title={`Remove ${channel.name} (${KIND_NAMES[channel.kind]})?`}
        text="Nothing more is sent there, and the buttons on existing messages no longer work."
        action={`/app/chats/channel/${channel.id}/remove`}
        label="Remove"
        back={`/app/chats/channel/${channel.id}`}
      />,
    );
  });
  routes.post('/chats/channel/:id/remove', requireAdmin, async (context) => {
    const channel = await findChannel(context);
    if (channel === null) return context.notFound();
    await channels.remove(channel, context.get('signedIn').person.name);
    return context.redirect('/app/chats?said=removed', 303);
  });
  return routes;
}
