import type { ColumnType, Selectable } from 'kysely';

// Text and integers only, so that SQLite and PostgreSQL hold the same. Times are milliseconds since 1970; what opens
// something (passwords apart) is kept as its SHA-256 only.

type WithDefault<T> = ColumnType<T, T | undefined, T>;

/** What a person may do within their account. */
export type Role = 'admin' | 'member';

export const ROLES = ['admin', 'member'] as const satisfies readonly Role[];

interface AccountTable {
  id: string;
  name: string;
  plan: string;
  created_at: number;
}

interface PersonTable {
  id: string;
  account_id: string;
  /** Unique, and compared without regard to case by `name_key`. */
  name: string;
  name_key: string;
  role: Role;
  /** 1 for those who run this server. */
  is_operator: WithDefault<number>;
  /** As `passwords.ts` writes it; null until the invitation was taken. */
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
  /** Names it on pages; opens nothing. */
  id: string;
  person_id: string;
  created_at: number;
  seen_at: number;
  address: string;
  browser: string;
}

interface FailureTable {
  /** What is counted, such as sign-ins of a name from an address. */
  key: string;
  failures: number;
  refused_until: number;
  last_at: number;
}

interface MachineTable {
  id: string;
  account_id: string;
  person_id: string;
  name: string;
  token_hash: string;
  svc_version: string;
  system: string;
  created_at: number;
  seen_at: number | null;
}

/** How far a request of RFC 8628 has come. */
export type DeviceState = 'pending' | 'approved' | 'denied' | 'redeemed';

interface DeviceRequestTable {
  device_hash: string;
  user_hash: string;
  state: DeviceState;
  machine_name: string;
  svc_version: string;
  system: string;
  address: string;
  created_at: number;
  expires_at: number;
  /** What the client has to wait between two polls, ms; grows with every `slow_down`. */
  interval_ms: number;
  polled_at: number | null;
  /** Who looked the code up, and alone may answer it. */
  person_id: string | null;
}

interface ChangeTable {
  id: string;
  account_id: string | null;
  at: number;
  actor: string;
  what: string;
  detail: string;
}

interface MetaTable {
  key: string;
  value: string;
}

export interface Tables {
  accounts: AccountTable;
  people: PersonTable;
  invitations: InvitationTable;
  browser_sessions: BrowserSessionTable;
  failures: FailureTable;
  machines: MachineTable;
  device_requests: DeviceRequestTable;
  changes: ChangeTable;
  meta: MetaTable;
}

export type Account = Selectable<AccountTable>;
export type Person = Selectable<PersonTable>;
export type BrowserSession = Selectable<BrowserSessionTable>;
export type Machine = Selectable<MachineTable>;
export type DeviceRequest = Selectable<DeviceRequestTable>;
export type Change = Selectable<ChangeTable>;
