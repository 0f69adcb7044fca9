import type { ColumnType, Selectable } from 'kysely';
import { ADDONS, type AddonName } from '../../base/capabilities.ts';
import type { ChatKind } from '../chats/service.ts';

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

interface WorkspaceTable {
  id: string;
  account_id: string;
  /** The machine that linked it; where that is gone, its token opens nothing. */
  machine_id: string;
  /** Of its data folder: linked again it is this row. */
  key: string;
  name: string;
  svc_version: string;
  token_hash: string;
  /** Of the token that takes its place once it was used. */
  next_token_hash: string | null;
  created_at: number;
  last_seen_at: number | null;
  revoked_at: number | null;
  /** The newest of its commands. */
  command_seq: number;
  /** Channels that somebody may decide by, separated by commas. */
  channels: string;
  /** Pending decisions beyond those that are kept. */
  more_decisions: number;
}

interface WorkspaceEventTable {
  workspace_id: string;
  id: string;
  at: number;
  /** JSON, as `linkEvent` has it. */
  body: string;
}

interface PendingDecisionTable {
  /** That of its workspace, with which it goes. */
  account_id: string;
  workspace_id: string;
  decision_id: string;
  /** Its place in the list. */
  position: number;
  /** When it began to wait. */
  since: number;
  hash: string;
  approval: string;
  /** JSON, as `pendingDecision` has it. */
  body: string;
}

interface CommandTable {
  id: string;
  workspace_id: string;
  seq: number;
  verb: string;
  decision_id: string | null;
  hash: string | null;
  person: string | null;
  channel: string | null;
  /** Only until the workspace has answered. */
  code: string | null;
  /** What the decision was about, for the log. */
  about: string;
  created_at: number;
  expires_at: number;
  /** JSON, as `commandOutcome` has it; null until the workspace has said. */
  outcome: string | null;
  ended_at: number | null;
}

/** What an operator has set of a plan. */
interface PlanValueTable {
  plan: string;
  key: string;
  value: string;
}

/** Switched on for an account. */
interface AddonTable {
  account_id: string;
  addon: AddonName;
}

/** Where events of an account go: a catch URL of each tool, or any address. */
export const TARGET_KINDS = [...ADDONS, 'webhook'] as const;
export type TargetKind = (typeof TARGET_KINDS)[number];

/** Why nothing is sent to a target until somebody resumes it: it answered 410, or failed for a day. */
export type PauseReason = 'gone' | 'failing';

interface TargetTable {
  id: string;
  account_id: string;
  kind: TargetKind;
  /** The kind of what an account has one of, else the id: unique within the account. */
  slot: string;
  name: string;
  /** Encrypted, since who knows a catch URL may post to it. */
  url: string;
  /** As pages show it. */
  shown_url: string;
  /** JSON: names of events. */
  events: string;
  /** JSON: ids of workspaces; null means all. */
  workspaces: string;
  is_on: number;
  /** Encrypted. */
  secret: string;
  /** The one before, encrypted; signs as well until `old_until`. */
  old_secret: string | null;
  old_until: number | null;
  paused_at: number | null;
  paused_why: PauseReason | null;
  /** The first failure since something was delivered last. */
  failing_since: number | null;
  created_at: number;
}

