import { randomBytes } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { shownAddress } from '../../core/http/shown-address.ts';
import type { AccountCapability, AddonName } from '../../core/link-protocol/capabilities.ts';
import { EVENT_NAMES, type OutboundEvent, type SigningSecrets } from '../../notify/sending/index.ts';
import type { ChangeEntry, ChangeLog } from '../change-log.ts';
import { TARGET_KINDS, type Tables, type TargetKind, type TargetRow } from '../database/tables.ts';
import { takeTurn } from '../database/take-turn.ts';
import type { DecisionFollower } from '../decision-follower.ts';
import type { AccountPlans } from '../plans/plans.ts';
import { withdrawRequests } from '../requesters.ts';
import type { SecretSealer } from '../sealing.ts';
import { makeServerId } from '../secrets.ts';
import type { AddressGuard } from './address-guard.ts';
import { changeChosen, readWorkspaceWish, type WorkspaceWish } from './chosen-workspaces.ts';

/** How long the previous secret also signs after a new one was created. */
export const OVERLAP_MS = 24 * 3600_000;
const SIGNS_YET = 'a new secret was created within the last day, and the previous one still signs';
/** Reports whether the previous secret still signs. */
export const isOverlapping = ({ old_until }: Pick<TargetRow, 'old_until'>, now: number): boolean =>
  (old_until ?? 0) > now;
/** Maximum number of hosted webhooks of an account. */
const MOST_WEBHOOKS = 20;
const LONGEST_URL = 2000;
const SECRET_BYTES = 32;

/** The fields of the form. */
export interface TargetWish {
  name: string;
  /** Empty keeps the saved one. */
  url: string;
  events: readonly string[];
  workspaces: WorkspaceWish;
}

export interface TargetStore {
  list(account: string): Promise<(TargetRow & { waiting: number })[]>;
  /** Null for an unknown target, or one of another account. */
  find(id: string, account: string): Promise<TargetRow | null>;
  /** Returns the secret, only once. Throws `fields_invalid`, `address_refused`, `conflict`, `capability_locked`. */
  add(
    kind: TargetKind,
    wish: TargetWish,
    account: string,
    actor: string,
  ): Promise<{ target: TargetRow; secret: string }>;
  change(target: TargetRow, wish: TargetWish, actor: string): Promise<void>;
  /** Adds workspaces to its own and removes others. Throws `fields_invalid`, `conflict`. */
  changeWorkspaces(
    target: TargetRow,
    wish: { add: readonly string[]; leave: readonly string[] },
    actor: string,
  ): Promise<void>;
  switch(target: TargetRow, isOn: boolean, actor: string): Promise<void>;
  remove(target: TargetRow, actor: string): Promise<void>;
  /**
   * Creates a new secret, returned only once; the old one also signs for a day. Throws `conflict` within that day,
   * unless the old one has to end immediately.
   */
  rotateSecret(target: TargetRow, actor: string, how?: { endsOverlap?: boolean }): Promise<string>;
  /** Resumes sending to a paused target. */
  resume(target: TargetRow, actor: string): Promise<void>;
  /** The current address and signing secrets of a target. */
  open(target: TargetRow): { url: string; secrets: SigningSecrets };
}

/** The capability that such a target requires. */
export const capabilityOf = (kind: TargetKind): AccountCapability =>
  kind === 'webhook' ? 'hosted_webhook' : `catch_url_${kind satisfies AddonName}`;

/** n8n's test addresses, which listen for two minutes after a click. */
export const isShortLived = ({ kind, url }: { kind: TargetKind; url: string }): boolean =>
  kind === 'n8n' && /\/webhook-test\//.test(url);

const createInvalidTargetError = (field: string, message: string, hint?: string): SvcError =>
  new SvcError('fields_invalid', message, {
    data: { fields: [field] },
    ...(hint === undefined ? {} : { hint }),
  });

function readUrl(text: string): string {
  const url = URL.parse(text.trim());
  if (url === null || !['http:', 'https:'].includes(url.protocol) || text.length > LONGEST_URL)
    throw createInvalidTargetError(
      'url',
      'this is not an address that events can be posted to',
      'it must start with https://',
    );
  if (url.username !== '' || url.password !== '')
    throw createInvalidTargetError('url', 'an address with a user name and a password is refused');
  url.hash = '';
  return url.href;
}

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,47}$/u;

