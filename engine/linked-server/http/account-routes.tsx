/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import { LogPage, MachinesPage } from '../pages/account.tsx';
import type { ServerEnv, ServerParts } from './context.ts';
import { readPageWish, readSaid, requireAdmin } from './guards.ts';
import { peopleRoutes } from './people-routes.tsx';
import { signInRoutes } from './sign-in-routes.tsx';

const SAID: Readonly<Record<string, string>> = {
  revoked: 'The machine was revoked: its token no longer works.',
};

/** Pages of an account, for its people. Objects of another account are 404, like missing ones. */
export function accountRoutes(parts: ServerParts): Hono<ServerEnv> {
  const { machines, changes, origin } = parts;
  const routes = new Hono<ServerEnv>();

  routes.get('/machines', async (context) => {
    const signedIn = context.get('signedIn');
    const listed = await machines.list(signedIn.account.id, readPageWish(context));
    return context.html(
      <MachinesPage signedIn={signedIn} machines={listed} origin={origin} said={readSaid(context, SAID)} />,
    );
  });
  routes.post('/machines/:id/revoke', requireAdmin, async (context) => {
    const isGone = await machines.revoke(context.req.param('id'), context.get('signedIn').person);
    return isGone ? context.redirect('/app/machines?said=revoked', 303) : context.notFound();
  });

  routes.get('/log', async (context) => {
    const signedIn = context.get('signedIn');
    const listed = await changes.list(signedIn.account.id, readPageWish(context));
    return context.html(<LogPage signedIn={signedIn} changes={listed} />);
  });
  routes.route('/', peopleRoutes(parts));
  routes.route('/', signInRoutes(parts));
  return routes;
}
