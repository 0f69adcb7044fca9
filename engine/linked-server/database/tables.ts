import type { ChatTables } from './tables/chats.ts';
import type { LinkTables } from './tables/links.ts';
import type { PeopleTables } from './tables/people.ts';
import type { TargetTables } from './tables/targets.ts';

export type { ChatChannel, ChatCode, ChatCodePurpose, ChatMessageRow, ChatUserRow } from './tables/chats.ts';
export type { Command, DeviceRequest, LinkedWorkspace, Machine, WorkspaceEventRow } from './tables/links.ts';
export {
  type Account,
  type BrowserSession,
  type Change,
  type Person,
  ROLES,
  type Role,
} from './tables/people.ts';
export {
  type DeliveryRow,
  type DeliveryState,
  type PauseReason,
  TARGET_KINDS,
  type Target,
  type TargetKind,
} from './tables/targets.ts';

// Text and integers only, so that SQLite and PostgreSQL hold the same. Times are milliseconds since 1970; what opens
// something (passwords apart) is kept as its SHA-256 only.

interface MetaTable {
  key: string;
  value: string;
}

/** All that a server keeps. */
export interface Tables extends PeopleTables, LinkTables, TargetTables, ChatTables {
  meta: MetaTable;
}
