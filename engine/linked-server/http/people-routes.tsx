/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import type { PersonRole } from '../database/tables.ts';
import { PeoplePage } from '../pages/account.tsx';
import { ConfirmPage } from '../pages/front.tsx';
import { invitationUrl } from '../people/invitations.ts';
import type { ServerContext, ServerEnv, ServerParts } from './context.ts';
import { readForm, readPageWish, readSaid, requireAdmin } from './guards.ts';
import { type RefusalText, readRefusal } from './refusals.ts';

const SAID: Readonly<Record<string, string>> = {
  removed: 'The person was removed.',
  changed: 'The role was changed. The person must sign in again.',
};

/** The people of an account. */
export function peopleRoutes({ people, origin }: ServerParts): Hono<ServerEnv> {
  const routes = new Hono<ServerEnv>();

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
  return routes;
}
