import type { IncomingMessage, ServerResponse } from 'node:http';
import { toNodeHandler, toWebRequest } from '@modelcontextprotocol/node';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { HttpCaller } from './http-callers.ts';
import { createHttpListening } from './http-listening.ts';
import { readInstructions } from './instructions.ts';
import type { EngineLink } from './link.ts';
import type { ClientMessage } from './message.ts';
import type { RepeatedCalls } from './repeated-calls.ts';
import { createMcpServer } from './server.ts';
import type { McpService } from './service.ts';
import type { WaitingCalls } from './waiting-calls.ts';

interface Served extends Record<string, unknown> {
  link: EngineLink;
  calls: WaitingCalls;
  instructions: string;
  nameCall(): string;
}

/** Serves clients since 2026-07-28, whose requests belong to no session. */
export function createHttpRequests({ engine, serveCaller }: McpService, repeats: RepeatedCalls) {
  const listening = createHttpListening();
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const { link, calls, nameCall, instructions } = (authInfo?.extra ?? {}) as Served;
      return createMcpServer(link, {
        version: engine.version,
        instructions,
        calls,
        nameCall,
        log: engine.log,
      });
    },
    { legacy: 'reject' },
  );
  const answerNode = toNodeHandler(handler);

  return {
    async serve(
      request: IncomingMessage,
      response: ServerResponse,
      { caller, identity }: HttpCaller,
      message: ClientMessage,
    ): Promise<void> {
      const { link, calls } = serveCaller(caller);
      const call = await repeats.begin({ identity, caller }, message, response, { isOfSession: false });
      const isDiscovery = message.method === 'server/discover';
      const instructions = isDiscovery ? await readInstructions(link, 'modern') : '';
      const served: Served = { link, calls, instructions, nameCall: () => call };
      const auth = { token: '', clientId: identity, scopes: [], extra: served };
      const posted = Object.assign(request, { auth, method: 'POST', url: '/mcp' });
      if (message.method !== 'subscriptions/listen' || !('id' in message)) {
        await answerNode(posted, response, message);
        return;
      }
      // The SDK checks headers and envelope; what it would send instead is not needed.
      const probe = new AbortController();
      const answer = await handler.fetch(await toWebRequest(posted, message, { signal: probe.signal }), {
        authInfo: auth,
        parsedBody: message,
      });
      if (answer.headers.get('content-type') === 'text/event-stream') {
        probe.abort();
        return listening.serve({ identity, link, calls }, message, response);
      }
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.end(await answer.text());
    },
    async close(): Promise<void> {
      listening.close();
      await handler.close();
    },
  };
}
