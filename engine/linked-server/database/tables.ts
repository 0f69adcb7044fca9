import type { ChatTables } from './tables/chats.ts';
import type { LinkTables } from './tables/links.ts';
import type { PeopleTables } from './tables/people.ts';
import type { TargetTables } from './tables/targets.ts';

export {
  CHAT_KINDS,
  type ChatChannel,
  type ChatCode,
  type ChatCodePurpose,
  type ChatKind,
  type ChatMessageRow,
  type ChatUserRow,
} from './tables/chats.ts';
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

// Text and integers only, so that SQLite and PostgreSQL store the same. Times are milliseconds since 1970; secrets
// (except passwords) are only stored as their SHA-256.

interface MetaTable {
  key: string;
  value: string;
}

/** All tables of a server. */
export interface Tables extends PeopleTables, LinkTables, TargetTables, ChatTables {
  meta: MetaTable;
}
