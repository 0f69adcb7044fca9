import { SvcError } from '../base/errors.ts';

/** The proxies through which other machines are reached; '' for none. */
export interface ProxySettings {
  http: string;
  https: string;
  /** Hosts that are reached without one, as in `NO_PROXY`. */
  except: string;
}

export const NO_PROXIES: ProxySettings = { http: '', https: '', except: '' };

/**
 * Reads the variables that most programs know; the lower-case spelling goes first, as it does for curl. Throws
 * `config_invalid`.
 */
export function readProxies(env: NodeJS.ProcessEnv): ProxySettings {
  const read = (name: string): string => env[name] || env[name.toUpperCase()] || '';
  const readAddress = (name: string): string => {
    const text = read(name);
    if (text === '') return '';
    const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
    if (URL.canParse(address)) return address;
    // Not repeated: there may be a password in it.
    throw new SvcError('config_invalid', `${name.toUpperCase()} is not an address`);
  };
  return { http: readAddress('http_proxy'), https: readAddress('https_proxy'), except: read('no_proxy') };
}

/** Whether a proxy has refused to connect, by the error of undici or one that it caused. */
export function isProxyRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code = '' } = error as NodeJS.ErrnoException;
  return /^Proxy response/.test(error.message) || /^UND_ERR_PRX/.test(code) || isProxyRefusal(error.cause);
}
