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
  /** Whose codes are counted together. */
  network: string;
  created_at: number;
  expires_at: number;
  /** What the client has to wait between two polls, ms; grows with every `slow_down`. */
  interval_ms: number;
  polled_at: number | null;
  /** Who looked the code up, and alone may answer it. */
  person_id: string | null;
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

/** Machines, the workspaces that were linked from them, and what these have told and are told. */
export interface LinkTables {
  machines: MachineTable;
  device_requests: DeviceRequestTable;
  workspaces: WorkspaceTable;
  workspace_events: WorkspaceEventTable;
  pending_decisions: PendingDecisionTable;
  commands: CommandTable;
  used_signatures: UsedSignatureTable;
  usage_days: UsageDayTable;
}

export type Machine = Selectable<MachineTable>;
export type DeviceRequest = Selectable<DeviceRequestTable>;
export type LinkedWorkspace = Selectable<WorkspaceTable>;
export type WorkspaceEventRow = Selectable<WorkspaceEventTable>;
export type Command = Selectable<CommandTable>;
