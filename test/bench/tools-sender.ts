import { Agent, request } from 'node:http';

/**
 * A minimal MCP client of streamable HTTP: twenty clients of the SDK in one process take more time than the server.
 */
export interface Sender {
  call(name: string, input: object): Promise<void>;
  close(): void;
}

export async function openSender(
  url: URL,
  token: string | null,
  more: Record<string, string> = {},
): Promise<Sender> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const headers: Record<string, string> = {
    ...more,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
  };
  let id = 0;

  function post(message: object): Promise<{ session: string; body: string }> {
    return new Promise((resolve, reject) => {
      const sent = request(url, { method: 'POST', agent, headers }, (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          body += chunk;
        });
        response.on('end', () => resolve({ session: String(response.headers['mcp-session-id']), body }));
      });
      sent.on('error', reject);
      sent.end(JSON.stringify({ jsonrpc: '2.0', ...message }));
    });
  }

  const { session } = await post({
    id,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
  });
  headers['mcp-session-id'] = session;
  await post({ method: 'notifications/initialized' });
  return {
    async call(name, input) {
      id += 1;
      const { body } = await post({ id, method: 'tools/call', params: { name, arguments: input } });
      if (!body.includes('"content"') || body.includes('"isError"')) throw new Error(body);
    },
    close: () => agent.destroy(),
  };
}
