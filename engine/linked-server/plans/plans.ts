import type { Kysely, Transaction } from 'kysely';
import { SvcError } from '../../core/base/errors.ts';
import {
  ACCOUNT_CAPABILITIES,
  ACCOUNT_CAPABILITY_NAMES,
  type AccountCapability,
  type AccountEntitlements,
  ADDONS,
  type AddonName,
  PLANS,
  type PlanName,
  QUOTA_NAMES,
  type QuotaName,
} from '../../core/link-protocol/capabilities.ts';
import type { ChangeLog } from '../change-log.ts';
import type { Account, Tables } from '../database/tables.ts';

/** The contents of a plan: quotas (null for no limit), and capabilities that are not add-ons. */
export interface AccountPlan {
  name: PlanName;
  quotas: Record<QuotaName, number | null>;
  capabilities: AccountCapability[];
}

/** Defaults, unless an operator has set others. */
const DEFAULTS: Record<PlanName, Omit<AccountPlan, 'name'>> = {
  free: { quotas: { projects: 3, workspaces: 3, people: 5 }, capabilities: [] },
  professional: {
    quotas: { projects: 20, workspaces: 20, people: 20 },
    capabilities: ['hosted_webhook'],
  },
  team: {
    quotas: { projects: null, workspaces: null, people: null },
    capabilities: ['hosted_webhook', 'assistant'],
  },
};

/** Capabilities enabled for one account rather than by its plan. */
const findAddon = (capability: AccountCapability): AddonName | null => ACCOUNT_CAPABILITIES[capability].addon;

/** Plans as data, and each account's plan. No payments: the operator assigns. */
export interface AccountPlans {
  list(): Promise<AccountPlan[]>;
  /** Sets a quota (a number, or `none`) or a capability (`on`, `off`) of a plan. Throws `fields_invalid`. */
  set(plan: PlanName, key: string, value: string, actor: string): Promise<AccountPlan>;
  /** Returns what an account is currently allowed. */
  entitlementsOf(account: string): Promise<AccountEntitlements & { addons: AddonName[] }>;
  assign(account: Account, plan: PlanName, actor: string): Promise<void>;
  switchAddon(account: Account, addon: AddonName, isOn: boolean, actor: string): Promise<void>;
  /**
   * Throws `quota_exceeded` if an account with this count may not have one more. They are counted in the transaction
   * that adds one, after `takeTurn`.
   */
  requireRoom(change: Transaction<Tables>, account: string, quota: QuotaName, used: number): Promise<void>;
}

const LARGEST = 1_000_000;

function readValue(key: string, value: string): string {
  const isQuota = (QUOTA_NAMES as readonly string[]).includes(key);
  const isCapability = (ACCOUNT_CAPABILITY_NAMES as readonly string[]).includes(key);
  if (isQuota && (value === 'none' || (/^\d{1,7}$/.test(value) && Number(value) <= LARGEST))) return value;
  if (isCapability && findAddon(key as AccountCapability) === null && ['on', 'off'].includes(value))
    return value;
  const capabilities = ACCOUNT_CAPABILITY_NAMES.filter((name) => findAddon(name) === null);
  throw new SvcError('fields_invalid', `a plan has no ${JSON.stringify(`${key}=${value}`)}`, {
    hint: `${QUOTA_NAMES.join(', ')} take a number or none; ${capabilities.join(', ')} take on or off`,
  });
}

