/** @jsxImportSource hono/jsx */
import type { SignedIn } from '../people/people.ts';
import { Field, Notice, Page, WhosePassword } from './layout.tsx';

/** The first page of a new server. Typed values stay, so that only one field needs correction. */
export function SetupPage({
  error,
  code = '',
  name = '',
  account = 'home',
}: {
  error?: string | null;
  code?: string;
  name?: string;
  account?: string;
}) {
  return (
    <Page title="Set up this server">
      <p>
        The server has written a code to its log, and to the file <code>setup-code</code> in its data folder.
        The code creates the first person, who operates this server.
      </p>
      <Notice error={error ?? null} />
      <form method="post" action="/setup">
        <Field name="code" label="Setup code" value={code} />
        <Field name="name" label="Your name" autocomplete="username" value={name} />
        <Field
          name="password"
          label="Password"
          type="password"
          autocomplete="new-password"
          hint="10 characters or more"
        />
        <Field name="account" label="Name of the first account" value={account} />
        <button type="submit">Set up</button>
      </form>
    </Page>
  );
}

export function SignInPage({
  error,
  said,
  name = '',
  next = '',
}: {
  error?: string | null;
  said?: string | null;
  name?: string;
  next?: string;
}) {
  return (
    <Page title="Sign in">
      <Notice error={error ?? null} said={said ?? null} />
      <form method="post" action="/sign-in">
        <input type="hidden" name="next" value={next} />
        <Field name="name" label="Name" autocomplete="username" value={name} />
        <Field name="password" label="Password" type="password" autocomplete="current-password" />
        <button type="submit">Sign in</button>
      </form>
    </Page>
  );
}

/** The page of an invitation, or for a new password. */
export function InvitationPage({
  name,
  token,
  error,
}: {
  name: string;
  token: string;
  error?: string | null;
}) {
  return (
    <Page title={`Welcome, ${name}`}>
      <p>Choose a password. This address works once.</p>
      <Notice error={error ?? null} />
      <form method="post" action={`/invitation/${token}`}>
        <WhosePassword name={name} />
        <Field
          name="password"
          label="Password"
          type="password"
          autocomplete="new-password"
          hint="10 characters or more"
        />
        <button type="submit">Set the password</button>
      </form>
    </Page>
  );
}

/** A page with only a message; signed-in people also get the navigation. */
export function MessagePage({
  title,
  text,
  signedIn = null,
}: {
  title: string;
  text: string;
  signedIn?: SignedIn | null;
}) {
  return (
    <Page title={title} signedIn={signedIn}>
      <p>{text}</p>
      {signedIn === null ? (
        <p>
          <a href="/">Continue</a>
        </p>
      ) : null}
    </Page>
  );
}

/** Asks again before something that cannot be undone. */
export function ConfirmPage({
  signedIn,
  title,
  text,
  action,
  label,
  back,
}: {
  signedIn: SignedIn;
  title: string;
  text: string;
  action: string;
  label: string;
  back: string;
}) {
  return (
    <Page title={title} signedIn={signedIn}>
      <p>{text}</p>
      <form method="post" action={action}>
        <button class="bad" type="submit">
          {label}
        </button>
      </form>
      <p>
        <a href={back}>Back</a>
      </p>
    </Page>
  );
}
