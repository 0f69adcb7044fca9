import type { McpServer } from './preset.ts';

/** Formats the server as one JSON argument: a flag with several values would take the following arguments too. */
export const formatServerFlag = (
  flag: string,
  { command, args, env }: McpServer,
  more: object = {},
): string => `${flag}=${JSON.stringify({ mcpServers: { svc: { ...more, command, args, env } } })}`;
