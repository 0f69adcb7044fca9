/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import { SignInsPage } from '../pages/account.tsx';
import { readHeader, type ServerContext, type ServerEnv, type ServerParts } from './context.ts';
import { readForm, readPageWish, readSaid, writeSessionCookie } from './guards.ts';
import { describeRefused, type RefusalText, readRefusal } from './refusals.ts';

const SAID: Readonly<Record<string, string>> = {
  ended: 'That sign-in was ended.',
  password: 'The password was changed, and all other sign-ins were ended.',
};

/** The sign-ins and the password of a person. */
export function signInRoutes({ people, passwordChecks, origin }: ServerParts): Hono<ServerEnv> {
  const routes = new Hono<ServerEnv>();

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
  return routes;
}
