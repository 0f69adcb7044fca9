import { Agent, type AgentOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { findProxy, readProxies } from '../core/http/proxies.ts';

/**
 * Returns the connections to an https server, through the proxy that the environment names for it. Throws
 * `config_invalid`.
 */
export function openSecureAgent(url: URL, options: AgentOptions): Agent {
  const proxy = findProxy(url, readProxies(process.env));
  if (proxy === null) return new Agent(options);
  return new TunnelAgent({ ...options, proxyEnv: { https_proxy: proxy } });
}

/** Also ends connections to the proxy whose tunnel is not established yet, which Node's own agent does not track. */
class TunnelAgent extends Agent {
  readonly #toProxy = new Set<Duplex>();

  override createConnection(
    ...given: Parameters<Agent['createConnection']>
  ): ReturnType<Agent['createConnection']> {
    const socket = super.createConnection(...given);
    if (socket) this.#toProxy.add(socket.once('close', () => this.#toProxy.delete(socket)));
    return socket;
  }

  override destroy(): void {
    super.destroy();
    for (const socket of this.#toProxy) socket.destroy();
  }
}
