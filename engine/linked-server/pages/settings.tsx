/** @jsxImportSource hono/jsx */

import { formatCount } from '../../core/base/text.ts';
import {
  ACCOUNT_CAPABILITIES,
  ACCOUNT_CAPABILITY_NAMES,
  type AccountEntitlements,
  ADDONS,
  type AddonName,
  QUOTA_NAMES,
} from '../../core/link-protocol/capabilities.ts';
import { TARGET_KINDS, type TargetKind, type TargetRow } from '../database/tables.ts';
import { capabilityOf } from '../deliveries/add-target.ts';
import { readEvents } from '../deliveries/targets.ts';
import type { SignedIn } from '../people/people.ts';
import { Notice, Page, TableHead, Time } from './layout.tsx';

/** Display names of the kinds. */
export const KIND_NAMES: Record<TargetKind, string> = {
  n8n: 'n8n',
  zapier: 'Zapier',
  make: 'Make',
  webhook: 'hosted webhook',
};

/** Labels for adding a target of a kind. */
export const describeAddition = (kind: TargetKind): string =>
  `Add ${kind === 'webhook' ? 'a' : 'the catch URL of'} ${KIND_NAMES[kind]}`;

/** The state of a target, as a word and a sentence. */
export function describeTarget(
  target: Pick<TargetRow, 'kind' | 'is_on' | 'paused_why'>,
  { capabilities }: Pick<AccountEntitlements, 'capabilities'>,
): { word: 'on' | 'off' | 'paused' | 'locked'; why: string } {
  if (!capabilities.includes(capabilityOf(target.kind)))
    return { word: 'locked', why: 'the plan of the account does not include it, or its add-on is off' };
  if (target.is_on !== 1) return { word: 'off', why: 'events go there once it is switched on' };
  if (target.paused_why === 'gone')
    return { word: 'paused', why: 'it answered 410, so it is gone or switched off' };
  if (target.paused_why === 'failing') return { word: 'paused', why: 'it failed for a day' };
  return { word: 'on', why: 'events go there' };
}

/** Codes that wait for confirmation, above everything else. */
function PausedTargets({ targets }: { targets: readonly (TargetRow & { waiting: number })[] }) {
  const paused = targets.filter(({ paused_at, is_on }) => paused_at !== null && is_on === 1);
  return (
    <>
      {paused.map(({ id, name, paused_at, paused_why, waiting }) => (
        <p class="error" role="alert">
          {`${name} is paused since `}
          <Time at={paused_at} />
          {`: it ${paused_why === 'gone' ? 'answered 410' : 'failed for a day'}. ${formatCount(waiting, 'event waits', 'events wait')}, each for seven days. `}
          <a href={`/app/settings/targets/${id}`}>{`Check ${name}`}</a>
        </p>
      ))}
    </>
  );
}

/** Shows the account's plan, and the targets of its events. */
export function SettingsPage({
  signedIn,
  said,
  entitlements,
  used,
  targets,
}: {
  signedIn: SignedIn;
  said: string | null;
  entitlements: AccountEntitlements & { addons: readonly AddonName[] };
  /** Counts of quotas, if the server counts them. */
  used: Record<'people' | 'workspaces', number>;
  targets: readonly (TargetRow & { waiting: number })[];
}) {
  const isAdmin = signedIn.person.role === 'admin';
  const { plan, quotas, capabilities, addons } = entitlements;
  const missing = TARGET_KINDS.filter(
    (kind) => kind === 'webhook' || targets.every((target) => target.kind !== kind),
  );
  return (
    <Page title="Settings" path="/app/settings" signedIn={signedIn}>
      <Notice said={said} />
      <PausedTargets targets={targets} />
      <h2>Where events go</h2>
      {targets.length === 0 ? (
        <p>Events of linked workspaces are not sent anywhere yet.</p>
      ) : (
        <table>
          <TableHead columns={['Name', 'Kind', 'Address', 'Events', 'State', 'Backlog']} />
          <tbody>
            {targets.map((target) => {
              const { word, why } = describeTarget(target, entitlements);
              return (
                <tr>
                  <td data-label="Name">
                    <a href={`/app/settings/targets/${target.id}`}>{target.name}</a>
                  </td>
                  <td data-label="Kind">{KIND_NAMES[target.kind]}</td>
                  <td data-label="Address">{target.shown_url}</td>
                  <td data-label="Events">{readEvents(target).join(', ')}</td>
                  <td data-label="State">
                    {word} <span class="dim">{why}</span>
                  </td>
                  <td data-label="Backlog">{`${target.waiting} waiting`}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      {isAdmin ? (
        <ul>
          {missing.map((kind) => (
            <li>
              {capabilities.includes(capabilityOf(kind)) ? (
                <a href={`/app/settings/new?kind=${kind}`}>{describeAddition(kind)}</a>
              ) : (
                <span class="dim">{`${KIND_NAMES[kind]}: locked, ${kind === 'webhook' ? `not in the plan ${plan}` : 'its add-on is off'}`}</span>
              )}
            </li>
          ))}
        </ul>
      ) : null}
      <h2>Add-ons</h2>
      <table>
        <TableHead columns={['Add-on', 'State', 'Price']} />
        <tbody>
          {ADDONS.map((addon) => (
            <tr>
              <td data-label="Add-on">{`Catch URL of ${KIND_NAMES[addon]}`}</td>
              <td data-label="State">{addons.includes(addon) ? 'on' : 'off'}</td>
              <td data-label="Price">listed at 5 USD a month; the operator of this server enables it</td>
            </tr>
          ))}
        </tbody>
      </table>
      <h2>{`Plan: ${plan}`}</h2>
      <dl class="facts">
        {QUOTA_NAMES.map((quota) => (
          <>
            <dt>{quota}</dt>
            <dd>
              {quota === 'projects'
                ? `${quotas.projects ?? 'no limit'}, counted by each workspace: svc entitlements`
                : describeUse(used[quota], quotas[quota])}
            </dd>
          </>
        ))}
        {ACCOUNT_CAPABILITY_NAMES.map((name) => (
          <>
            <dt>{name}</dt>
            <dd>{`${capabilities.includes(name) ? 'allowed' : 'locked'}: ${ACCOUNT_CAPABILITIES[name].about}`}</dd>
          </>
        ))}
      </dl>
    </Page>
  );
}

const describeUse = (used: number, most: number | null): string => {
  if (most === null) return `${used}, no limit`;
  return used > most ? `${used}, ${used - most} over the ${most} of the plan` : `${used} of ${most}`;
};
