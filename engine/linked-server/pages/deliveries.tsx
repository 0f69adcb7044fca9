/** @jsxImportSource hono/jsx */

import { formatCount } from '../../core/base/text.ts';
import type { AccountEntitlements } from '../../core/link-protocol/capabilities.ts';
import type { ListPage } from '../database/list-page.ts';
import type { TargetDeliveryRow } from '../database/tables.ts';
import type { ListedDelivery } from '../deliveries/outbox.ts';
import type { SignedIn } from '../people/people.ts';
import { Action, Notice, Page, TableHead, Time } from './layout.tsx';
import { PageLinks } from './page-links.tsx';
import { describeTarget } from './settings.tsx';

/** Explains why a target receives nothing yet. */
const WAITS_UNTIL: Readonly<Record<string, string>> = {
  off: 'switched on',
  paused: 'resumed',
  locked: 'unlocked',
};

/** Explains what a delivery waits for; nothing otherwise. */
function Waiting({ row, entitlements }: { row: ListedDelivery; entitlements: AccountEntitlements }) {
  if (row.state !== 'waiting') return null;
  const until = WAITS_UNTIL[describeTarget(row.target, entitlements).word];
  if (until !== undefined) return <span class="dim">{`until its target is ${until}`}</span>;
  if (row.tries === 0) return null;
  return (
    <span class="dim">
      {'next try '}
      <Time at={row.next_at} />
    </span>
  );
}

/** Lists deliveries, the newest first. */
export function DeliveriesPage({
  signedIn,
  said,
  deliveries,
  target,
  entitlements,
}: {
  signedIn: SignedIn;
  entitlements: AccountEntitlements;
  said: string | null;
  deliveries: ListPage<ListedDelivery>;
  /** The only listed target; null for all. */
  target: string | null;
}) {
  const isAdmin = signedIn.person.role === 'admin';
  return (
    <Page title="Deliveries" path="/app/deliveries" signedIn={signedIn}>
      <Notice said={said} />
      {deliveries.rows.length === 0 ? (
        <p>Nothing has been sent yet.</p>
      ) : (
        <table>
          <TableHead
            columns={['Event', 'Where', 'State', 'Tries', 'Last answer', 'When']}
            hasActions={isAdmin}
          />
          <tbody>
            {deliveries.rows.map((row) => (
              <tr>
                <td data-label="Event">
                  <span class="word">{row.event}</span> <span class="dim">{row.workspace}</span>
                </td>
                <td data-label="Where">{row.target_name}</td>
                <td data-label="State">
                  {row.state} <Waiting row={row} entitlements={entitlements} />
                </td>
                <td data-label="Tries">{formatCount(row.tries, 'try', 'tries')}</td>
                <td data-label="Last answer">{describeAnswer(row)}</td>
                <td data-label="When">
                  <Time at={row.created_at} />
                </td>
                {isAdmin ? (
                  <td>
                    <Action
                      action={`/app/deliveries/${row.id}/again`}
                      label="Send again"
                      about={`${row.event} to ${row.target_name}`}
                    />
                  </td>
                ) : null}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <PageLinks
        page={deliveries}
        path="/app/deliveries"
        names={{ previous: 'Newer deliveries', next: 'Older deliveries' }}
        query={target === null ? {} : { target }}
      />
    </Page>
  );
}

function describeAnswer({ last_status, last_ms, last_error }: TargetDeliveryRow): string {
  const parts = [last_error ?? (last_status === null ? 'none yet' : `HTTP ${last_status}`)];
  if (last_ms !== null) parts.push(`${last_ms} ms`);
  return parts.join(', ');
}
