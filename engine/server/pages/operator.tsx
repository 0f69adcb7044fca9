/** @jsxImportSource hono/jsx */
import type { Account } from '../database/tables.ts';
import type { ListedPerson, SignedIn } from '../people/people.ts';
import { Field, Notice, Page } from './layout.tsx';

/** Accounts of this server, for those who run it. */
export function OperatorPage({
  signedIn,
  accounts,
  people,
  said,
  error,
  link,
}: {
  signedIn: SignedIn;
  accounts: readonly Account[];
  people: readonly ListedPerson[];
  said?: string | null;
  error?: string | null;
  link?: { name: string; url: string } | null;
}) {
  return (
    <Page title="Operator" path="/operator" signedIn={signedIn}>
      <Notice error={error ?? null} said={said ?? null} />
      {link ? (
        <div class="facts" role="status">
          <p>{`Give ${link.name} this address. It opens once, for 72 hours, and is not shown again.`}</p>
          <p>
            <code>{link.url}</code>
          </p>
        </div>
      ) : null}
      <table>
        <thead>
          <tr>
            <th scope="col">Account</th>
            <th scope="col">Plan</th>
            <th scope="col">People</th>
            <th scope="col">
              <span>Change</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {accounts.map(({ id, name, plan }) => (
            <tr>
              <td>{name}</td>
              <td>{plan}</td>
              <td>
                {people
                  .filter((person) => person.account === name)
                  .map((person) => person.name)
                  .join(', ')}
              </td>
              <td>
                <a href={`/operator/accounts/${id}/remove`} aria-label={`Remove ${name}`}>
                  Remove
                </a>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <h2>Add an account</h2>
      <form method="post" action="/operator/accounts">
        <Field name="account" label="Name of the account" />
        <Field name="name" label="Name of its first person, who becomes its admin" />
        <button type="submit">Add</button>
      </form>
    </Page>
  );
}