async function readPlans(from: Kysely<Tables>): Promise<Record<PlanName, AccountPlan>> {
  const rows = await from.selectFrom('plan_values').selectAll().execute();
  const readPlan = (name: PlanName): AccountPlan => {
    const set = new Map(rows.filter(({ plan }) => plan === name).map(({ key, value }) => [key, value]));
    const { quotas, capabilities } = DEFAULTS[name];
    const numberOf = (quota: QuotaName): number | null => {
      const value = set.get(quota);
      if (value === undefined) return quotas[quota];
      return value === 'none' ? null : Number(value);
    };
    const has = (capability: AccountCapability): boolean =>
      findAddon(capability) === null &&
      (set.get(capability) ?? (capabilities.includes(capability) ? 'on' : 'off')) === 'on';
    return {
      name,
      quotas: {
        projects: numberOf('projects'),
        workspaces: numberOf('workspaces'),
        people: numberOf('people'),
      },
      capabilities: ACCOUNT_CAPABILITY_NAMES.filter(has),
    };
  };
  return { free: readPlan('free'), professional: readPlan('professional'), team: readPlan('team') };
}

async function readEntitlements(from: Kysely<Tables>, account: string) {
  const { plan } = await from
    .selectFrom('accounts')
    .select('plan')
    .where('id', '=', account)
    .executeTakeFirstOrThrow();
  const rows = await from.selectFrom('addons').select('addon').where('account_id', '=', account).execute();
  const addons = ADDONS.filter((addon) => rows.some((row) => row.addon === addon));
  const plans = await readPlans(from);
  const own = plans[plan as PlanName] ?? plans.free;
  return {
    plan: own.name,
    quotas: own.quotas,
    addons,
    capabilities: ACCOUNT_CAPABILITY_NAMES.filter((name) => {
      const addon = findAddon(name);
      return addon === null ? own.capabilities.includes(name) : addons.includes(addon);
    }),
  };
}

export function createPlans({
  db,
  changes,
  onChanged,
}: {
  db: Kysely<Tables>;
  changes: ChangeLog;
  /** Called after these accounts' permissions changed: their leases are outdated. */
  onChanged(accounts: readonly string[]): Promise<void>;
}): AccountPlans {
  const entitlementsOf: AccountPlans['entitlementsOf'] = (account) => readEntitlements(db, account);

  return {
    async list() {
      const plans = await readPlans(db);
      return PLANS.map((name) => plans[name]);
    },
    async set(plan, key, given, actor) {
      const value = readValue(key, given);
      const entry = { account: null, actor, what: 'plan changed', detail: `${plan}: ${key}=${value}` };
      await changes.make(entry, (change) =>
        change
          .insertInto('plan_values')
          .values({ plan, key, value })
          .onConflict((same) => same.columns(['plan', 'key']).doUpdateSet({ value }))
          .execute(),
      );
      const accounts = await db.selectFrom('accounts').select('id').where('plan', '=', plan).execute();
      await onChanged(accounts.map(({ id }) => id));
      return (await readPlans(db))[plan];
    },
    entitlementsOf,
    async assign(account, plan, actor) {
      const entry = { account: account.id, actor, what: 'plan', detail: `${account.plan} to ${plan}` };
      await changes.make(entry, (change) =>
        change.updateTable('accounts').set({ plan }).where('id', '=', account.id).execute(),
      );
      await onChanged([account.id]);
    },
    async switchAddon(account, addon, isOn, actor) {
      const detail = `${addon} ${isOn ? 'on' : 'off'}`;
      await changes.make({ account: account.id, actor, what: 'add-on', detail }, async (change) => {
        if (isOn)
          await change
            .insertInto('addons')
            .values({ account_id: account.id, addon })
            .onConflict((same) => same.columns(['account_id', 'addon']).doNothing())
            .execute();
        else
          await change
            .deleteFrom('addons')
            .where('account_id', '=', account.id)
            .where('addon', '=', addon)
            .execute();
      });
      await onChanged([account.id]);
    },
    async requireRoom(change, account, quota, used) {
      const { plan, quotas } = await readEntitlements(change, account);
      const most = quotas[quota];
      if (most === null || used < most) return;
      throw new SvcError('quota_exceeded', `the plan ${plan} allows ${most} ${quota}`, {
        hint: 'the operator of the server can assign another plan',
        data: { quota, most, used },
      });
    },
  };
}
