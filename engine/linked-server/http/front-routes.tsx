/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import { networkOf } from '../client-address.ts';
import type { PersonRow } from '../database/tables.ts';
import { InvitationPage, MessagePage, SetupPage, SignInPage } from '../pages/front.tsx';
import { CODE_RULE } from '../people/failures.ts';
import { readHeader, type ServerContext, type ServerEnv, type ServerParts } from './context.ts';
import { findVisitor, readForm, readNextPage, writeSessionCookie } from './guards.ts';
import { askToWait, describeRefused, readRefusal } from './refusals.ts';

/** Starts a new session under a new id; the browser's earlier cookie is ignored. */
async function openSession(
  { people, origin }: Pick<ServerParts, 'people' | 'origin'>,
  context: ServerContext,
  person: PersonRow,
): Promise<void> {
  const token = await people.signIn(person, {
    address: context.get('address'),
    browser: readHeader(context, 'user-agent') ?? '',
  });
  writeSessionCookie(context, origin, token);
}

/** Pages before sign-in: setup, signing in and out, invitations. */
export function frontRoutes(parts: ServerParts): Hono<ServerEnv> {
  const { people, passwordChecks, firstRun, origin } = parts;
  const routes = new Hono<ServerEnv>();

  routes.get('/', async (context) => {
    if (await firstRun.isOpen()) return context.redirect('/setup', 303);
    return context.redirect((await findVisitor(context, parts)) === null ? '/sign-in' : '/app', 303);
  });

  routes.get('/setup', async (context) =>
    (await firstRun.isOpen()) ? context.html(<SetupPage />) : context.notFound(),
  );
  routes.post('/setup', async (context) => {
    if (!(await firstRun.isOpen())) return context.notFound();
    const field = await readForm(context);
    const [code, name, account] = [field('code'), field('name'), field('account') || 'home'];
    try {
      const operator = await firstRun.take(code, { name, password: field('password'), account });
      if (operator === null)
        return context.html(
          <SetupPage error="That is not the setup code." name={name} account={account} />,
          403,
        );
      await openSession(parts, context, operator);
      return context.redirect('/app', 303);
    } catch (thrown) {
      const { error, status } = readRefusal(thrown);
      return context.html(<SetupPage error={error} code={code} name={name} account={account} />, status);
    }
  });

  routes.get('/sign-in', async (context) => {
    if (await firstRun.isOpen()) return context.redirect('/setup', 303);
    return context.html(<SignInPage next={context.req.query('next') ?? ''} />);
  });
  routes.post('/sign-in', async (context) => {
    const field = await readForm(context);
    const [name, next] = [field('name'), field('next')];
    const person = await people.find(name).catch(() => null);
    const stored = person?.password ?? null;
    const checked = await passwordChecks.check(field('password'), { name, stored }, context.get('address'));
    if ('refused' in checked) {
      const error = describeRefused(context, checked);
      return context.html(<SignInPage error={error} name={name} next={next} />, 429);
    }
    if (!checked.isRight || person === null)
      return context.html(
        <SignInPage error="Name and password do not match." name={name} next={next} />,
        403,
      );
    await openSession(parts, context, person);
    return context.redirect(readNextPage(next), 303);
  });
  routes.post('/sign-out', async (context) => {
    const visitor = await findVisitor(context, parts);
    if (visitor !== null) await people.endSessions(visitor.person.id, { only: visitor.sessionId });
    writeSessionCookie(context, origin, '');
    return context.html(<SignInPage said="You are signed out." />);
  });

  routes.route('/', invitationRoutes(parts));
  return routes;
}

const unknownInvitation = (context: ServerContext) =>
  context.html(
    <MessagePage
      title="This address no longer works"
      text="It was used, or it is too old. Ask for a new one."
    />,
    404,
  );
/** Pages for people who were invited. */
function invitationRoutes(parts: ServerParts): Hono<ServerEnv> {
  const { people, failures } = parts;
  const routes = new Hono<ServerEnv>();

  routes.get('/invitation/:token', async (context) => {
    const token = context.req.param('token');
    const person = await people.findInvited(token);
    return person === null
      ? unknownInvitation(context)
      : context.html(<InvitationPage name={person.name} token={token} />);
  });
  routes.post('/invitation/:token', async (context) => {
    const token = context.req.param('token');
    const key = `invitation ${networkOf(context.get('address'))}`;
    const pause = await failures.begin(key, CODE_RULE);
    if (pause > 0) {
      const text = askToWait(context, 'Too many addresses were wrong', pause);
      return context.html(<MessagePage title="Not now" text={text} />, 429);
    }
    const invited = await people.findInvited(token);
    if (invited === null) return unknownInvitation(context);
    await failures.takeBack(key);
    const field = await readForm(context);
    try {
      const person = await people.takeInvitation(token, field('password'));
      if (person === null) return unknownInvitation(context);
      await openSession(parts, context, person);
      return context.redirect('/app', 303);
    } catch (thrown) {
      const { error, status } = readRefusal(thrown);
      return context.html(<InvitationPage name={invited.name} token={token} error={error} />, status);
    }
  });
  return routes;
}
