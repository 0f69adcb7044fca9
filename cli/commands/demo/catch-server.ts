import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type CaughtEvent = Record<string, unknown> & { event: string; verified: boolean };

export interface CatchServer {
  url: string;
  /** The first event with one of these names, already received or still to come. */
  received(...names: string[]): Promise<CaughtEvent>;
  /** Returns the first event that satisfies a condition. */
  find(isIt: (event: CaughtEvent) => boolean): Promise<CaughtEvent>;
  close(): Promise<void>;
}

/** A stand-in for the automation: receives outbound events on loopback and checks their signatures. */
export async function startCatchServer(
  /** A function if it becomes known later. */
  secret: string | (() => string),
  onEvent: (event: CaughtEvent) => void,
): Promise<CatchServer> {
  const seen: CaughtEvent[] = [];
  const waiting = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const expected = createHmac('sha256', typeof secret === 'string' ? secret : secret())
      .update(`${request.headers['x-svc-timestamp']}.`)
      .update(body)
      .digest();
    const given = Buffer.from(String(request.headers['x-svc-signature']), 'hex');
    const verified = given.length === expected.length && timingSafeEqual(given, expected);
    const event = { ...(JSON.parse(body.toString()) as { event: string }), verified };
    response.writeHead(204).end();
    seen.push(event);
    onEvent(event);
    for (const wake of waiting) wake();
  });
  const findCaught: CatchServer['find'] = (isIt) =>
    new Promise((resolve) => {
      const resolveIfFound = (): void => {
        const found = seen.find(isIt);
        if (!found) return;
        waiting.delete(resolveIfFound);
        resolve(found);
      };
      waiting.add(resolveIfFound);
      resolveIfFound();
    });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/catch`,
    received: (...names) => findCaught(({ event }) => names.includes(event)),
    find: findCaught,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close').catch(() => undefined);
    },
  };
}
