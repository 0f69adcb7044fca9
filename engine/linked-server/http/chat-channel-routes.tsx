/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import { KIND_NAMES } from '../chats/kind-names.ts';
import type { ChatChannel, ChatKind } from '../database/tables.ts';
import { ChannelPage } from '../pages/chats.tsx';
import { ConfirmPage } from '../pages/front.tsx';
import { CHATS_SAID, type RenderChats, readChatKind } from './chats-view.tsx';
import type { ServerContext, ServerEnv, ServerParts } from './context.ts';
import { readForm, readFormLists, readSaid, requireAdmin } from './guards.ts';
import { readRefusal } from './refusals.ts';

/** Adds channels for events of the account, and shows and changes them. */
export function chatChannelRoutes(parts: ServerParts, renderChats: RenderChats): Hono<ServerEnv> {
  const { connections, channels } = parts.chats;
  const routes = new Hono<ServerEnv>();

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
  routes.route('/', oneChannelRoutes(parts));
  return routes;
}

/** The page of a channel, and its changes. */
function oneChannelRoutes({ chats: { channels }, clock }: ServerParts): Hono<ServerEnv> {
  const routes = new Hono<ServerEnv>();

  /** Finds the channel in the address; null for one of another account. */
  const findChannel = (context: ServerContext): Promise<ChatChannel | null> =>
    channels.find(context.req.param('id') ?? '', context.get('signedIn').account.id);
  const renderChannel = (context: ServerContext, channel: ChatChannel, error?: string) =>
    context.html(
      <ChannelPage
        signedIn={context.get('signedIn')}
        channel={channel}
        now={clock.now()}
        said={readSaid(context, CHATS_SAID)}
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
