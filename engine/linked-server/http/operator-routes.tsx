/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import { ADDONS, PLANS } from '../../core/link-protocol/capabilities.ts';
import { BOT_FIELDS } from '../chats/bot-settings.ts';
import { KIND_NAMES } from '../chats/bots.ts';
import { CHAT_KINDS, type ChatKind } from '../database/tables.ts';
import { BotPage } from '../pages/bots.tsx';
import { ConfirmPage } from '../pages/front.tsx';
import { AccountPage, OperatorPage } from '../pages/operator.tsx';
import { invitationUrl } from '../people/invitations.ts';
import type { ServerContext, ServerEnv, ServerParts } from './context.ts';
import { readForm, readPageWish, requireOperator, requireSignedIn } from './guards.ts';
import { type RefusalText, readRefusal } from './refusals.ts';

/** The time range of the sums over all accounts. */
const TOTALS_DAYS = 30;

/** Pages for operators of this server. */
export function operatorRoutes(parts: ServerParts): Hono<ServerEnv> {
  const { people, plans, deliveries, usage, chats, origin } = parts;
  const routes = new Hono<ServerEnv>();
  routes.use('*', requireSignedIn(parts), requireOperator);

  async function renderOperator(
    context: ServerContext,
    facts: {
      error?: string;
      said?: string;
      link?: { name: string; url: string };
      wish?: { account: string; name: string };
    } = {},
    status: 200 | RefusalText['status'] = 200,
  ) {
    const [accounts, bots, totals] = await Promise.all([
      people.listAccountPage(readPageWish(context)),
      chats.bots.list(),
      usage.listTotals(TOTALS_DAYS),
    ]);
    return context.html(
      <OperatorPage
        signedIn={context.get('signedIn')}
        accounts={accounts}
        bots={bots}
        totals={totals}
        {...facts}
      />,
      status,
    );
  }

  routes.get('/', (context) =>
    renderOperator(
      context,
      context.req.query('said') === 'removed' ? { said: 'The account was removed.' } : {},
    ),
  );

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

  routes.post('/accounts', async (context) => {
    const by = context.get('signedIn').person.name;
    const field = await readForm(context);
    const wish = { account: field('account'), name: field('name') };
    try {
      const { person: admin } = await people.addWithAccount(
        { name: wish.name, account: wish.account, isOperator: false, password: null },
        by,
      );
      const token = await people.invite(admin, by);
      return await renderOperator(context, {
        link: { name: admin.name, url: invitationUrl(origin, token) },
      });
    } catch (thrown) {
      const { error, status } = readRefusal(thrown);
      return renderOperator(context, { error, wish }, status);
    }
  });
  const findAccount = (context: ServerContext) => people.findAccountById(context.req.param('id') ?? '');
  routes.get('/accounts/:id', async (context) => {
    const account = await findAccount(context);
    if (account === null) return context.notFound();
    const { addons } = await plans.entitlementsOf(account.id);
    return context.html(
      <AccountPage
        signedIn={context.get('signedIn')}
        account={account}
        plans={await plans.list()}
        addons={addons}
        said={context.req.query('said') === 'saved' ? 'Saved.' : null}
      />,
    );
  });
  routes.post('/accounts/:id/plan', async (context) => {
    const account = await findAccount(context);
    const given = (await readForm(context))('plan');
    const plan = PLANS.find((name) => name === given);
    if (account === null || plan === undefined) return context.notFound();
    await plans.assign(account, plan, context.get('signedIn').person.name);
    deliveries.wake();
    return context.redirect(`/operator/accounts/${account.id}?said=saved`, 303);
  });
  routes.post('/accounts/:id/addons/:addon/:state{on|off}', async (context) => {
    const account = await findAccount(context);
    const addon = ADDONS.find((name) => name === context.req.param('addon'));
    if (account === null || addon === undefined) return context.notFound();
    const isOn = context.req.param('state') === 'on';
    await plans.switchAddon(account, addon, isOn, context.get('signedIn').person.name);
    deliveries.wake();
    return context.redirect(`/operator/accounts/${account.id}?said=saved`, 303);
  });
  routes.get('/accounts/:id/remove', async (context) => {
    const account = await findAccount(context);
    if (account === null) return context.notFound();
    return context.html(
      <ConfirmPage
        signedIn={context.get('signedIn')}
        title={`Remove the account ${account.name}?`}
        text="Its people, machines and everything stored for it are deleted. This cannot be undone."
        action={`/operator/accounts/${account.id}/remove`}
        label="Remove the account"
        back="/operator"
      />,
    );
  });
  routes.post('/accounts/:id/remove', async (context) => {
    const account = await findAccount(context);
    if (account === null) return context.notFound();
    try {
      await people.removeAccount(account.name, context.get('signedIn').person.name);
    } catch (thrown) {
      const { error, status } = readRefusal(thrown);
      return renderOperator(context, { error }, status);
    }
    return context.redirect('/operator?said=removed', 303);
  });
  return routes;
}
