import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { OutboundEvent } from '../../notify/sending/index.ts';
import type { ChangeLog } from '../change-log.ts';
import type { Tables, TargetKind, TargetRow } from '../database/tables.ts';
import type { DecisionFollower } from '../decision-follower.ts';
import type { AccountPlans } from '../plans/plans.ts';
import { withdrawRequests } from '../requesters.ts';
import type { SecretSealer } from '../sealing.ts';
import { createTargetAdder, type TargetAdder } from './add-target.ts';
import type { AddressGuard } from './address-guard.ts';
import { changeChosen, readWorkspaceWish } from './chosen-workspaces.ts';
import { createTargetLists, type TargetLists } from './target-lists.ts';
import { createTargetSecrets, sealAddress, type TargetSecrets } from './target-secrets.ts';
import { entryOf, readNameAndEvents, readUrl, type TargetWish } from './target-wish.ts';

/** The targets of an account's events. */
export interface TargetStore extends TargetLists, TargetAdder, TargetSecrets {
  change(target: TargetRow, wish: TargetWish, actor: string): Promise<void>;
  /** Adds workspaces to its own and removes others. Throws `fields_invalid`, `conflict`. */
  changeWorkspaces(
    target: TargetRow,
    wish: { add: readonly string[]; leave: readonly string[] },
    actor: string,
  ): Promise<void>;
  switch(target: TargetRow, isOn: boolean, actor: string): Promise<void>;
  remove(target: TargetRow, actor: string): Promise<void>;
  /** Resumes sending to a paused target. */
  resume(target: TargetRow, actor: string): Promise<void>;
}

/** n8n's test addresses, which listen for two minutes after a click. */
export const isShortLived = ({ kind, url }: { kind: TargetKind; url: string }): boolean =>
  kind === 'n8n' && /\/webhook-test\//.test(url);

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
  /** Open requests of its tool, signed with its secret. */
  const withdrawRequestsOf = (change: Transaction<Tables>, { account_id, slot }: TargetRow): Promise<void> =>
    withdrawRequests(
      change,
      { account: account_id, person: slot, channels: ['automation'] },
      clock.now(),
      follower.followDecisions,
    );

  return {
    ...createTargetLists(db),
    ...createTargetAdder({ db, clock, changes, plans, sealer, guard }),
    ...createTargetSecrets({ clock, changes, sealer }),
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
      const address = url === null ? {} : { failing_since: null, ...sealAddress(sealer, target.id, url) };
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
  };
}
