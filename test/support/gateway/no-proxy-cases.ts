import assert from 'node:assert/strict';

/** Cases of `NO_PROXY` for an address, for every client that uses a proxy. */
interface NoProxyCase {
  address: string;
  /** Lists that match the address, so the proxy is not used. */
  direct: string[];
  proxied: string[];
}

/** Test names and documentation networks: none of these addresses is reachable. */
const NO_PROXY_CASES: readonly NoProxyCase[] = [
  {
    address: 'https://svc.test:8443',
    direct: [
      'svc.test',
      'SVC.Test',
      'svc.test:8443',
      'svc.test:08443',
      'a.example,svc.test',
      'a.example svc.test',
      ' ,a.example ,\tsvc.test, ',
      'test',
      '.test',
      '*.test',
      '*',
      'a.example,*',
      '*:8443',
      'svc.test.',
      '.svc.test',
    ],
    proxied: [
      '',
      ', ,',
      'svc.test:1',
      'svc.test:443',
      'vc.test',
      'example.test',
      'a.svc.test',
      '*.svc.test',
      '*svc.test',
      '*:1',
      '*:8443x',
      '.',
      '*.',
      '[]',
      ':8443',
      '127.0.0.1',
      '0.0.0.0/0',
    ],
  },
  {
    address: 'https://a.svc.test.:8443',
    direct: ['svc.test', '.svc.test', '*.svc.test'],
    proxied: ['b.svc.test'],
  },
  { address: 'https://svc.test', direct: ['svc.test:443'], proxied: ['svc.test:80'] },
  {
    address: 'https://192.0.2.7',
    direct: [
      '192.0.2.7',
      '192.0.2.7:443',
      '192.0.2.0/24',
      '192.0.2.0/24:443',
      '192.0.2.1/29',
      '0.0.0.0/0',
      '*',
    ],
    proxied: [
      '192.0.2.70',
      '192.0.2.7:80',
      '192.0.2.0/30',
      '192.0.2.0/24:80',
      '192.0.2.0/33',
      '192.0.2.0/',
      '192.0.2.0/x',
      '192.0.2',
      '0.2.7',
      '.2.7',
      '*.2.7',
      'fd00::/8',
    ],
  },
  {
    address: 'https://[2001:db8::7]:8443',
    direct: [
      '2001:db8::7',
      '2001:DB8:0:0::7',
      '[2001:db8::7]',
      '[2001:db8::7]:8443',
      '2001:db8::/32',
      '[2001:db8::/32]:8443',
      '::/0',
    ],
    proxied: [
      '[2001:db8::7]:443',
      '2001:db8::',
      '2001:db8::/129',
      '2001:db8::7%eth0',
      '::7',
      '7',
      '0.0.0.0/0',
    ],
  },
];

/**
 * Checks how a client reads `NO_PROXY`.
 * @param isProxied reports whether the client connects to the address through a proxy. The addresses do not answer,
 * and some networks drop such packets silently, so it gives up after `patienceMs`.
 */
export async function assertReadsNoProxy(
  isProxied: (address: string, except: string, patienceMs: number) => boolean | Promise<boolean>,
): Promise<void> {
  for (const { address, direct, proxied } of NO_PROXY_CASES) {
    for (const except of direct)
      assert.ok(!(await isProxied(address, except, 50)), `${address} is in "${except}"`);
    for (const except of proxied)
      assert.ok(await isProxied(address, except, 15_000), `${address} is not in "${except}"`);
  }
}
