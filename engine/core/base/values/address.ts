import { BlockList, isIP } from 'node:net';
import * as z from 'zod';
import { SvcError } from '../errors.ts';
import { refineWith } from './duration.ts';

/** A listening address. `host` is empty for a bare port, which most programs treat as every interface. */
export interface NetworkAddress {
  host: string;
  port: number;
}

const HOST_NAME = /^[a-z\d](?:[a-z\d.-]*[a-z\d])?\.?$/i;

/**
 * Parses `127.0.0.1:8788`, `[::1]:0`, `localhost:80`, `:8790` or `8790`. A bare port returns host '' so that the
 * caller can refuse it. Throws `usage`.
 */
export function parseAddress(text: string): NetworkAddress {
  const match = /^(?:(?:\[([^\][]*)\]|([^\][:]*)):)?(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535) throw malformedAddressError(text);
  const [, bracketed, plain] = match;
  if (bracketed !== undefined) {
    if (isIP(bracketed) !== 6) throw malformedAddressError(text);
    return { host: bracketed, port };
  }
  const host = plain ?? '';
  if (host !== '' && !isIP(host) && !HOST_NAME.test(host)) throw malformedAddressError(text);
  return { host, port };
}

function malformedAddressError(text: string): SvcError {
  return isIP(text) === 6
    ? new SvcError('usage', 'an IPv6 address is written in brackets with its port, such as [::1]:8790')
    : new SvcError('usage', 'not an address; write host:port, such as 127.0.0.1:8790 or [::1]:8790');
}

/** Formats the address again, IPv6 in brackets. */
export const formatAddress = ({ host, port }: NetworkAddress): string =>
  isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;

/** Returns how this machine reaches what listens there: on every address means by loopback. */
export const findOwnAddress = ({ host, port }: NetworkAddress): NetworkAddress => ({
  host: host === '' || host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host,
  port,
});

let loopback: BlockList | null = null;

function createLoopbackList(): BlockList {
  const list = new BlockList();
  list.addSubnet('127.0.0.0', 8, 'ipv4');
  list.addAddress('::1', 'ipv6');
  return list;
}

/**
 * Reports whether only this machine can reach `host`: 127.0.0.0/8, ::1, their IPv4-mapped forms and the name
 * `localhost`. Any other name is remote, regardless of its address.
 */
export function isLoopback(host: string): boolean {
  if (host === '127.0.0.1' || host.toLowerCase() === 'localhost') return true;
  loopback ??= createLoopbackList();
  return isAddressOf(loopback, host);
}

const NETWORK = /^([\d.]+|[\da-f:.]+)(?:\/(\d{1,3}))?$/i;

/**
 * Returns the addresses that a text names: one, or a network such as 10.0.0.0/8. Null for anything else, including an
 * address with a zone.
 */
export function parseNetwork(text: string): BlockList | null {
  const [, address = '', length] = NETWORK.exec(text) ?? [];
  const version = isIP(address);
  const longest = version === 6 ? 128 : 32;
  const bits = length === undefined ? longest : Number(length);
  if (version === 0 || bits > longest) return null;
  const list = new BlockList();
  list.addSubnet(address, bits, version === 6 ? 'ipv6' : 'ipv4');
  return list;
}

/** Reports whether an address is one of these; false for an invalid one. */
export function isAddressOf(networks: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && networks.check(address, version === 6 ? 'ipv6' : 'ipv4');
}

/** Creates a key for an address to listen on. */
export const addressKey = () => z.string().superRefine(refineWith(parseAddress));

/** Creates a key for an address that must stay on this machine. */
export const loopbackAddressKey = () =>
  z.string().superRefine(
    refineWith((text) => {
      if (!isLoopback(parseAddress(text).host)) {
        throw new SvcError('address_refused', 'must be a loopback address, such as 127.0.0.1:0 or [::1]:0');
      }
    }),
  );
