import { lookup as lookUpName } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { SvcError } from '../../core/base/errors.ts';
import { findCarriedV4, isMetadataAddress, makeBlockList } from '../../core/http/metadata-addresses.ts';

// Addresses of targets are untrusted input, and this server may be in a network that their authors are not in. An
// address is checked when it is saved and at every connection, by its current name resolution.

/** Networks that are not part of the public internet (the registries of RFC 6890 and their later entries). */
const PRIVATE_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];

/** Addresses outside 2000::/3 are all refused; these are within it. */
const PRIVATE_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20', '5f00::/16'];

const privateV4 = makeBlockList(PRIVATE_V4);
const privateV6 = makeBlockList(PRIVATE_V6);
const publicV6 = makeBlockList(['2000::/3']);
/** IPv4 through a translator (RFC 6052): the address in the last 32 bits is checked. */
const translated = makeBlockList(['64:ff9b::/96']);
function isPublic(address: string, carried: string | null): boolean {
  if (isIP(address) === 4) return !privateV4.check(address);
  if (carried !== null) return translated.check(address, 'ipv6') && !privateV4.check(carried);
  return publicV6.check(address, 'ipv6') && !privateV6.check(address, 'ipv6');
}

/** Checks addresses, and connects to allowed ones. */
export interface AddressGuard {
  /** Explains why an IP address is refused, as the end of a sentence; null if it is allowed. */
  findFault(address: string): string | null;
  /** Checks the current target of an address. Throws `address_refused` with the reason. */
  check(url: string): Promise<void>;
  /** `fetch` over connections that are each checked. */
  agent: Agent;
  close(): Promise<void>;
}

const OF_METADATA = 'belongs to the metadata of a cloud';
const OF_OWN_NETWORK = 'is in a private network (loopback, private, link-local, shared or multicast)';
const NO_ADDRESS = 'is not an address';

/** Advice for a person who has entered an address. */
const HINTS: Readonly<Record<string, string>> = {
  [OF_METADATA]: 'no option opens this address',
  [OF_OWN_NETWORK]: 'the operator of this server can open a network with --allow-target',
};

class RefusedAddress extends Error {
  readonly code = 'ADDRESS_REFUSED';
}

export function createAddressGuard({
  isAllowed,
  lookup = lookUpName as LookupFunction,
}: {
  /** Reports whether `--allow-target` names it. */
  isAllowed(address: string): boolean;
  lookup?: LookupFunction;
}): AddressGuard {
  function findFault(given: string): string | null {
    // A zone such as %eth0 only names the interface.
    const address = given.replace(/^\[|\]$|%.*$/g, '');
    if (isIP(address) === 0) return NO_ADDRESS;
    const carried = findCarriedV4(address);
    if (isMetadataAddress(address)) return OF_METADATA;
    if ([address, ...(carried === null ? [] : [carried])].some(isAllowed)) return null;
    return isPublic(address, carried) ? null : OF_OWN_NETWORK;
  }

  /** Like `dns.lookup`, but one refused address refuses the whole answer. */
  const lookUpChecked: LookupFunction = (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, '', 4);
      const addresses = Array.isArray(found) ? found : [];
      for (const { address } of addresses) {
        const fault = findFault(address);
        if (fault !== null) return callback(new RefusedAddress(fault), '', 4);
      }
      const [first] = addresses;
      if (first === undefined) return callback(new RefusedAddress(NO_ADDRESS), '', 4);
      if (options.all === true) return callback(null, addresses);
      return callback(null, first.address, first.family);
    });
  };

  // With HTTP/2 one connection would serve all requests, and after an unanswered one the next ones would wait on it as well.
  const connect = buildConnector({ timeout: 10_000, allowH2: false, lookup: lookUpChecked });
  const agent = new Agent({
    connect: (options, callback) => {
      // A literal address is never looked up.
      const literal = options.hostname.replace(/^\[|\]$/g, '');
      const fault = isIP(literal) === 0 ? null : findFault(literal);
      if (fault !== null) callback(new RefusedAddress(fault), null);
      else connect(options, callback);
    },
    allowH2: false,
    connections: 4,
    keepAliveTimeout: 10_000,
    // Neither is read; a target must not keep this server busy.
    maxHeaderSize: 16 * 1024,
    bodyTimeout: 10_000,
  });

  return {
    findFault,
    async check(url) {
      const { hostname, host } = new URL(url);
      const literal = hostname.replace(/^\[|\]$/g, '');
      const refuseAddress = (why: string, hint = 'check the spelling'): SvcError =>
        new SvcError('address_refused', `${host}: ${why}`, { hint });
      if (isIP(literal) !== 0) {
        const fault = findFault(literal);
        if (fault !== null) throw refuseAddress(`it ${fault}`, HINTS[fault]);
        return;
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      lookUpChecked(hostname, { all: true }, (error) => {
        if (error === null) resolve();
        // The address is not named: users must not learn about names in this server's network.
        else if (error instanceof RefusedAddress && error.message !== NO_ADDRESS)
          reject(refuseAddress(`it resolves to an address that ${error.message}`, HINTS[error.message]));
        else reject(refuseAddress('the name is not known'));
      });
      return promise;
    },
    agent,
    close: () => agent.destroy(),
  };
}
