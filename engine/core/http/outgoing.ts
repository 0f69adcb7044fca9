import type { Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { findProxy, isProxyRefusal, type ProxySettings } from './proxies.ts';

const CONNECT_MS = 10_000;

/**
 * Opens connections to a chat service, through the proxy from the environment. Always a tunnel: a proxy must not see
 * tokens of bots. Throws `config_invalid`.
 */
export function createOutgoing(
  service: URL,
  proxies: ProxySettings,
  {
    connectMs = CONNECT_MS,
    onWire,
    ...options
  }: Omit<Agent.Options, 'connect' | 'factory'> & {
    connectMs?: number;
    /** Called with each opened connection, to the service or to the proxy. */
    onWire?(wire: Socket): void;
  } = {},
): Dispatcher {
  const proxy = findProxy(service, proxies);
  if (proxy === null) {
    const connect = tellWires(buildConnector({ timeout: connectMs, allowH2: false }), onWire);
    return new Agent({ ...options, allowH2: false, connect });
  }
  return new ProxyAgent({
    ...options,
    uri: proxy,
    allowH2: false,
    proxyTunnel: true,
    proxyTls: { timeout: connectMs },
    requestTls: { timeout: connectMs },
    clientFactory: (address, given) =>
      new Pool(address, {
        ...given,
        connect: tellWires((given as { connect: buildConnector.connector }).connect, onWire),
      }),
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

/** Error for an unreachable service, with the known cause. */
export const describeUnreachable = (service: string, error: unknown): string =>
  isProxyRefusal(error)
    ? `${service} cannot be reached: the proxy of HTTPS_PROXY or HTTP_PROXY refuses the connection`
    : `${service} cannot be reached`;
