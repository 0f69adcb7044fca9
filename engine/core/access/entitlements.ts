import { rfc3339 } from '../base/clock.ts';
import { SvcError } from '../base/errors.ts';
import { sentence } from '../base/sentence.ts';
import { formatHours } from '../base/text.ts';
import {
  ACCOUNT_CAPABILITIES,
  ACCOUNT_CAPABILITY_NAMES,
  type AccountEntitlements,
  LOCAL_CAPABILITIES,
  type PlanName,
  QUOTA_NAMES,
  QUOTAS,
  type QuotaName,
} from '../link-protocol/capabilities.ts';

// The permissions of this workspace, all from memory: nothing here uses the network. Without a linked server nothing
// is locked or counted.

/** The known facts about a lease. */
export interface LeaseFacts {
  state: 'none' | 'valid' | 'expired' | 'invalid' | 'revoked';
  /** The content of the newest lease; null if none was seen. */
  entitlements: AccountEntitlements | null;
  from: 'server' | 'secret' | null;
  /** Unix ms. */
  endsAt: number | null;
  /** Remaining validity, ms. */
  leftMs: number | null;
  /** Milliseconds by which the local clock is behind the server's. */
  clockOffsetMs: number | null;
  problem: string | null;
}

/** The linked server; no secret. */
export interface LinkedAccount {
  server: string;
  account: string | null;
  person: string | null;
}

export interface EntitlementsDeps {
  linked(): LinkedAccount | null;
  lease(): LeaseFacts;
  /** `SVC_REQUIRE_LEASE`. */
  isLeaseRequired: boolean;
  /** `SVC_ALLOW_UNLINKED`. */
  mayBeUnlinked: boolean;
  /** Ids of the entries of `projects`, in the order of the file, without the own project. */
  listProjects(): readonly string[];
}

/** Warning time before the end of a lease, ms. */
export const WARN_BEFORE_MS = 24 * 3600_000;

/** Wire form of `entitlements.status`. */
export type EntitlementsStatus = {
  linked: boolean;
  server: string | null;
  account: string | null;
  person: string | null;
  plan: PlanName | null;
  /** The source of the plan; null without one. */
  plan_from: 'lease' | null;
  lease: {
    state: LeaseFacts['state'];
    /** True if a dispatch needs a valid one. */
    required: boolean;
    from: LeaseFacts['from'];
    ends_at: string | null;
    clock_offset_ms: number | null;
    /** A problem to check; null if there is none. */
    note: string | null;
  };
  quotas: {
    name: QuotaName;
    about: string;
    /** Null for no limit. */
    limit: number | null;
    /** Null if only the server counts it. */
    used: number | null;
    /** Entries above the limit, which are locked. */
    locked: string[];
  }[];
  capabilities: { name: string; about: string; allowed: boolean; why: string; next: string | null }[];
};

export interface EntitlementsReader {
  status(): EntitlementsStatus;
  /**
   * Returns why no worker may be dispatched to a project now (null is the own one); null if one may. `lease_required`
   * or `quota_exceeded`. Runs that have started are not affected.
   */
  findLock(project: string | null): SvcError | null;
}

