import { isIP } from 'node:net';
import { SvcError } from '../base/errors.ts';
import { isAddressOf, isLoopback, parseNetwork } from '../base/values/address.ts';

/** The proxies for reaching other machines; '' for none. */
export interface ProxySettings {
  http: string;
  https: string;
  /** Hosts and networks that are reached directly, as in `NO_PROXY`. */
  except: string;
}

export const NO_PROXIES: ProxySettings = { http: '', https: '', except: '' };

/** Reads the usual proxy variables; the lower-case spelling takes precedence, as in curl. Throws `config_invalid`. */
export function readProxies(env: NodeJS.ProcessEnv): ProxySettings {
  const readVariable = (name: string): string => env[name] || env[name.toUpperCase()] || '';
  const readAddress = (name: string): string => {
    const text = readVariable(name);
    if (text === '') return '';
    const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
    if (URL.canParse(address)) return address;
    // Not repeated: it may contain a password.
    throw new SvcError('config_invalid', `${name.toUpperCase()} is not an address`);
  };
  return {
    http: readAddress('http_proxy'),
    https: readAddress('https_proxy'),
    except: readVariable('no_proxy'),
  };
}

const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1');

/**
 * Reports whether an entry of `NO_PROXY` matches a host: by its name, a parent domain, its address, its network or
 * `*`, and by the port if it has one.
 */
function namesHost(entry: string, host: string, port: string): boolean {
  const [, named = entry, only] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
  if (only !== undefined && Number(only) !== Number(port)) return false;
  if (named === '*') return true;
  if (isIP(host) !== 0) {
    const network = parseNetwork(withoutBrackets(named));
    return network !== null && isAddressOf(network, host);
  }
  const name = named.replace(/^\*?\./, '').replace(/\.$/, '');
  return host.endsWith(`.${name}`) || (host === name && !named.startsWith('*'));
}

/**
 * Returns the proxy for an address; null for none, as for every address of this machine. Throws `config_invalid` for
 * an unusable one.
 */
export function findProxy(url: URL, { http, https, except }: ProxySettings): string | null {
  const host = withoutBrackets(url.hostname.toLowerCase()).replace(/\.$/, '');
  const isSecure = url.protocol === 'https:' || url.protocol === 'wss:';
  const proxy = isSecure ? https || http : http;
  if (proxy === '' || isLoopback(host)) return null;
  const port = url.port || (isSecure ? '443' : '80');
  const entries = except.toLowerCase().split(/[,\s]+/);
  if (entries.some((entry) => entry !== '' && namesHost(entry, host, port))) return null;
  if (/^https?:/i.test(proxy)) return proxy;
  throw new SvcError('config_invalid', 'the proxy of HTTPS_PROXY or HTTP_PROXY must be http:// or https://');
}

/** Reports whether a proxy refused to connect, by an undici error or its cause. */
export function isProxyRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = '' } = error as NodeJS.ErrnoException;
  return /^Proxy response/.test(error.message) || /^UND_ERR_PRX/.test(code) || isProxyRefusal(error.cause);
}
