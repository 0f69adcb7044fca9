/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import { ADDONS, PLANS } from '../../core/link-protocol/capabilities.ts';
import { ConfirmPage } from '../pages/front.tsx';
import { AccountPage } from '../pages/operator.tsx';
import type { ServerContext, ServerEnv, ServerParts } from './context.ts';
import { readForm } from './guards.ts';
import type { RenderOperator } from './operator-view.tsx';
import { readRefusal } from './refusals.ts';

/** Pages about one account of this server. */
export function operatorAccountRoutes(
  { people, plans, deliveries }: ServerParts,
  renderOperator: RenderOperator,
): Hono<ServerEnv> {
  const routes = new Hono<ServerEnv>();

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
