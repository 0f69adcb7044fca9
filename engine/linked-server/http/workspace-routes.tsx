/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import type { LinkedWorkspace } from '../database/tables.ts';
import { WorkspacePage, WorkspacesPage } from '../pages/decisions.tsx';
import { ConfirmPage } from '../pages/front.tsx';
import type { ServerContext, ServerEnv, ServerParts } from './context.ts';
import { readPageWish, readSaid, requireAdmin } from './guards.ts';

const SAID: Readonly<Record<string, string>> = {
  unlinked: 'The workspace was unlinked: its token no longer works.',
  removed: 'The workspace was removed, with everything stored about it here.',
};

/** Pages about the workspaces of an account. */
export function workspaceRoutes(
  { workspaces, polls, events }: ServerParts,
  findWorkspace: (context: ServerContext) => Promise<LinkedWorkspace | null>,
): Hono<ServerEnv> {
  const routes = new Hono<ServerEnv>();

  routes.get('/workspaces', async (context) => {
    const signedIn = context.get('signedIn');
    const page = await workspaces.listPage(signedIn.account.id, readPageWish(context));
    const rows = page.rows.map((each) => ({ ...each, isConnected: polls.isConnected(each.id) }));
    const said = readSaid(context, SAID);
    return context.html(<WorkspacesPage signedIn={signedIn} workspaces={{ ...page, rows }} said={said} />);
  });
  routes.get('/workspaces/:workspace', async (context) => {
    const workspace = await findWorkspace(context);
    if (workspace === null) return context.notFound();
    return context.html(
      <WorkspacePage
        signedIn={context.get('signedIn')}
        id={workspace.id}
        name={workspace.name}
        events={await events.list(workspace.id, readPageWish(context))}
      />,
    );
  });
  routes.post('/workspaces/:workspace/revoke', requireAdmin, async (context) => {
    const { account, person } = context.get('signedIn');
    const id = (await findWorkspace(context))?.id;
    if (id === undefined || !(await workspaces.revoke(account.id, id, person.name)))
      return context.notFound();
    polls.revoke(id);
    return context.redirect('/app/workspaces?said=unlinked', 303);
  });
  routes.get('/workspaces/:workspace/remove', requireAdmin, async (context) => {
    const workspace = await findWorkspace(context);
    if (workspace === null) return context.notFound();
    return context.html(
      <ConfirmPage
        signedIn={context.get('signedIn')}
        title={`Remove ${workspace.name}?`}
        text="Its events, decisions and deliveries are deleted here, and it is unlinked. The workspace itself loses nothing. This cannot be undone."
        action={`/app/workspaces/${workspace.id}/remove`}
        label="Remove"
        back="/app/workspaces"
      />,
    );
  });
  routes.post('/workspaces/:workspace/remove', requireAdmin, async (context) => {
    const { account, person } = context.get('signedIn');
    const id = (await findWorkspace(context))?.id;
    if (id === undefined || !(await workspaces.remove(account.id, id, person.name)))
      return context.notFound();
    polls.revoke(id);
    return context.redirect('/app/workspaces?said=removed', 303);
  });
  return routes;
}
