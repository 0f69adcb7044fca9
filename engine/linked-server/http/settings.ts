import { SvcError } from '../../core/base/errors.ts';
import { isAddressOf, parseNetwork } from '../../core/base/values/address.ts';
import { SLACK_API, TELEGRAM_API } from '../chats/api-addresses.ts';

/** The addresses of a server. */
export interface ServerSettings {
  host: string;
  port: number;
  /** The public address: scheme, host and port, without a path; null for the listening address. */
  publicUrl: URL | null;
  /** Reports whether an address is a trusted proxy for `X-Forwarded-For`. */
  isTrustedProxy(address: string): boolean;
  /** Without one, all clients of a proxy count as one address. */
  hasTrustedProxy: boolean;
  /** Reports whether events may be sent to an address outside the public internet. */
  isAllowedTarget(address: string): boolean;
  /** Addresses of Telegram's Bot API and Slack's Web API. */
  telegramApi: string;
  slackApi: string;
}

export interface ServerFlags {
  addr?: string | undefined;
  publicUrl?: string | undefined;
  allowRemote: boolean;
  trustProxy: readonly string[];
  allowTarget: readonly string[];
  telegramApi?: string | undefined;
  slackApi?: string | undefined;
}

export const DEFAULT_ADDRESS = '127.0.0.1:8791';

const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);

const usage = (message: string, hint: string): SvcError => new SvcError('usage', message, { hint });

/** Checks the flags of `svc server serve`. Throws `usage`, `address_refused`. */
export function readServerSettings({
  addr = DEFAULT_ADDRESS,
  publicUrl,
  allowRemote,
  trustProxy,
  allowTarget,
  telegramApi = TELEGRAM_API,
  slackApi = SLACK_API,
}: ServerFlags): ServerSettings {
  const found = /^(.*):(\d{1,5})$/.exec(addr);
  const host = found?.[1]?.replace(/^\[(.*)\]$/, '$1') ?? '';
  const port = Number(found?.[2]);
  if (found === null || port > 65_535)
    throw usage(`invalid address ${JSON.stringify(addr)}`, `an address looks like ${DEFAULT_ADDRESS}`);
  if (!allowRemote && !isLoopbackHost(host))
    throw new SvcError('address_refused', `${addr} is reachable from other machines`, {
      hint: 'leave it on loopback behind a proxy with TLS, or add --allow-remote',
    });
  if (publicUrl === undefined && !isLoopbackHost(host))
    throw usage('--allow-remote needs --public-url', 'the address that people use to reach it, https://…');
  const url = publicUrl === undefined ? null : readPublicUrl(publicUrl);
  return {
    host,
    port,
    publicUrl: url,
    isTrustedProxy: makeRangeCheck(trustProxy),
    hasTrustedProxy: trustProxy.length > 0,
    isAllowedTarget: makeRangeCheck(allowTarget),
    telegramApi: readApi(telegramApi),
    slackApi: readApi(slackApi),
  };
}

/** Checks the address of a chat service, with a trailing slash: tokens of bots are sent there. */
function readApi(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '')
    throw usage(`invalid address ${JSON.stringify(text)}`, `an address looks like ${SLACK_API}`);
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    throw new SvcError('address_refused', `${url.origin} would send the token of a bot unencrypted`, {
      hint: 'use an https:// address',
    });
  return url.href.replace(/\/*$/, '/');
}

function readPublicUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    throw usage(`invalid address ${JSON.stringify(text)}`, 'use the form https://svc.example.org');
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '' || url.username !== '')
    throw usage('--public-url must be a scheme and a host only', `for example ${url.origin}`);
  if (url.protocol === 'http:' && !isLoopbackHost(url.hostname))
    throw new SvcError('address_refused', `${url.origin} would send passwords unencrypted`, {
      hint: 'put a proxy with TLS in front and give its https:// address; docs/team/server.md has two examples',
    });
  return url;
}

/** Reports whether an address is in one of the ranges. Throws `usage`. */
function makeRangeCheck(ranges: readonly string[]): (address: string) => boolean {
  const networks = ranges.map((range) => {
    const network = parseNetwork(range);
    if (network === null)
      throw usage(`invalid address range ${JSON.stringify(range)}`, 'a range looks like 10.0.0.0/8');
    return network;
  });
  return (address) => networks.some((network) => isAddressOf(network, address));
}
