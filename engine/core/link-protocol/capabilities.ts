// What a workspace can do, alone and with a linked server, and which plans there are. Both sides of a link know these words;
// which of them an account is allowed is the server's data.

export const PLANS = ['free', 'professional', 'team'] as const;
export type PlanName = (typeof PLANS)[number];

/** What is counted: null in an account's plan means as many as one likes. */
export const QUOTAS = {
  projects:
    'entries of projects in svc.yaml that workers may be dispatched to; the workspace itself is not counted',
  workspaces: 'linked workspaces',
  people: 'people of the account',
} as const;
export type QuotaName = keyof typeof QUOTAS;
export const QUOTA_NAMES = Object.keys(QUOTAS) as QuotaName[];

/** What an account can have beside what every workspace has. */
export const ACCOUNT_CAPABILITIES = {
  catch_url_n8n: { about: 'events to a catch URL of n8n', addon: 'n8n' },
  catch_url_zapier: { about: 'events to a catch URL of Zapier', addon: 'zapier' },
  catch_url_make: { about: 'events to a catch URL of Make', addon: 'make' },
  hosted_webhook: { about: 'events to any address, sent by the server', addon: null },
  assistant: { about: 'events and decisions in Slack and Telegram', addon: null },
} as const;
export type AccountCapability = keyof typeof ACCOUNT_CAPABILITIES;
export const ACCOUNT_CAPABILITY_NAMES = Object.keys(ACCOUNT_CAPABILITIES) as AccountCapability[];

/** Switched on for one account each. */
export const ADDONS = ['n8n', 'zapier', 'make'] as const;
export type AddonName = (typeof ADDONS)[number];

/** What works without any server, and is always allowed. */
export const LOCAL_CAPABILITIES = {
  workers: 'agents in separate git worktrees',
  approvals: 'decisions by a person at the machine, or by a signed request',
  signed_requests: 'tasks by signed requests',
  local_webhooks: 'events to the addresses of notify.webhooks',
  messages: 'messages, asks and locks between sessions',
  gateway: 'the gateway to models',
  knowledge: 'memory, context and the graph of the code',
} as const;

/** What an account has: its plan's numbers, and what is on. */
export interface Entitlements {
  plan: PlanName;
  /** Null where there is no limit. */
  quotas: Record<QuotaName, number | null>;
  capabilities: readonly AccountCapability[];
}
