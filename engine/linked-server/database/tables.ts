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
export type {
  CommandRow,
  DeviceRequest,
  LinkedWorkspace,
  MachineRow,
  WorkspaceEventRow,
} from './tables/links.ts';
export {
  type Account,
  type BrowserSession,
  type ChangeRow,
  type PersonRole,
  type PersonRow,
  ROLES,
} from './tables/people.ts';
export {
  type PauseReason,
  TARGET_KINDS,
  type TargetDeliveryRow,
  type TargetDeliveryState,
  type TargetKind,
  type TargetRow,
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
