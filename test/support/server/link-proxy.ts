import { createServer, request as forward, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stage of a request: before it reaches the server, or before the answer reaches the workspace. */
export type Step = 'request' | 'answer';

/** A proxy between a workspace and its server that buffers each message until it is complete, as many proxies do. */
export interface LinkProxy {
  url: string;
  port: number;
  /** The server's current address; null if there is none. */
  upstream: number | null;
  /** Called at each stage: false cuts the connection. */
  allow: ((path: string, step: Step) => boolean | Promise<boolean>) | null;
  /** Longest time of a request in ms; longer ones are cut. */
  patienceMs: number | null;
  /** Number of connections that were cut because they took too long. */
  cut: number;
  close(): Promise<void>;
}

async function readAll(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of message as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts);
}

export async function startLinkProxy(): Promise<LinkProxy> {
  async function pass(request: IncomingMessage) {
    const body = await readAll(request);
    const path = request.url ?? '/';
    if (self.allow !== null && !(await self.allow(`${request.method} ${path}`, 'request'))) return null;
    if (self.upstream === null) return null;
    const asked = forward({
      host: '127.0.0.1',
      port: self.upstream,
      path,
      method: request.method ?? 'GET',
      headers: request.headers,
      agent: false,
    });
    request.socket.on('close', () => asked.destroy());
    asked.end(body);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    asked.on('response', resolve).on('error', reject);
    const answer = await promise;
    const text = await readAll(answer);
    if (self.allow !== null && !(await self.allow(`${request.method} ${path}`, 'answer'))) return null;
    return { status: answer.statusCode ?? 502, headers: answer.headers, text };
  }

  const server = createServer((request, response) => {
    const cutting =
      self.patienceMs === null
        ? undefined
        : setTimeout(() => {
            self.cut += 1;
            request.socket.destroy();
          }, self.patienceMs);
    pass(request)
      .catch(() => null)
      .then((answer) => {
        clearTimeout(cutting);
        if (answer === null) return void request.socket.destroy();
        const { 'transfer-encoding': _, ...headers } = answer.headers;
        response.writeHead(answer.status, { ...headers, 'content-length': answer.text.length });
        response.end(answer.text);
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const self: LinkProxy = {
    url: `http://127.0.0.1:${port}`,
    port,
    upstream: null,
    allow: null,
    patienceMs: null,
    cut: 0,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
  return self;
}