function readNameAndEvents({ name, events }: TargetWish) {
  const normal = name.normalize('NFC').trim();
  if (!NAME.test(normal))
    throw createInvalidTargetError(
      'name',
      'a name has 1 to 48 letters, digits, spaces, dots, dashes and underscores',
    );
  const chosen = EVENT_NAMES.filter((event) => events.includes(event));
  if (chosen.length === 0 || chosen.length !== new Set(events).size)
    throw createInvalidTargetError('events', 'choose at least one event from the list');
  return { name: normal, events: JSON.stringify(chosen) };
}

export const readEvents = (target: Pick<TargetRow, 'events'>): OutboundEvent[] =>
  JSON.parse(target.events) as OutboundEvent[];

export function createTargets({
  db,
  clock,
  changes,
  plans,
  sealer,
  guard,
  follower,
  wake,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
  plans: Pick<AccountPlans, 'entitlementsOf'>;
  sealer: SecretSealer;
  guard: Pick<AddressGuard, 'check'>;
  follower: DecisionFollower;
  /** Called when something may be due. */
  wake(): void;
}): TargetStore {
  const makeSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

  async function requireCapability(kind: TargetKind, account: string): Promise<void> {
    const { capabilities, plan } = await plans.entitlementsOf(account);
    if (capabilities.includes(capabilityOf(kind))) return;
    throw new SvcError(
      'capability_locked',
      kind === 'webhook' ? `the plan ${plan} has no hosted webhooks` : `the add-on ${kind} is off`,
      { hint: 'the operator of the server enables it' },
    );
  }

  /** Open requests of its tool, signed with its secret. */
  const withdrawRequestsOf = (change: Transaction<Tables>, { account_id, slot }: TargetRow): Promise<void> =>
    withdrawRequests(
      change,
      { account: account_id, person: slot, channels: ['automation'] },
      clock.now(),
      follower.followDecisions,
    );

  const entryOf = ({ account_id, kind, name }: TargetRow, what: string, actor: string): ChangeEntry => ({
    account: account_id,
    actor,
    what,
    detail: `${name} (${kind})`,
  });

  return {
    list: (account) =>
      db
        .selectFrom('targets')
        .selectAll('targets')
        .select(({ selectFrom }) =>
          selectFrom('deliveries')
            .whereRef('deliveries.target_id', '=', 'targets.id')
            .where('deliveries.state', '=', 'waiting')
            .select(({ fn }) => fn.countAll<number>().as('count'))
            .$asScalar()
            .$notNull()
            .as('waiting'),
        )
        .where('account_id', '=', account)
        .orderBy('created_at')
        .orderBy('id')
        .execute(),
    async find(id, account) {
      const found = await db
        .selectFrom('targets')
        .selectAll()
        .where('id', '=', id)
        .where('account_id', '=', account)
        .executeTakeFirst();
      return found ?? null;
    },
    async add(kind, wish, account, actor) {
      if (!TARGET_KINDS.includes(kind)) throw createInvalidTargetError('kind', 'no such kind of target');
      await requireCapability(kind, account);
      const url = readUrl(wish.url);
      const workspaces = await readWorkspaceWish(db, wish.workspaces, { account });
      const read = { ...readNameAndEvents(wish), workspaces };
      await guard.check(url);
      const id = makeServerId('t');
      const secret = makeSecret();
      const target: TargetRow = {
        id,
        account_id: account,
        kind,
        slot: kind === 'webhook' ? id : kind,
        ...read,
        url: sealer.seal(url, `targets.url.${id}`),
        shown_url: shownAddress(url),
        is_on: 1,
        secret: sealer.seal(secret, `targets.secret.${id}`),
        old_secret: null,
        old_until: null,
        paused_at: null,
        paused_why: null,
        failing_since: null,
        created_at: clock.now(),
      };
      await changes.make(entryOf(target, 'target added', actor), async (change) => {
        await takeTurn(change);
        if (kind === 'webhook') await requireRoom(change, account);
        const { numInsertedOrUpdatedRows } = await change
          .insertInto('targets')
          .values(target)
          .onConflict((same) => same.columns(['account_id', 'slot']).doNothing())
          .executeTakeFirst();
        if (Number(numInsertedOrUpdatedRows) === 0)
          throw new SvcError('conflict', `the account already has a catch URL of ${kind}`, {
            hint: 'change the existing one',
          });
      });
      return { target, secret };
    },
    async change(target, wish, actor) {
      const chosen = { account: target.account_id, before: target };
      const workspaces = await readWorkspaceWish(db, wish.workspaces, chosen);
      const read = {
        ...readNameAndEvents(wish),
        // Another admin may be choosing concurrently.
        ...(workspaces === target.workspaces ? {} : { workspaces }),
      };
      const url = wish.url.trim() === '' ? null : readUrl(wish.url);
      if (url !== null) await guard.check(url);
      const address =
        url === null
          ? {}
          : {
              failing_since: null,
              url: sealer.seal(url, `targets.url.${target.id}`),
              shown_url: shownAddress(url),
            };
      const what = url === null ? 'target changed' : 'target changed, with its address';
      await changes.make(entryOf(target, what, actor), async (change) => {
        await change
          .updateTable('targets')
          .set({ ...read, ...address })
          .where('id', '=', target.id)
          .execute();
      });
    },
    changeWorkspaces: (target, wish, actor) =>
      changes.make(entryOf(target, 'target changed', actor), (change) => changeChosen(change, target, wish)),
    async switch(target, isOn, actor) {
      const what = isOn ? 'target switched on' : 'target switched off';
      await changes.make(entryOf(target, what, actor), async (change) => {
        await change
          .updateTable('targets')
          .set({ is_on: isOn ? 1 : 0 })
          .where('id', '=', target.id)
          .execute();
        if (!isOn) await withdrawRequestsOf(change, target);
      });
      follower.wake();
      wake();
    },
    async remove(target, actor) {
      await changes.make(entryOf(target, 'target removed', actor), async (change) => {
        await change.deleteFrom('targets').where('id', '=', target.id).execute();
        await withdrawRequestsOf(change, target);
      });
      follower.wake();
    },
    async rotateSecret(target, actor, { endsOverlap = false } = {}) {
      if (isOverlapping(target, clock.now()) && !endsOverlap)
        throw new SvcError('conflict', SIGNS_YET, {
          hint: 'another new secret would end the previous one immediately',
        });
      const secret = makeSecret();
      const old = sealer.unseal(target.secret, `targets.secret.${target.id}`);
      await changes.make(entryOf(target, 'new secret', actor), async (change) => {
        const { numUpdatedRows } = await change
          .updateTable('targets')
          .set({
            secret: sealer.seal(secret, `targets.secret.${target.id}`),
            old_secret: sealer.seal(old, `targets.old_secret.${target.id}`),
            old_until: clock.now() + OVERLAP_MS,
          })
          .where('id', '=', target.id)
          .where('secret', '=', target.secret)
          .executeTakeFirst();
        if (Number(numUpdatedRows) === 0)
          throw new SvcError('conflict', 'another person has just created a new secret', {
            hint: 'reload this page',
          });
      });
      return secret;
    },
    async resume(target, actor) {
      const now = clock.now();
      await changes.make(entryOf(target, 'target resumed', actor), async (change) => {
        await change
          .updateTable('deliveries')
          .set({ first_at: now, next_at: now })
          .where('target_id', '=', target.id)
          .where('state', '=', 'waiting')
          .execute();
        await change
          .updateTable('targets')
          .set({ paused_at: null, paused_why: null, failing_since: null })
          .where('id', '=', target.id)
          .execute();
      });
      wake();
    },
    open({ id, url, secret, old_secret, old_until }) {
      const current = sealer.unseal(secret, `targets.secret.${id}`);
      const before = isOverlapping({ old_until }, clock.now()) ? old_secret : null;
      return {
        url: sealer.unseal(url, `targets.url.${id}`),
        secrets: before === null ? [current] : [current, sealer.unseal(before, `targets.old_secret.${id}`)],
      };
    },
  };
}

/** Throws `conflict` if an account has the maximum number of hosted webhooks. */
async function requireRoom(change: Transaction<Tables>, account: string): Promise<void> {
  const { count } = await change
    .selectFrom('targets')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('account_id', '=', account)
    .where('kind', '=', 'webhook')
    .executeTakeFirstOrThrow();
  if (Number(count) >= MOST_WEBHOOKS)
    throw new SvcError('conflict', `an account has at most ${MOST_WEBHOOKS} hosted webhooks`);
}
