import type { McpServer } from './preset.ts';

/** One word that carries the server as JSON: a list of several values would take the words behind it as well. */
export const formatServerFlag = (
  flag: string,
  { command, args, env }: McpServer,
  more: object = {},
): string => `${flag}=${JSON.stringify({ mcpServers: { svc: { ...more, command, args, env } } })}`;
