import type { Selectable } from 'kysely';

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

/** The progress of a request of RFC 8628. */
export type DeviceState = 'pending' | 'approved' | 'denied' | 'redeemed';

interface DeviceRequestTable {
  device_hash: string;
  user_hash: string;
  state: DeviceState;
  machine_name: string;
  svc_version: string;
  system: string;
  address: string;
  /** The network that its codes are counted for. */
  network: string;
  created_at: number;
  expires_at: number;
  /** The client's minimum pause between two polls, ms; increases with every `slow_down`. */
  interval_ms: number;
  polled_at: number | null;
  /** The person who looked the code up, and alone may answer it. */
  person_id: string | null;
}

interface WorkspaceTable {
  id: string;
  account_id: string;
  /** The machine that linked it; if it is gone, its token is invalid. */
  machine_id: string;
  /** The id of its data folder: relinking reuses this row. */
  key: string;
  name: string;
  svc_version: string;
  token_hash: string;
  /** The hash of the token that replaces it once it is used. */
  next_token_hash: string | null;
  created_at: number;
  last_seen_at: number | null;
  revoked_at: number | null;
  /** The newest of its commands. */
  command_seq: number;
  /** Channels that may be used to decide, separated by commas. */
  channels: string;
  /** Number of pending decisions beyond the stored ones. */
  more_decisions: number;
}

interface WorkspaceEventTable {
  workspace_id: string;
  id: string;
  at: number;
  /** JSON, as `linkEvent` has it. */
  body: string;
}

/** The sessions of a workspace that have not ended, as it reported them last. */
interface WorkspaceSessionsTable {
  workspace_id: string;
  /** The account of its workspace, which it is deleted with. */
  account_id: string;
  /** JSON, a list of `liveSession`. */
  body: string;
}

interface PendingDecisionTable {
  /** The account of its workspace, which it is deleted with. */
  account_id: string;
  workspace_id: string;
  decision_id: string;
  /** Its place in the list. */
  position: number;
  /** When it started to wait. */
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
  /** The subject of the decision, for the log. */
  about: string;
  created_at: number;
  expires_at: number;
  /** JSON, as in `commandOutcome`; null before the workspace's answer. */
  outcome: string | null;
  ended_at: number | null;
}

/** Signatures of requests from automations: each is valid once. */
interface UsedSignatureTable {
  /** In hex. */
  signature: string;
  /** The signed time. */
  signed_at: number;
}

/** A workspace's counts of a day. */
interface UsageDayTable {
  workspace_id: string;
  account_id: string;
  /** UTC, `2026-11-22`. */
  day: string;
  /** JSON, as `telemetryDay` has it. */
  body: string;
  received_at: number;
}

/** Machines, the workspaces linked from them, and what these send and receive. */
export interface LinkTables {
  machines: MachineTable;
  device_requests: DeviceRequestTable;
  workspaces: WorkspaceTable;
  workspace_events: WorkspaceEventTable;
  workspace_sessions: WorkspaceSessionsTable;
  pending_decisions: PendingDecisionTable;
  commands: CommandTable;
  used_signatures: UsedSignatureTable;
  usage_days: UsageDayTable;
}

export type MachineRow = Selectable<MachineTable>;
export type DeviceRequest = Selectable<DeviceRequestTable>;
export type LinkedWorkspace = Selectable<WorkspaceTable>;
export type WorkspaceEventRow = Selectable<WorkspaceEventTable>;
export type CommandRow = Selectable<CommandTable>;
