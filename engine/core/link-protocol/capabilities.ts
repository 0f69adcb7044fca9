// The capabilities of a workspace, alone and with a linked server, and the plans. Both sides of a link know these
// names; the server stores which of them an account has.

export const PLANS = ['free', 'professional', 'team'] as const;
export type PlanName = (typeof PLANS)[number];

/** Countable limits: null in an account's plan means unlimited. */
export const QUOTAS = {
  projects:
    'entries of projects in svc.yaml that workers may be dispatched to; the workspace itself is not counted',
  workspaces: 'linked workspaces',
  people: 'people of the account',
} as const;
export type QuotaName = keyof typeof QUOTAS;
export const QUOTA_NAMES = Object.keys(QUOTAS) as QuotaName[];

/** Capabilities of an account beyond those of every workspace. */
export const ACCOUNT_CAPABILITIES = {
  catch_url_n8n: { about: 'events to a catch URL of n8n', addon: 'n8n' },
  catch_url_zapier: { about: 'events to a catch URL of Zapier', addon: 'zapier' },
  catch_url_make: { about: 'events to a catch URL of Make', addon: 'make' },
  hosted_webhook: { about: 'events to any address, sent by the server', addon: null },
  assistant: { about: 'events and decisions in Slack and Telegram', addon: null },
} as const;
export type AccountCapability = keyof typeof ACCOUNT_CAPABILITIES;
export const ACCOUNT_CAPABILITY_NAMES = Object.keys(ACCOUNT_CAPABILITIES) as AccountCapability[];

/** Enabled per account. */
export const ADDONS = ['n8n', 'zapier', 'make'] as const;
export type AddonName = (typeof ADDONS)[number];

/** Capabilities that need no server and are always allowed. */
export const LOCAL_CAPABILITIES = {
  workers: 'agents in separate git worktrees',
  approvals: 'decisions by a person at the machine, or by a signed request',
  signed_requests: 'tasks by signed requests',
  local_webhooks: 'events to the addresses of notify.webhooks',
  messages: 'messages, asks and locks between sessions',
  gateway: 'the gateway to models',
  knowledge: 'memory, context and the graph of the code',
} as const;

/** The capabilities of an account: its plan's limits, and its enabled features. */
export interface AccountEntitlements {
  plan: PlanName;
  /** Null if there is no limit. */
  quotas: Record<QuotaName, number | null>;
  capabilities: readonly AccountCapability[];
}
