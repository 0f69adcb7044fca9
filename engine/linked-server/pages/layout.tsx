/** @jsxImportSource hono/jsx */
import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import { formatCount } from '../../core/base/text.ts';
import type { SignedIn } from '../people/people.ts';
import { ICON_PATH } from './icon.ts';
import { STYLE_PATH } from './style.ts';

const LINKS = [
  ['/app', 'Waiting'],
  ['/app/runs', 'Running and done'],
  ['/app/workspaces', 'Workspaces'],
  ['/app/machines', 'Machines'],
  ['/app/settings', 'Settings'],
  ['/app/chats', 'Chats'],
  ['/app/deliveries', 'Deliveries'],
  ['/app/people', 'People'],
  ['/app/sign-ins', 'Sign-ins'],
  ['/app/usage', 'Usage'],
  ['/app/log', 'Log'],
] as const;

/** The length that fits a browser tab. */
const LONGEST_TITLE = 60;
const cutTitle = (title: string): string =>
  title.length <= LONGEST_TITLE
    ? title
    : `${Array.from(title)
        .slice(0, LONGEST_TITLE - 1)
        .join('')}…`;

/** Every page: head, navigation for signed-in people, one main part. */
export function Page({
  title,
  path,
  signedIn,
  children,
}: {
  title: string;
  path?: string;
  signedIn?: SignedIn | null;
  children?: Child;
}) {
  return (
    <>
      {raw('<!doctype html>')}
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <title>{`${cutTitle(title)} · svc`}</title>
          <link rel="icon" type="image/svg+xml" href={ICON_PATH} />
          <link rel="stylesheet" href={STYLE_PATH} />
        </head>
        <body>
          <header>
            <span class="name">svc</span>
            {signedIn ? (
              <>
                <Visitor signedIn={signedIn} />
                <Navigation signedIn={signedIn} path={path ?? ''} />
              </>
            ) : null}
          </header>
          <main>
            <h1>{title}</h1>
            {children}
          </main>
        </body>
      </html>
    </>
  );
}

/** Shows the signed-in person, and the sign-out button. */
const Visitor = ({ signedIn: { person, account } }: { signedIn: SignedIn }) => (
  <div class="visitor">
    <span class="dim">{`${person.name}, ${account.name}`}</span>
    <form method="post" action="/sign-out">
      <button class="link" type="submit">
        Sign out
      </button>
    </form>
  </div>
);

function Navigation({ signedIn, path }: { signedIn: SignedIn; path: string }) {
  const links = [
    ...LINKS,
    ...(signedIn.person.is_operator === 1 ? [['/operator', 'Operator'] as const] : []),
  ];
  return (
    <nav aria-label="Pages">
      <ul>
        {links.map(([href, name]) => (
          <li>
            {href === path ? (
              <a href={href} aria-current="page">
                {name}
              </a>
            ) : (
              <a href={href}>{name}</a>
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** Shows what happened, or why it did not; read aloud immediately. */
export function Notice({ error, said }: { error?: string | null; said?: string | null }) {
  if (error)
    return (
      <p class="error" role="alert">
        {error}
      </p>
    );
  if (said)
    return (
      <p class="said" role="status">
        {said}
      </p>
    );
  return null;
}

/** Shows the address for an invited person to the inviter; nothing if there is none. */
export function OneTimeAddress({ link }: { link?: { name: string; url: string } | null }) {
  if (!link) return null;
  return (
    <div class="facts" role="status">
      <p>{`Give ${link.name} this address. It works once, for 72 hours, and is not shown again.`}</p>
      <p>
        <code>{link.url}</code>
      </p>
    </div>
  );
}

/** The head of a table. With `hasActions` a last column has buttons, with a name for screen readers only. */
export function TableHead({
  columns,
  hasActions = false,
}: {
  columns: readonly string[];
  hasActions?: boolean;
}) {
  return (
    <thead>
      <tr>
        {columns.map((name) => (
          <th scope="col">{name}</th>
        ))}
        {hasActions ? (
          <th scope="col">
            <span>Change</span>
          </th>
        ) : null}
      </tr>
    </thead>
  );
}

/** A field of a form with its label. */
export function Field({
  name,
  label,
  type = 'text',
  value = '',
  autocomplete = 'off',
  hint,
  isOptional = false,
}: {
  name: string;
  label: string;
  type?: 'text' | 'password' | 'url';
  value?: string;
  autocomplete?: string;
  hint?: string;
  isOptional?: boolean;
}) {
  return (
    <>
      <label for={name}>{label}</label>
      {hint ? (
        <p class="dim" id={`${name}-hint`}>
          {hint}
        </p>
      ) : null}
      <input
        id={name}
        name={name}
        type={type}
        value={value}
        {...(isOptional ? {} : { required: true })}
        autocomplete={autocomplete}
        {...(hint ? { 'aria-describedby': `${name}-hint` } : {})}
      />
    </>
  );
}

/** The name for a password form: shown, and known to a browser's password manager. */
export const WhosePassword = ({ name, label = 'Name' }: { name: string; label?: string }) => (
  <>
    <label for="username">{label}</label>
    <input id="username" name="username" type="text" value={name} readonly autocomplete="username" />
  </>
);

/** A checkbox or radio button next to its label. */
export const Choice = ({
  type,
  name,
  value,
  isChosen,
  about,
  children,
}: {
  type: 'checkbox' | 'radio';
  name: string;
  value: string;
  isChosen: boolean;
  about?: string;
  children?: Child;
}) => (
  <label class="choice">
    <input type={type} name={name} value={value} {...(isChosen ? { checked: true } : {})} /> {children}
    {about ? (
      <>
        {' '}
        <span class="dim">{about}</span>
      </>
    ) : null}
  </label>
);

/** Checkboxes of which any number may be ticked; the form has them as `name[]`. */
export function Choices({
  name,
  label,
  choices,
  chosen,
}: {
  name: string;
  label: string;
  /** Values and their labels. */
  choices: readonly (readonly [value: string, about: string])[];
  chosen: readonly string[];
}) {
  return (
    <fieldset>
      <legend>{label}</legend>
      {choices.map(([value, about]) => (
        <Choice
          type="checkbox"
          name={`${name}[]`}
          value={value}
          isChosen={chosen.includes(value)}
          about={about}
        >
          {value}
        </Choice>
      ))}
    </fieldset>
  );
}

/** A button that posts, without input. */
export function Action({
  action,
  label,
  about,
  kind = 'plain',
}: {
  action: string;
  label: string;
  /** Its subject, for screen readers. */
  about?: string;
  kind?: 'plain' | 'bad';
}) {
  return (
    <form method="post" action={action}>
      <button class={kind} type="submit" {...(about ? { 'aria-label': `${label} ${about}` } : {})}>
        {label}
      </button>
    </form>
  );
}

/** Formats a time as `2026-11-23 11:05 UTC`. */
export function Time({ at }: { at: number | null }) {
  if (at === null) return <>never</>;
  const text = new Date(at).toISOString();
  return <time datetime={text}>{`${text.slice(0, 16).replace('T', ' ')} UTC`}</time>;
}

/** Formats a time span, such as `in 2 minutes`. */
export const formatPause = (ms: number): string => {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 120 ? formatCount(seconds, 'second') : formatCount(Math.ceil(seconds / 60), 'minute');
};