export function createEntitlements(deps: EntitlementsDeps): EntitlementsReader {
  /** Returns the limits of this workspace: none while it is not linked, or before it has received a plan. */
  const findPlan = (): AccountEntitlements | null =>
    deps.linked() === null ? null : deps.lease().entitlements;

  /** Returns entries of `projects` above the quota. */
  function listLockedProjects(): readonly string[] {
    const limit = findPlan()?.quotas.projects ?? null;
    return limit === null ? [] : deps.listProjects().slice(limit);
  }

  const isLeaseNeeded = (): boolean =>
    deps.isLeaseRequired && !(deps.mayBeUnlinked && deps.linked() === null);

  return {
    status() {
      const linked = deps.linked();
      const lease = deps.lease();
      const plan = findPlan();
      return {
        linked: linked !== null,
        server: linked?.server ?? null,
        account: linked?.account ?? null,
        person: linked?.person ?? null,
        plan: plan?.plan ?? null,
        plan_from: plan === null ? null : 'lease',
        lease: {
          state: lease.state,
          required: isLeaseNeeded(),
          from: lease.from,
          ends_at: lease.endsAt === null ? null : rfc3339(lease.endsAt),
          clock_offset_ms: lease.clockOffsetMs,
          note: linked !== null || isLeaseNeeded() ? describeLease(lease) : null,
        },
        quotas: QUOTA_NAMES.map((name) => ({
          name,
          about: QUOTAS[name],
          limit: plan?.quotas[name] ?? null,
          used: name === 'projects' ? deps.listProjects().length : null,
          locked: name === 'projects' ? [...listLockedProjects()] : [],
        })),
        capabilities: [
          ...Object.entries(LOCAL_CAPABILITIES).map(([name, about]) => ({
            name,
            about,
            allowed: true,
            why: 'it needs no server',
            next: null,
          })),
          ...ACCOUNT_CAPABILITY_NAMES.map((name) => {
            const { about, addon } = ACCOUNT_CAPABILITIES[name];
            return { name, about, ...explainCapability(plan, linked !== null, name, addon) };
          }),
        ],
      };
    },

    findLock(project) {
      const lease = deps.lease();
      if (isLeaseNeeded() && lease.state !== 'valid')
        return new SvcError('lease_required', `SVC_REQUIRE_LEASE is set, and ${LEASE_WORDS[lease.state]}`, {
          hint:
            deps.linked() === null
              ? 'link the workspace to its server'
              : sentence`{entitlements.status} shows the current state`,
          data: { lease: lease.state },
        });
      if (project === null || !listLockedProjects().includes(project)) return null;
      const plan = findPlan();
      const limit = plan?.quotas.projects ?? 0;
      return new SvcError(
        'quota_exceeded',
        `the plan ${plan?.plan} counts the first ${limit} entries of projects, and ${project} is not among them`,
        { hint: 'use an earlier one, or have another plan assigned', data: { project, limit } },
      );
    },
  };
}

const LEASE_WORDS: Record<LeaseFacts['state'], string> = {
  none: 'there is no lease',
  valid: 'the lease is valid',
  expired: 'the lease has expired',
  invalid: 'the lease is invalid',
  revoked: 'the link was revoked',
};

/** Returns a warning about a required lease; null if it is fine. */
export function describeLease({
  state,
  leftMs,
  problem,
}: Pick<LeaseFacts, 'state' | 'leftMs' | 'problem'>): string | null {
  // The problem of a lease is self-explanatory.
  if (problem?.startsWith('lease rejected')) return problem;
  const reason = problem === null ? '' : `: ${problem}`;
  if (state !== 'valid') return `${LEASE_WORDS[state]}${reason}`;
  if (leftMs !== null && leftMs < WARN_BEFORE_MS) return `the lease ends in ${formatHours(leftMs)}${reason}`;
  return null;
}

function explainCapability(
  plan: AccountEntitlements | null,
  isLinked: boolean,
  name: (typeof ACCOUNT_CAPABILITY_NAMES)[number],
  addon: string | null,
): { allowed: boolean; why: string; next: string | null } {
  if (!isLinked)
    return { allowed: false, why: 'it needs a linked server', next: 'svc server serve, then svc login' };
  if (plan === null) return { allowed: false, why: 'no lease has named the plan', next: null };
  const what = addon === null ? `the plan ${plan.plan}` : `the add-on ${addon}`;
  return plan.capabilities.includes(name)
    ? { allowed: true, why: addon === null ? `${what} includes it` : `${what} is on`, next: null }
    : {
        allowed: false,
        why: addon === null ? `${what} does not include it` : `${what} is off`,
        next: 'the operator of the server enables it',
      };
}
