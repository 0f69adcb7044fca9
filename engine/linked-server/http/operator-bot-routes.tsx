/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import { BOT_FIELDS } from '../chats/bot-settings.ts';
import { KIND_NAMES } from '../chats/kind-names.ts';
import { CHAT_KINDS, type ChatKind } from '../database/tables.ts';
import { BotPage } from '../pages/bots.tsx';
import { ConfirmPage } from '../pages/front.tsx';
import type { ServerContext, ServerEnv, ServerParts } from './context.ts';
import { readForm } from './guards.ts';
import type { RenderOperator } from './operator-view.tsx';
import { readRefusal } from './refusals.ts';

/** Pages about the bots of this server. */
export function operatorBotRoutes(
  { chats, origin }: ServerParts,
  renderOperator: RenderOperator,
): Hono<ServerEnv> {
  const routes = new Hono<ServerEnv>();

  const readBotKind = (context: ServerContext): ChatKind | null =>
    CHAT_KINDS.find((kind) => kind === context.req.param('kind')) ?? null;
  const renderBot = async (context: ServerContext, kind: ChatKind, facts: { error?: string } = {}) =>
    context.html(
      <BotPage
        signedIn={context.get('signedIn')}
        kind={kind}
        bot={(await chats.bots.list()).find((bot) => bot.kind === kind) ?? null}
        origin={origin}
        said={context.req.query('said') === 'saved' ? 'Saved. The bot starts now.' : null}
        {...facts}
      />,
      facts.error === undefined ? 200 : 422,
    );
  routes.get('/bots/:kind', async (context) => {
    const kind = readBotKind(context);
    return kind === null ? context.notFound() : renderBot(context, kind);
  });
  routes.post('/bots/:kind', async (context) => {
    const kind = readBotKind(context);
    if (kind === null) return context.notFound();
    const field = await readForm(context);
    const settings = Object.fromEntries(BOT_FIELDS[kind].map(({ name }) => [name, field(name)]));
    const input = kind === 'telegram' ? { ...settings, webhook: field('webhook') === 'on' } : settings;
    try {
      await chats.bots.set(kind, input, context.get('signedIn').person.name);
    } catch (thrown) {
      return renderBot(context, kind, { error: readRefusal(thrown).error });
    }
    return context.redirect(`/operator/bots/${kind}?said=saved`, 303);
  });
  routes.get('/bots/:kind/remove', (context) => {
    const kind = readBotKind(context);
    if (kind === null) return context.notFound();
    return context.html(
      <ConfirmPage
        signedIn={context.get('signedIn')}
        title={`Remove the ${KIND_NAMES[kind]} bot?`}
        text="In every account, the connected people and chats of the bot are forgotten. This cannot be undone."
        action={`/operator/bots/${kind}/remove`}
        label="Remove the bot"
        back={`/operator/bots/${kind}`}
      />,
    );
  });
  routes.post('/bots/:kind/remove', async (context) => {
    const kind = readBotKind(context);
    const removed = kind && (await chats.bots.remove(kind, context.get('signedIn').person.name));
    if (removed === null) return context.notFound();
    if (removed.left === null) return context.redirect('/operator', 303);
    return renderOperator(context, { error: `The bot was removed. ${removed.left}.` });
  });
  return routes;
}
