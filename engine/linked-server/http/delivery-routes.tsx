/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import { DeliveriesPage } from '../pages/deliveries.tsx';
import type { ServerEnv, ServerParts } from './context.ts';
import { readPageWish, readSaid, requireAdmin } from './guards.ts';
import { SETTINGS_SAID } from './target-views.tsx';

/** The deliveries of an account. */
export function deliveryRoutes({ deliveries, plans }: ServerParts): Hono<ServerEnv> {
  const routes = new Hono<ServerEnv>();

  routes.get('/deliveries', async (context) => {
    const signedIn = context.get('signedIn');
    const target = context.req.query('target') || null;
    const listed = await deliveries.list(signedIn.account.id, { ...readPageWish(context), target });
    return context.html(
      <DeliveriesPage
        signedIn={signedIn}
        said={readSaid(context, SETTINGS_SAID)}
        deliveries={listed}
        target={target}
        entitlements={await plans.entitlementsOf(signedIn.account.id)}
      />,
    );
  });
  routes.post('/deliveries/:id/again', requireAdmin, async (context) => {
    const given = context.req.param('id');
    const isSent =
      /^\d{1,15}$/.test(given) &&
      (await deliveries.sendAgain(Number(given), context.get('signedIn').account.id));
    return isSent ? context.redirect('/app/deliveries?said=again', 303) : context.notFound();
  });
  return routes;
}
