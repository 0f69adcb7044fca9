import type { Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { isLoopback } from '../../base/values/address.ts';
import { isProxyRefusal, type ProxySettings } from '../../http/proxies.ts';

const CONNECT_MS = 10_000;

/**
 * Opens connections to a chat service, through the proxies of the environment where they count; this machine itself is reached
 * without one. Always a tunnel: a proxy has no business with tokens of bots.
 */
export function createOutgoing(
  { hostname }: URL,
  proxies: ProxySettings,
  {
    connectMs = CONNECT_MS,
    onWire,
    ...options
  }: Omit<Agent.Options, 'connect' | 'factory'> & {
    connectMs?: number;
    /** Called with each connection that was opened, to the service or to the proxy. */
    onWire?(wire: Socket): void;
  } = {},
): Dispatcher {
  const connect = tellWires(buildConnector({ timeout: connectMs, allowH2: false }), onWire);
  const direct = { ...options, allowH2: false, connect };
  const isProxied = proxies.http !== '' || proxies.https !== '';
  if (!isProxied || isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'))) return new Agent(direct);
  return new EnvHttpProxyAgent({
    ...direct,
    proxyTunnel: true,
    proxyTls: { timeout: connectMs },
    requestTls: { timeout: connectMs },
    clientFactory: (proxy, given) =>
      new Pool(proxy, {
        ...given,
        connect: tellWires((given as { connect: buildConnector.connector }).connect, onWire),
      }),
    httpProxy: proxies.http,
    httpsProxy: proxies.https,
    noProxy: proxies.except,
  });
}

function tellWires(
  connect: buildConnector.connector,
  onWire: ((wire: Socket) => void) | undefined,
): buildConnector.connector {
  if (onWire === undefined) return connect;
  return (options, callback) =>
    connect(options, (...result) => {
      const [error, socket] = result;
      if (error === null) onWire(socket);
      callback(...result);
    });
}

/** That a service cannot be reached, and by whom it is known why. */
export const describeUnreachable = (service: string, error: unknown): string =>
  isProxyRefusal(error)
    ? `${service} cannot be reached: the proxy of HTTPS_PROXY or HTTP_PROXY refuses the connection`
    : `${service} cannot be reached`;
