import { BlockList, isIP } from 'node:net';
import * as z from 'zod';
import { SvcError } from '../errors.ts';
import { refineWith } from './duration.ts';

/** Where to listen. `host` is empty for a bare port, which means every interface to most programs. */
export interface Address {
  host: string;
  port: number;
}

const HOST_NAME = /^[a-z\d](?:[a-z\d.-]*[a-z\d])?\.?$/i;

/**
 * `127.0.0.1:8788`, `[::1]:0`, `localhost:80`, `:8790` or `8790`. A bare port gives host '' so that the caller
 * can refuse it. Throws `usage`.
 */
export function parseAddress(text: string): Address {
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

/** The address as text again, IPv6 in brackets. */
export const formatAddress = ({ host, port }: Address): string =>
  isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;

let loopback: BlockList | null = null;

function createLoopbackList(): BlockList {
  const list = new BlockList();
  list.addSubnet('127.0.0.0', 8, 'ipv4');
  list.addAddress('::1', 'ipv6');
  return list;
}

/**
 * Whether only this machine can reach `host`: 127.0.0.0/8, ::1, their IPv4-mapped forms and the word `localhost`.
 * Any other name is not, whatever it resolves to today.
 */
export function isLoopback(host: string): boolean {
  if (host === '127.0.0.1' || host.toLowerCase() === 'localhost') return true;
  const version = isIP(host);
  if (version === 0) return false;
  loopback ??= createLoopbackList();
  return loopback.check(host, version === 6 ? 'ipv6' : 'ipv4');
}

/** A key that holds an address to listen on. */
export const addressKey = () => z.string().superRefine(refineWith(parseAddress));

/** A key that holds an address which must stay on this machine. */
export const loopbackAddressKey = () =>
  z.string().superRefine(
    refineWith((text) => {
      if (!isLoopback(parseAddress(text).host)) {
        throw new SvcError('address_refused', 'must be a loopback address, such as 127.0.0.1:0 or [::1]:0');
      }
    }),
  );
