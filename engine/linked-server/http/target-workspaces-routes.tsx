/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import type { PageWish } from '../database/list-page.ts';
import type { TargetRow } from '../database/tables.ts';
import { readWorkspaces } from '../deliveries/chosen-workspaces.ts';
import type { WorkspaceFilter } from '../links/workspace-lists.ts';
import { TargetWorkspacesPage, type WorkspaceSearch } from '../pages/target-workspaces.tsx';
import type { ServerContext, ServerEnv, ServerParts } from './context.ts';
import { readFormLists, requireAdmin } from './guards.ts';
import { type RefusalText, readRefusal } from './refusals.ts';

const LONGEST_SEARCH = 200;

/** The position on the page, from the address or a form. */
interface Place extends WorkspaceSearch {
  wish: PageWish;
  /** The same for the address. */
  query: Record<string, string>;
}

function readPlace(read: (name: string) => string | undefined): Place {
  const find = (read('find') ?? '').trim().slice(0, LONGEST_SEARCH);
  const isChosenOnly = read('chosen') === '1';
  const wish = { after: read('after') || undefined, before: read('before') || undefined };
  const all = { find, chosen: isChosenOnly ? '1' : '', after: wish.after ?? '', before: wish.before ?? '' };
  const query = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''));
  return { find, isChosenOnly, wish, query };
}

/** The page on which an admin chooses a target's workspaces among many. */
export function targetWorkspacesRoutes({ targets, workspaces }: ServerParts): Hono<ServerEnv> {
  const routes = new Hono<ServerEnv>();
  const path = '/settings/targets/:id/workspaces';

  async function render(
    context: ServerContext,
    target: TargetRow,
    { find, isChosenOnly, wish, query }: Place,
    { said = null, error = null }: { said?: string | null; error?: string | null } = {},
    status: 200 | RefusalText['status'] = 200,
  ) {
    const filter: WorkspaceFilter = {
      find,
      ...(isChosenOnly ? { ids: readWorkspaces(target) ?? [] } : {}),
    };
    const account = target.account_id;
    const listed = await workspaces.listPage(account, wish, filter);
    const found = find === '' ? 0 : (await workspaces.listIds(account, filter)).length;
    return context.html(
      <TargetWorkspacesPage
        signedIn={context.get('signedIn')}
        target={target}
        search={{ find, isChosenOnly }}
        place={query}
        workspaces={listed}
        found={found}
        said={said}
        error={error}
      />,
      status,
    );
  }
  const findTarget = (context: ServerContext): Promise<TargetRow | null> =>
    targets.find(context.req.param('id') ?? '', context.get('signedIn').account.id);

  routes.get(path, requireAdmin, async (context) => {
    const target = await findTarget(context);
    if (target === null) return context.notFound();
    const place = readPlace((name) => context.req.query(name));
    return render(context, target, place, { said: context.req.query('said') === 'saved' ? 'Saved.' : null });
  });

  routes.post(path, requireAdmin, async (context) => {
    const target = await findTarget(context);
    if (target === null) return context.notFound();
    const field = await readFormLists(context);
    const place = readPlace((name) => field(name)[0]);
    const { find, isChosenOnly, query } = place;
    const listFound = () =>
      workspaces.listIds(target.account_id, {
        find,
        ...(isChosenOnly ? { ids: readWorkspaces(target) ?? [] } : {}),
      });
    const what = field('what')[0];
    try {
      const wish =
        what === 'choose-found'
          ? { add: await listFound(), leave: [] }
          : what === 'leave-found'
            ? { add: [], leave: await listFound() }
            : { add: field('workspaces[]'), leave: field('shown[]') };
      await targets.changeWorkspaces(target, wish, context.get('signedIn').person.name);
    } catch (thrown) {
      const { error, status } = readRefusal(thrown);
      return render(context, target, place, { error }, status);
    }
    const shown = new URLSearchParams({ ...query, said: 'saved' });
    return context.redirect(`/app/settings/targets/${target.id}/workspaces?${shown}`, 303);
  });
  return routes;
}
