/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import { invitationUrl } from '../people/invitations.ts';
import type { ServerEnv, ServerParts } from './context.ts';
import { readForm, requireOperator, requireSignedIn } from './guards.ts';
import { operatorAccountRoutes } from './operator-account-routes.tsx';
import { operatorBotRoutes } from './operator-bot-routes.tsx';
import { createOperatorView } from './operator-view.tsx';
import { readRefusal } from './refusals.ts';

/** Pages for operators of this server. */
export function operatorRoutes(parts: ServerParts): Hono<ServerEnv> {
  const { people, origin } = parts;
  const renderOperator = createOperatorView(parts);
  const routes = new Hono<ServerEnv>();
  routes.use('*', requireSignedIn(parts), requireOperator);

  routes.get('/', (context) =>
    renderOperator(
      context,
      context.req.query('said') === 'removed' ? { said: 'The account was removed.' } : {},
    ),
  );

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
  routes.route('/', operatorBotRoutes(parts, renderOperator));
  routes.route('/', operatorAccountRoutes(parts, renderOperator));
  return routes;
}
