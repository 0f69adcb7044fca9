/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import type { PersonRole } from '../database/tables.ts';
import { LogPage, MachinesPage, PeoplePage, SignInsPage } from '../pages/account.tsx';
import { ConfirmPage } from '../pages/front.tsx';
import { invitationUrl } from '../people/invitations.ts';
import { readHeader, type ServerContext, type ServerEnv, type ServerParts } from './context.ts';
import { readForm, readPageWish, readSaid, requireAdmin, writeSessionCookie } from './guards.ts';
import { describeRefused, type RefusalText, readRefusal } from './refusals.ts';

const SAID: Readonly<Record<string, string>> = {
  revoked: 'The machine was revoked: its token no longer works.',
  removed: 'The person was removed.',
  changed: 'The role was changed. The person must sign in again.',
  ended: 'That sign-in was ended.',
  password: 'The password was changed, and all other sign-ins were ended.',
};

/** Pages of an account, for its people. Objects of another account are 404, like missing ones. */
export function accountRoutes(parts: ServerParts): Hono<ServerEnv> {
  const { people, passwordChecks, machines, changes, origin } = parts;
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

  async function renderPeople(
    context: ServerContext,
    facts: Omit<Parameters<typeof PeoplePage>[0], 'signedIn' | 'people'> = {},
    status: 200 | RefusalText['status'] = 200,
  ) {
    const signedIn = context.get('signedIn');
    const listed = await people.listPage(signedIn.account.id, readPageWish(context));
    return context.html(<PeoplePage signedIn={signedIn} people={listed} {...facts} />, status);
  }
  /**
   * Finds a person of the visitor's own account whom they may change; null for any other. Setting an operator's
   * password would make one an operator, so only operators change each other.
   */
  async function findOwn(context: ServerContext) {
    const { account, person: visitor } = context.get('signedIn');
    const found = await people.findById(context.req.param('id') ?? '', account.id);
    return found?.is_operator === 1 && visitor.is_operator !== 1 ? null : found;
  }
  const renderFailure = (
    context: ServerContext,
    thrown: unknown,
    wish?: { name: string; role: PersonRole },
  ) => {
    const { error, status } = readRefusal(thrown);
    return renderPeople(context, { error, ...(wish === undefined ? {} : { wish }) }, status);
  };

  routes.get('/people', (context) => renderPeople(context, { said: readSaid(context, SAID) }));
  routes.post('/people', requireAdmin, async (context) => {
    const { account, person: by } = context.get('signedIn');
    const field = await readForm(context);
    const name = field('name');
    const role: PersonRole = field('role') === 'admin' ? 'admin' : 'member';
    try {
      const made = await people.add(
        { name, account: account.id, role, isOperator: false, password: null },
        by.name,
      );
      const token = await people.invite(made, by.name);
      return await renderPeople(context, { link: { name: made.name, url: invitationUrl(origin, token) } });
    } catch (thrown) {
      return renderFailure(context, thrown, { name, role });
    }
  });
  routes.post('/people/:id/invite', requireAdmin, async (context) => {
    const person = await findOwn(context);
    if (person === null) return context.notFound();
    const token = await people.invite(person, context.get('signedIn').person.name);
    return renderPeople(context, { link: { name: person.name, url: invitationUrl(origin, token) } });
  });
  for (const role of ['admin', 'member'] as const)
    routes.post(`/people/:id/make-${role}`, requireAdmin, async (context) => {
      const person = await findOwn(context);
      if (person === null) return context.notFound();
      try {
        await people.setRole(person, role, context.get('signedIn').person.name);
        return context.redirect('/app/people?said=changed', 303);
      } catch (thrown) {
        return renderFailure(context, thrown);
      }
    });
  routes.get('/people/:id/remove', requireAdmin, async (context) => {
    const person = await findOwn(context);
    if (person === null) return context.notFound();
    return context.html(
      <ConfirmPage
        signedIn={context.get('signedIn')}
        title={`Remove ${person.name}?`}
        text="Their sign-ins and the machines that they logged in are removed too, and workspaces linked from those machines stop. The log keeps their name. This cannot be undone."
        action={`/app/people/${person.id}/remove`}
        label="Remove"
        back="/app/people"
      />,
    );
  });
  routes.post('/people/:id/remove', requireAdmin, async (context) => {
    const person = await findOwn(context);
    if (person === null) return context.notFound();
    try {
      await people.remove(person, context.get('signedIn').person.name);
      return context.redirect('/app/people?said=removed', 303);
    } catch (thrown) {
      return renderFailure(context, thrown);
    }
  });

  async function renderSignIns(
    context: ServerContext,
    error: string | null = null,
    status: 200 | 429 | RefusalText['status'] = 200,
  ) {
    const signedIn = context.get('signedIn');
    const sessions = await people.listSessions(signedIn.person.id, readPageWish(context));
    const said = error === null ? readSaid(context, SAID) : null;
    return context.html(
      <SignInsPage signedIn={signedIn} sessions={sessions} said={said} error={error} />,
      status,
    );
  }
  routes.get('/sign-ins', (context) => renderSignIns(context));
  routes.post('/sign-ins/:id/end', async (context) => {
    const { person } = context.get('signedIn');
    const ended = await people.endSessions(person.id, { only: context.req.param('id') });
    return ended > 0 ? context.redirect('/app/sign-ins?said=ended', 303) : context.notFound();
  });
  routes.post('/password', async (context) => {
    const { person } = context.get('signedIn');
    const field = await readForm(context);
    const typed = { name: person.name, stored: person.password };
    const checked = await passwordChecks.check(field('old'), typed, context.get('address'));
    if ('refused' in checked) return renderSignIns(context, describeRefused(context, checked), 429);
    if (!checked.isRight) return renderSignIns(context, 'That is not your password.', 403);
    try {
      const changed = await people.setPassword(person, field('password'));
      // All sign-ins end, including this one, which continues under a new id.
      const browser = readHeader(context, 'user-agent') ?? '';
      const token = await people.signIn(changed, { address: context.get('address'), browser });
      writeSessionCookie(context, origin, token);
      return context.redirect('/app/sign-ins?said=password', 303);
    } catch (thrown) {
      const { error, status } = readRefusal(thrown);
      return renderSignIns(context, error, status);
    }
  });

  routes.get('/log', async (context) => {
    const signedIn = context.get('signedIn');
    const listed = await changes.list(signedIn.account.id, readPageWish(context));
    return context.html(<LogPage signedIn={signedIn} changes={listed} />);
  });
  return routes;
}
