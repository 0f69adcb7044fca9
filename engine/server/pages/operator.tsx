/** @jsxImportSource hono/jsx */
import type { Account } from '../database/tables.ts';
import type { ListedPerson, SignedIn } from '../people/people.ts';
import { Field, Notice, OneTimeAddress, Page, TableHead } from './layout.tsx';

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
      <OneTimeAddress link={link ?? null} />
      <table>
        <TableHead columns={['Account', 'Plan', 'People']} hasActions />
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
