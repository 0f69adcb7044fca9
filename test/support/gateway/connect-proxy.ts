import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** A tunnelling proxy such as companies use. */
export interface ConnectProxy {
  /** URL with a name and a password. */
  url: string;
  /** The targets of CONNECT requests. */
  asked: { target: string; headers: IncomingHttpHeaders }[];
  /** Requests that the proxy should fetch itself; it refuses them. */
  fetched: string[];
  isRefusing: boolean;
  /** Maps `host:port` to a port of this machine. */
  routes: Record<string, number>;
  /** Closes every tunnel. */
  cut(): void;
  close(): Promise<void>;
}

export async function startConnectProxy(routes: Record<string, number> = {}): Promise<ConnectProxy> {
  const open = new Set<Socket>();
  const server = createServer((request, response) => {
    proxy.fetched.push(request.url ?? '');
    response.writeHead(501).end();
  });
  server.on('connect', (request, socket: Socket) => {
    const target = request.url ?? '';
    proxy.asked.push({ target, headers: request.headers });
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => undefined);
    const port = proxy.routes[target];
    if (proxy.isRefusing || port === undefined)
      return void socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
    const through = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      through.pipe(socket).pipe(through);
    });
    socket.on('close', () => through.destroy());
    through.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: ConnectProxy = {
    url: `http://me:pass@127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    fetched: [],
    isRefusing: false,
    routes,
    cut() {
      for (const socket of open) socket.destroy();
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      proxy.cut();
      server.closeAllConnections();
      await closed;
    },
  };
  return proxy;
}
