/** @jsxImportSource hono/jsx */
import { ADDONS, type AddonName, QUOTA_NAMES } from '../../core/link-protocol/capabilities.ts';
import type { ListedBot } from '../chats/bots.ts';
import type { ListPage } from '../database/list-page.ts';
import type { Account } from '../database/tables.ts';
import type { UsageDay } from '../links/usage.ts';
import type { SignedIn } from '../people/people.ts';
import type { ListedAccount } from '../people/people-lists.ts';
import type { AccountPlan } from '../plans/plans.ts';
import { BotTable } from './bots.tsx';
import { Action, Field, Notice, OneTimeAddress, Page, TableHead } from './layout.tsx';
import { PageLinks } from './page-links.tsx';
import { listToldDays, RunsChart, UsageTable } from './usage.tsx';

/** Shows the plan of one account, for changing it. */
export function AccountPage({
  signedIn,
  account,
  plans,
  addons,
  said,
}: {
  signedIn: SignedIn;
  account: Account;
  plans: readonly AccountPlan[];
  addons: readonly AddonName[];
  said?: string | null;
}) {
  const place = `/operator/accounts/${account.id}`;
  return (
    <Page title={`Account ${account.name}`} path="/operator" signedIn={signedIn}>
      <Notice said={said ?? null} />
      <h2>Plan</h2>
      <form method="post" action={`${place}/plan`}>
        <label for="plan">Plan</label>
        <select id="plan" name="plan">
          {plans.map(({ name }) => (
            <option value={name} {...(name === account.plan ? { selected: true } : {})}>
              {name}
            </option>
          ))}
        </select>
        <div>
          <button type="submit">Assign</button>
        </div>
      </form>
      <table>
        <TableHead columns={['Plan', ...QUOTA_NAMES, 'Has']} />
        <tbody>
          {plans.map(({ name, quotas, capabilities }) => (
            <tr>
              <td data-label="Plan">{name}</td>
              {QUOTA_NAMES.map((quota) => (
                <td data-label={quota}>{`${quotas[quota] ?? 'no limit'}`}</td>
              ))}
              <td data-label="Has">{capabilities.join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <h2>Add-ons</h2>
      <table>
        <TableHead columns={['Add-on', 'State']} hasActions />
        <tbody>
          {ADDONS.map((addon) => {
            const isOn = addons.includes(addon);
            return (
              <tr>
                <td data-label="Add-on">{addon}</td>
                <td data-label="State">{isOn ? 'on' : 'off'}</td>
                <td>
                  <Action
                    action={`${place}/addons/${addon}/${isOn ? 'off' : 'on'}`}
                    label={isOn ? 'Switch off' : 'Switch on'}
                    about={addon}
                  />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p>
        <a href="/operator">Back</a>
      </p>
    </Page>
  );
}

/** Formats names such as `ann, bob, carl and 12 more`. */
function namePeople({ count, names }: ListedAccount['people']): string {
  const shown = names.join(', ');
  return count > names.length ? `${shown} and ${count - names.length} more` : shown;
}

/** Lists accounts of this server, for operators. */
export function OperatorPage({
  signedIn,
  accounts,
  bots,
  totals,
  said,
  error,
  link,
  wish,
}: {
  signedIn: SignedIn;
  accounts: ListPage<ListedAccount>;
  bots: readonly ListedBot[];
  /** Shows the sums of all accounts. */
  totals: readonly UsageDay[];
  said?: string | null;
  error?: string | null;
  link?: { name: string; url: string } | null;
  /** The account that could not be added. */
  wish?: { account: string; name: string };
}) {
  return (
    <Page title="Operator" path="/operator" signedIn={signedIn}>
      <Notice error={error ?? null} said={said ?? null} />
      <OneTimeAddress link={link ?? null} />
      <table>
        <TableHead columns={['Account', 'Plan', 'People']} hasActions />
        <tbody>
          {accounts.rows.map(({ id, name, plan, people }) => (
            <tr>
              <td data-label="Account">
                <a href={`/operator/accounts/${id}`}>{name}</a>
              </td>
              <td data-label="Plan">{plan}</td>
              <td data-label="People">{namePeople(people)}</td>
              <td>
                <a href={`/operator/accounts/${id}/remove`} aria-label={`Remove ${name}`}>
                  Remove
                </a>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <PageLinks
        page={accounts}
        path="/operator"
        names={{ previous: 'Previous accounts', next: 'Next accounts' }}
      />
      <h2>Add an account</h2>
      <form method="post" action="/operator/accounts">
        <Field name="account" label="Name of the account" value={wish?.account ?? ''} />
        <Field name="name" label="Name of its first person, who becomes its admin" value={wish?.name ?? ''} />
        <button type="submit">Add</button>
      </form>
      <BotTable bots={bots} />
      <h2>Usage of all accounts</h2>
      <RunsChart days={totals} />
      <UsageTable days={listToldDays(totals)} />
    </Page>
  );
}
