export { openOutputLog } from '../core/base/log.ts';
/**
 * The linked server: people host it so that their workspaces can be reached. It uses nothing of a workspace, and
 * nothing of a workspace imports it; `svc server …` reaches it through the engine's door.
 */
export { askRunningServer, findAdminSocket } from './admin-socket.ts';
export type { AdminVerb } from './administer.ts';
export { administerClosed } from './administer-closed.ts';
export { BOT_FIELDS } from './chats/bot-settings.ts';
export type { ServerOptions } from './create-parts.ts';
export { DEFAULT_ADDRESS, readServerSettings, type ServerFlags } from './http/settings.ts';
export { importServer, rotateServerKey } from './keeping/closed.ts';
export { type RunningServer, startServer } from './serve.ts';
