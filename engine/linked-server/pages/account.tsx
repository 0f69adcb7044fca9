/** @jsxImportSource hono/jsx */
import type { ListPage } from '../database/list-page.ts';
import type { BrowserSession, ChangeRow, PersonRole } from '../database/tables.ts';
import type { ListedMachine } from '../login/machines.ts';
import type { SignedIn } from '../people/people.ts';
import type { ListedPerson } from '../people/people-lists.ts';
import { Action, Field, Notice, OneTimeAddress, Page, TableHead, Time, WhosePassword } from './layout.tsx';
import { PageLinks } from './page-links.tsx';

interface Shown {
  signedIn: SignedIn;
  said?: string | null;
  error?: string | null;
}

/** Lists machines that people of the account logged in from. */
export function MachinesPage({
  signedIn,
  said,
  machines,
  origin,
}: Shown & { machines: ListPage<ListedMachine>; origin: string }) {
  const isAdmin = signedIn.person.role === 'admin';
  return (
    <Page title="Machines" path="/app/machines" signedIn={signedIn}>
      <Notice said={said ?? null} />
      {machines.rows.length === 0 ? (
        <p>
          No machine has logged in. On a machine with svc: <code>{`svc login ${origin}`}</code>
        </p>
      ) : (
        <table>
          <TableHead columns={['Machine', 'Logged in by', 'Since', 'Last seen']} hasActions />
          <tbody>
            {machines.rows.map(({ id, name, person, svc_version, system, created_at, seen_at }) => (
              <tr>
                <td data-label="Machine">
                  {name} <span class="dim">{`svc ${svc_version}, ${system}`}</span>
                </td>
                <td data-label="Logged in by">{person}</td>
                <td data-label="Since">
                  <Time at={created_at} />
                </td>
                <td data-label="Last seen">
                  <Time at={seen_at} />
                </td>
                <td>
                  {isAdmin ? (
                    <Action action={`/app/machines/${id}/revoke`} label="Revoke" about={name} kind="bad" />
                  ) : null}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <PageLinks
        page={machines}
        path="/app/machines"
        names={{ previous: 'Machines that logged in before', next: 'Machines that logged in later' }}
      />
      <h2>Log a machine in</h2>
      <p>
        <code>{`svc login ${origin}`}</code> prints a code. <a href="/device">Enter it here</a>.
      </p>
    </Page>
  );
}

/** Lists people of the account; admins invite, change and remove. */
export function PeoplePage({
  signedIn,
  said,
  error,
  people,
  link,
  wish,
}: Shown & {
  people: ListPage<ListedPerson>;
  link?: { name: string; url: string } | null;
  /** The person who could not be invited. */
  wish?: { name: string; role: PersonRole };
}) {
  const isAdmin = signedIn.person.role === 'admin';
  const mayChange = (isOperator: boolean): boolean =>
    isAdmin && (!isOperator || signedIn.person.is_operator === 1);
  return (
    <Page title="People" path="/app/people" signedIn={signedIn}>
      <Notice said={said ?? null} error={error ?? null} />
      <OneTimeAddress link={link ?? null} />
      <table>
        <TableHead columns={['Name', 'Role', 'State']} hasActions />
        <tbody>
          {people.rows.map(({ id, name, role, is_operator, has_password }) => (
            <tr>
              <td data-label="Name">{name}</td>
              <td data-label="Role">{`${role}${is_operator ? ', operator' : ''}`}</td>
              <td data-label="State">{has_password ? 'can sign in' : 'invited'}</td>
              <td>
                {mayChange(is_operator) ? (
                  <>
                    <Action
                      action={`/app/people/${id}/invite`}
                      label={has_password ? 'New password' : 'Invite again'}
                      about={`for ${name}`}
                    />
                    <Action
                      action={`/app/people/${id}/${role === 'admin' ? 'make-member' : 'make-admin'}`}
                      label={role === 'admin' ? 'Make member' : 'Make admin'}
                      about={name}
                    />
                    <a href={`/app/people/${id}/remove`} aria-label={`Remove ${name}`}>
                      Remove
                    </a>
                  </>
                ) : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <PageLinks
        page={people}
        path="/app/people"
        names={{ previous: 'Previous people', next: 'Next people' }}
      />
      {isAdmin ? (
        <>
          <h2>Invite someone</h2>
          <form method="post" action="/app/people">
            <Field name="name" label="Name" value={wish?.name ?? ''} />
            <label for="role">Role</label>
            <select id="role" name="role">
              <option value="member">member</option>
              <option value="admin" {...(wish?.role === 'admin' ? { selected: true } : {})}>
                admin
              </option>
            </select>
            <div>
              <button type="submit">Invite</button>
            </div>
          </form>
        </>
      ) : null}
    </Page>
  );
}

/** Shows the person's sign-ins, and a form for their password. */
export function SignInsPage({
  signedIn,
  said,
  error,
  sessions,
}: Shown & { sessions: ListPage<BrowserSession> }) {
  return (
    <Page title="Sign-ins" path="/app/sign-ins" signedIn={signedIn}>
      <Notice said={said ?? null} error={error ?? null} />
      <table>
        <TableHead columns={['Browser', 'From', 'Since', 'Last request']} hasActions />
        <tbody>
          {sessions.rows.map(({ id, browser, address, created_at, seen_at }) => (
            <tr>
              <td data-label="Browser">{browser === '' ? 'unknown' : browser}</td>
              <td data-label="From">{address}</td>
              <td data-label="Since">
                <Time at={created_at} />
              </td>
              <td data-label="Last request">
                <Time at={seen_at} />
              </td>
              <td>
                {id === signedIn.sessionId ? (
                  'this one'
                ) : (
                  <Action
                    action={`/app/sign-ins/${id}/end`}
                    label="End"
                    about={`the one from ${address}`}
                    kind="bad"
                  />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <PageLinks
        page={sessions}
        path="/app/sign-ins"
        names={{ previous: 'Sign-ins used later', next: 'Sign-ins used before' }}
      />
      <h2>Change the password</h2>
      <p>It ends all other sign-ins.</p>
      <form method="post" action="/app/password">
        <WhosePassword name={signedIn.person.name} />
        <Field name="old" label="Current password" type="password" autocomplete="current-password" />
        <Field
          name="password"
          label="New password"
          type="password"
          autocomplete="new-password"
          hint="10 characters or more"
        />
        <button type="submit">Change it</button>
      </form>
    </Page>
  );
}

/** Lists changes of the account, the newest first. */
export function LogPage({ signedIn, changes }: Shown & { changes: ListPage<ChangeRow> }) {
  return (
    <Page title="Log" path="/app/log" signedIn={signedIn}>
      <table>
        <TableHead columns={['When', 'Who', 'What']} />
        <tbody>
          {changes.rows.map(({ at, actor, what, detail }) => (
            <tr>
              <td data-label="When">
                <Time at={at} />
              </td>
              <td data-label="Who">{actor}</td>
              <td data-label="What">{detail === '' ? what : `${what}: ${detail}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <PageLinks
        page={changes}
        path="/app/log"
        names={{ previous: 'Newer changes', next: 'Older changes' }}
      />
    </Page>
  );
}
