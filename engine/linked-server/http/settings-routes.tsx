/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import { TARGET_KINDS, type TargetKind, type TargetRow } from '../database/tables.ts';
import { readWorkspaces, type WorkspaceWish } from '../deliveries/chosen-workspaces.ts';
import { isOverlapping, isShortLived, type TargetWish } from '../deliveries/targets.ts';
import { DeliveriesPage } from '../pages/deliveries.tsx';
import { ConfirmPage } from '../pages/front.tsx';
import { KIND_NAMES, SettingsPage } from '../pages/settings.tsx';
import { NewTargetPage, TargetPage } from '../pages/target.tsx';
import type { OfferedWorkspaces } from '../pages/target-workspaces.tsx';
import type { ServerContext, ServerEnv, ServerParts } from './context.ts';
import { readFormLists, readPageWish, readSaid, requireAdmin } from './guards.ts';
import { type RefusalText, readRefusal } from './refusals.ts';

const SAID: Readonly<Record<string, string>> = {
  saved: 'Saved.',
  removed: 'The target was removed, with its deliveries.',
  on: 'It is switched on.',
  off: 'It is switched off. Events in the meantime do not go there.',
  resumed: 'Resumed. Waiting events are sent now.',
  again: 'It is sent again immediately, unless its target is paused, off or locked.',
};

const FIRST_EVENTS = ['needs_approval', 'failed', 'sealed'];

const EVERY_WORKSPACE: WorkspaceWish = { scope: 'all', ticked: [] };
/** Number of named workspaces of a target; the others are counted. */
const NAMES_SHOWN = 10;

const readTargetKind = (text: string): TargetKind | null =>
  TARGET_KINDS.find((kind) => kind === text) ?? null;

async function readWish(context: ServerContext): Promise<{ kind: TargetKind | null; wish: TargetWish }> {
  const field = await readFormLists(context);
  const scope = field('scope')[0];
  return {
    kind: readTargetKind(field('kind')[0] ?? ''),
    wish: {
      name: field('name')[0] ?? '',
      url: field('url')[0] ?? '',
      events: field('events[]'),
      workspaces: {
        scope: scope === 'ticked' || scope === 'listed' ? scope : 'all',
        ticked: field('workspaces[]'),
      },
    },
  };
}

