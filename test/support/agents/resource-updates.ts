import type { McpClient } from './mcp.ts';

/** Notifications about resources, as a client has received them. */
export interface ResourceUpdates {
  /** The addresses, in order. */
  readonly seen: readonly string[];
}

/** Follows resources, in the way of the era that the client and its server have agreed on. */
export async function followUpdates(
  { client }: McpClient,
  uris: readonly string[],
): Promise<ResourceUpdates> {
  const seen: string[] = [];
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void seen.push(params.uri),
  );
  if (client.getProtocolEra() === 'modern') await client.listen({ resourceSubscriptions: [...uris] });
  else for (const uri of uris) await client.subscribeResource({ uri });
  return { seen };
}
