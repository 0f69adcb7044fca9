/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import type { WorkspaceWish } from '../deliveries/chosen-workspaces.ts';
import { KIND_NAMES, SettingsPage } from '../pages/settings.tsx';
import { NewTargetPage } from '../pages/target.tsx';
import type { ServerEnv, ServerParts } from './context.ts';
import { deliveryRoutes } from './delivery-routes.tsx';
import { readSaid, requireAdmin } from './guards.ts';
import { readRefusal } from './refusals.ts';
import { targetRoutes, targetSecretRoutes } from './target-routes.tsx';
import { createTargetViews, readTargetKind, readTargetWish, SETTINGS_SAID } from './target-views.tsx';

const FIRST_EVENTS = ['needs_approval', 'failed', 'sealed'];

const EVERY_WORKSPACE: WorkspaceWish = { scope: 'all', ticked: [] };
/** Pages about targets of an account's events. All of its people see them; admins change them. */
export function settingsRoutes(parts: ServerParts): Hono<ServerEnv> {
  const { targets, plans, people, workspaces } = parts;
  const views = createTargetViews(parts);
  const { readOffered, renderTarget } = views;
  const routes = new Hono<ServerEnv>();

  routes.get('/settings', async (context) => {
    const signedIn = context.get('signedIn');
    const { id } = signedIn.account;
    const [entitlements, listed, members, linked] = await Promise.all([
      plans.entitlementsOf(id),
      targets.list(id),
      people.count(id),
      workspaces.countLinked(id),
    ]);
    return context.html(
      <SettingsPage
        signedIn={signedIn}
        said={readSaid(context, SETTINGS_SAID)}
        entitlements={entitlements}
        used={{ people: members, workspaces: linked }}
        targets={listed}
      />,
    );
  });

  routes.get('/settings/new', requireAdmin, async (context) => {
    const kind = readTargetKind(context.req.query('kind') ?? '');
    if (kind === null) return context.notFound();
    const signedIn = context.get('signedIn');
    const wish = { name: KIND_NAMES[kind], url: '', events: FIRST_EVENTS, workspaces: EVERY_WORKSPACE };
    const { offered } = await readOffered(signedIn.account.id);
    return context.html(<NewTargetPage signedIn={signedIn} kind={kind} wish={wish} offered={offered} />);
  });
  routes.post('/settings/targets', requireAdmin, async (context) => {
    const signedIn = context.get('signedIn');
    const { kind, wish } = await readTargetWish(context);
    if (kind === null) return context.notFound();
    try {
      const { target, secret } = await targets.add(kind, wish, signedIn.account.id, signedIn.person.name);
      return await renderTarget(context, target, { secret });
    } catch (thrown) {
      const { error, status } = readRefusal(thrown);
      return context.html(
        <NewTargetPage
          signedIn={signedIn}
          kind={kind}
          wish={wish}
          offered={(await readOffered(signedIn.account.id)).offered}
          error={error}
        />,
        status,
      );
    }
  });

  routes.route('/', targetRoutes(parts, views));
  routes.route('/', targetSecretRoutes(parts, views));
  routes.route('/', deliveryRoutes(parts));
  return routes;
}