/** Pages about targets of an account's events. All of its people see them; admins change them. */
export function settingsRoutes(parts: ServerParts): Hono<ServerEnv> {
  const { targets, deliveries, plans, people, workspaces, clock } = parts;
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
        said={readSaid(context, SAID)}
        entitlements={entitlements}
        used={{ people: members, workspaces: linked }}
        targets={listed}
      />,
    );
  });

  /** Lists the workspaces for a form, and the names of the first ones of a target. */
  async function readOffered(account: string, target?: TargetRow): Promise<OfferedWorkspaces> {
    const [first, named] = await Promise.all([
      workspaces.listPage(account, {}),
      workspaces.listPage(
        account,
        {},
        { ids: (target && readWorkspaces(target))?.slice(0, NAMES_SHOWN) ?? [] },
      ),
    ]);
    return { offered: first.next === null ? first.rows : null, named: named.rows };
  }

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
    const { kind, wish } = await readWish(context);
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

  interface Shown {
    said?: string | null;
    error?: string | null;
    secret?: string | null;
    wish?: TargetWish;
  }
  async function renderTarget(
    context: ServerContext,
    target: TargetRow,
    facts: Shown = {},
    status: 200 | RefusalText['status'] = 200,
  ) {
    const signedIn = context.get('signedIn');
    return context.html(
      <TargetPage
        signedIn={signedIn}
        target={target}
        entitlements={await plans.entitlementsOf(signedIn.account.id)}
        now={clock.now()}
        workspaces={await readOffered(signedIn.account.id, target)}
        isShortLived={isShortLived({ kind: target.kind, url: targets.open(target).url })}
        {...facts}
      />,
      status,
    );
  }
  /** Finds the target in the address; null for one of another account. */
  const findTarget = (context: ServerContext): Promise<TargetRow | null> =>
    targets.find(context.req.param('id') ?? '', context.get('signedIn').account.id);

  routes.get('/settings/targets/:id', async (context) => {
    const target = await findTarget(context);
    if (target === null) return context.notFound();
    return renderTarget(context, target, { said: readSaid(context, SAID) });
  });
  routes.post('/settings/targets/:id', requireAdmin, async (context) => {
    const target = await findTarget(context);
    if (target === null) return context.notFound();
    const { wish } = await readWish(context);
    try {
      await targets.change(target, wish, context.get('signedIn').person.name);
      return context.redirect(`/app/settings/targets/${target.id}?said=saved`, 303);
    } catch (thrown) {
      const { error, status } = readRefusal(thrown);
      return renderTarget(context, target, { error, wish }, status);
    }
  });
  for (const word of ['on', 'off'] as const)
    routes.post(`/settings/targets/:id/${word}`, requireAdmin, async (context) => {
      const target = await findTarget(context);
      if (target === null) return context.notFound();
      await targets.switch(target, word === 'on', context.get('signedIn').person.name);
      return context.redirect(`/app/settings/targets/${target.id}?said=${word}`, 303);
    });
  routes.post('/settings/targets/:id/resume', requireAdmin, async (context) => {
    const target = await findTarget(context);
    if (target === null) return context.notFound();
    await targets.resume(target, context.get('signedIn').person.name);
    return context.redirect(`/app/settings/targets/${target.id}?said=resumed`, 303);
  });
  routes.get('/settings/targets/:id/secret', requireAdmin, async (context) => {
    const target = await findTarget(context);
    if (target === null) return context.notFound();
    const place = `/app/settings/targets/${target.id}`;
    const endsOverlap = isOverlapping(target, clock.now());
    return context.html(
      <ConfirmPage
        signedIn={context.get('signedIn')}
        title={`${endsOverlap ? 'Another' : 'A'} new secret for ${target.name}?`}
        text={
          endsOverlap
            ? 'The last secret was created within a day. Another one ends the previous secret immediately: receivers that verify with it reject further events.'
            : 'For a day events are also signed with the present secret.'
        }
        action={`${place}/secret${endsOverlap ? '?ends_overlap=1' : ''}`}
        label="New secret"
        back={place}
      />,
    );
  });
  routes.post('/settings/targets/:id/secret', requireAdmin, async (context) => {
    const target = await findTarget(context);
    if (target === null) return context.notFound();
    try {
      const endsOverlap = context.req.query('ends_overlap') === '1';
      const secret = await targets.rotateSecret(target, context.get('signedIn').person.name, { endsOverlap });
      const changed = await findTarget(context);
      const said = 'For a day events are also signed with the previous secret.';
      return await renderTarget(context, changed ?? target, { secret, said });
    } catch (thrown) {
      const { error, status } = readRefusal(thrown);
      return renderTarget(context, target, { error }, status);
    }
  });
  routes.post('/settings/targets/:id/test', requireAdmin, async (context) => {
    const target = await findTarget(context);
    if (target === null) return context.notFound();
    const { ok, status, error, ms } = await deliveries.test(target);
    const answer = status === null ? error : `HTTP ${status}`;
    return renderTarget(
      context,
      target,
      ok
        ? { said: `The test arrived: ${answer} after ${ms} ms.` }
        : { error: `The test did not arrive: ${answer}, after ${ms} ms.` },
    );
  });
  routes.get('/settings/targets/:id/remove', requireAdmin, async (context) => {
    const target = await findTarget(context);
    if (target === null) return context.notFound();
    return context.html(
      <ConfirmPage
        signedIn={context.get('signedIn')}
        title={`Remove ${target.name}?`}
        text="Waiting events are not sent, and sent ones are no longer shown. This cannot be undone."
        action={`/app/settings/targets/${target.id}/remove`}
        label="Remove"
        back={`/app/settings/targets/${target.id}`}
      />,
    );
  });
  routes.post('/settings/targets/:id/remove', requireAdmin, async (context) => {
    const target = await findTarget(context);
    if (target === null) return context.notFound();
    await targets.remove(target, context.get('signedIn').person.name);
    return context.redirect('/app/settings?said=removed', 303);
  });

  routes.get('/deliveries', async (context) => {
    const signedIn = context.get('signedIn');
    const target = context.req.query('target') || null;
    const listed = await deliveries.list(signedIn.account.id, { ...readPageWish(context), target });
    return context.html(
      <DeliveriesPage
        signedIn={signedIn}
        said={readSaid(context, SAID)}
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
