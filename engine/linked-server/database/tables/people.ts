import type { ColumnType, Selectable } from 'kysely';
import type { AddonName } from '../../../core/link-protocol/capabilities.ts';

type WithDefault<T> = ColumnType<T, T | undefined, T>;

/** A person's role within their account. */
export type PersonRole = 'admin' | 'member';

export const ROLES = ['admin', 'member'] as const satisfies readonly PersonRole[];

interface AccountTable {
  id: string;
  name: string;
  plan: string;
  created_at: number;
}

interface PersonTable {
  id: string;
  account_id: string;
  /** Unique, and compared case-insensitively by `name_key`. */
  name: string;
  name_key: string;
  role: PersonRole;
  /** 1 for operators of this server. */
  is_operator: WithDefault<number>;
  /** As written by `passwords.ts`; null until the invitation was accepted. */
  password: string | null;
  created_at: number;
}

interface InvitationTable {
  token_hash: string;
  person_id: string;
  kind: 'invite' | 'reset';
  expires_at: number;
}

interface BrowserSessionTable {
  token_hash: string;
  /** Its id on pages; grants no access. */
  id: string;
  person_id: string;
  created_at: number;
  seen_at: number;
  address: string;
  browser: string;
}

interface FailureTable {
  /** The counted key, such as sign-ins of a name from an address. */
  key: string;
  failures: number;
  refused_until: number;
  last_at: number;
}

interface ChangeTable {
  id: string;
  account_id: string | null;
  at: number;
  actor: string;
  what: string;
  detail: string;
}

/** An operator's settings of a plan. */
interface PlanValueTable {
  plan: string;
  key: string;
  value: string;
}

/** True if enabled for an account. */
interface AddonTable {
  account_id: string;
  addon: AddonName;
}

/** Accounts, their people and sessions, their log of changes, and settings of plans. */
export interface PeopleTables {
  accounts: AccountTable;
  people: PersonTable;
  invitations: InvitationTable;
  browser_sessions: BrowserSessionTable;
  failures: FailureTable;
  changes: ChangeTable;
  plan_values: PlanValueTable;
  addons: AddonTable;
}

export type Account = Selectable<AccountTable>;
export type PersonRow = Selectable<PersonTable>;
export type BrowserSession = Selectable<BrowserSessionTable>;
export type ChangeRow = Selectable<ChangeTable>;
