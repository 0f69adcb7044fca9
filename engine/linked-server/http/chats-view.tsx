/** @jsxImportSource hono/jsx */
import { CHAT_KINDS, type ChatKind } from '../database/tables.ts';
import { ChatsPage } from '../pages/chats.tsx';
import type { ServerContext, ServerParts } from './context.ts';
import { readSaid } from './guards.ts';

/** The texts after a redirection, by the word in its address. */
export const CHATS_SAID: Readonly<Record<string, string>> = {
  saved: 'Saved.',
  connected: 'Connected. Buttons that this chat user presses now act in your name.',
  disconnected: 'Disconnected. Nothing more is sent to that private chat.',
  refused: 'The code was refused, and nothing was connected.',
  added: 'Events now go there.',
  removed: 'The channel was removed. Buttons on existing messages there no longer work.',
  unmuted: 'No longer muted.',
};

export const readChatKind = (text: string): ChatKind | null =>
  CHAT_KINDS.find((kind) => kind === text) ?? null;

export type RenderChats = ReturnType<typeof createChatsView>;

/** Returns a function that renders the page about chats. */
export function createChatsView({ chats, plans, clock }: ServerParts) {
  const { bots, connections, channels } = chats;
  return async function renderChats(
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
        said={readSaid(context, CHATS_SAID)}
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
  };
}