export const DELIVERY_STATES = ['waiting', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

interface DeliveryTable {
  /** Grows with time. */
  id: number;
  target_id: string;
  account_id: string;
  workspace_id: string;
  workspace: string;
  event: string;
  /** The same on every try and at every target. */
  message_id: string;
  body: string;
  state: DeliveryState;
  tries: number;
  created_at: number;
  /** When its 24 hours of tries began. */
  first_at: number;
  next_at: number;
  tried_at: number | null;
  last_status: number | null;
  /** How long the last try took, ms. */
  last_ms: number | null;
  last_error: string | null;
}

/** What an operator has set of a chat service: one bot of each. */
interface BotTable {
  kind: ChatKind;
  /** JSON with its tokens, encrypted. */
  settings: string;
  set_by: string;
  set_at: number;
}

/** What bots remember across restarts. */
interface ChatMemoryTable {
  kind: ChatKind;
  key: string;
  value: string;
  /** When it is forgotten; null for never. */
  until: number | null;
}

/** Users of a chat service who speak for a person. */
interface ChatUserTable {
  kind: ChatKind;
  user_id: string;
  /** What they called themselves when they connected. */
  name: string;
  /** Between them and the bot; null where it is not known. */
  private_channel: string | null;
  person_id: string;
  connected_at: number;
}

/** What a code that is sent to a bot does: it connects a person, or lets events into a channel. */
export type ChatCodePurpose = 'person' | 'channel';

interface ChatCodeTable {
  code_hash: string;
  kind: ChatKind;
  purpose: ChatCodePurpose;
  person_id: string;
  expires_at: number;
  /** Who has sent it, and where; null while nobody has. */
  user_id: string | null;
  user_name: string | null;
  channel: string | null;
  channel_name: string | null;
  is_private: number | null;
}

/** Where an account wants to hear of its events. */
interface ChatChannelTable {
  id: string;
  account_id: string;
  kind: ChatKind;
  channel: string;
  name: string;
  is_private: number;
  /** JSON: names of events. */
  events: string;
  muted_until: number;
  /** Nothing is sent there before. */
  next_at: number;
  /** Failures since something was sent last. */
  tries: number;
  /** Why nothing arrives there, in our own words. */
  problem: string | null;
  created_at: number;
}

/** Waiting to be sent, sent (and changed when what it says has changed), or given up. */
export type ChatMessageState = 'waiting' | 'sent' | 'dead';

interface ChatMessageTable {
  /** Grows with time. */
  id: number;
  channel_id: string;
  account_id: string;
  /** Null for a message about several events. */
  workspace_id: string | null;
  decision_id: string | null;
  /** The name of the event, or `several`. */
  event: string;
  event_id: string;
  /** JSON: what is said. */
  facts: string;
  state: ChatMessageState;
  /** The id that the service gave it; null before. */
  posted_id: string | null;
  /** 1 while the decision that it is about waits. */
  is_open: number;
  /** How the decision ended, as an event has told. */
  ended: string | null;
  /** The hash of the decision that it showed last. */
  hash: string | null;
  /** Grows whenever something else may have to be shown. */
  version: number;
  /** What was shown last, as a hash. */
  looks: string | null;
  /** When it is looked at next; null when nothing is to be done. */
  due_at: number | null;
  created_at: number;
  sent_at: number | null;
}

interface ChatTicketTable {
  ticket_hash: string;
  message_id: number;
  verb: 'approve' | 'deny';
  /** Of the decision, as the message showed it. */
  hash: string;
}

/** Signatures of requests from automations: each counts once. */
interface UsedSignatureTable {
  /** In hex. */
  signature: string;
  /** The time that was signed. */
  signed_at: number;
}

/** What a workspace has counted of a day. */
interface UsageDayTable {
  workspace_id: string;
  account_id: string;
  /** UTC, `2026-11-22`. */
  day: string;
  /** JSON, as `telemetryDay` has it. */
  body: string;
  received_at: number;
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
  workspaces: WorkspaceTable;
  workspace_events: WorkspaceEventTable;
  pending_decisions: PendingDecisionTable;
  commands: CommandTable;
  plan_values: PlanValueTable;
  addons: AddonTable;
  targets: TargetTable;
  deliveries: DeliveryTable;
  bots: BotTable;
  chat_memory: ChatMemoryTable;
  chat_users: ChatUserTable;
  chat_codes: ChatCodeTable;
  chat_channels: ChatChannelTable;
  chat_messages: ChatMessageTable;
  chat_tickets: ChatTicketTable;
  used_signatures: UsedSignatureTable;
  usage_days: UsageDayTable;
  meta: MetaTable;
}

export type Account = Selectable<AccountTable>;
export type Person = Selectable<PersonTable>;
export type BrowserSession = Selectable<BrowserSessionTable>;
export type Machine = Selectable<MachineTable>;
export type DeviceRequest = Selectable<DeviceRequestTable>;
export type Change = Selectable<ChangeTable>;
export type LinkedWorkspace = Selectable<WorkspaceTable>;
export type WorkspaceEventRow = Selectable<WorkspaceEventTable>;
export type Command = Selectable<CommandTable>;
export type Target = Selectable<TargetTable>;
export type DeliveryRow = Selectable<DeliveryTable>;
export type ChatUserRow = Selectable<ChatUserTable>;
export type ChatCode = Selectable<ChatCodeTable>;
export type ChatChannel = Selectable<ChatChannelTable>;
export type ChatMessageRow = Selectable<ChatMessageTable>;
