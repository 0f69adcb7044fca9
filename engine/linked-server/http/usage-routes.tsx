/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import { ConfirmPage } from '../pages/front.tsx';
import { USAGE_SPANS, UsagePage } from '../pages/usage.tsx';
import type { ServerEnv, ServerParts } from './context.ts';
import { readPageWish, requireAdmin } from './guards.ts';

/** Counts of an account's workspaces. All of its people see them; admins delete them. */
export function usageRoutes({ usage }: ServerParts): Hono<ServerEnv> {
  const routes = new Hono<ServerEnv>();
  routes.get('/usage', async (context) => {
    const signedIn = context.get('signedIn');
    const asked = Number(context.req.query('days'));
    const span = USAGE_SPANS.find((each) => each === asked) ?? USAGE_SPANS[0];
    const days = await usage.list(signedIn.account.id, span);
    const said = context.req.query('said') === 'deleted' ? 'The figures were deleted.' : null;
    return context.html(
      <UsagePage signedIn={signedIn} days={days} wish={readPageWish(context)} said={said} />,
    );
  });
  routes.get('/usage/delete', requireAdmin, (context) =>
    context.html(
      <ConfirmPage
        signedIn={context.get('signedIn')}
        title="Delete the figures of all days?"
        text="The usage figures of all workspaces of this account are deleted. Figures that they count from now on arrive here again, unless svc telemetry off stops them."
        action="/app/usage/delete"
        label="Delete"
        back="/app/usage"
      />,
    ),
  );
  routes.post('/usage/delete', requireAdmin, async (context) => {
    const { account, person } = context.get('signedIn');
    await usage.deleteOfAccount(account.id, person.name);
    return context.redirect('/app/usage?said=deleted', 303);
  });
  return routes;
}
