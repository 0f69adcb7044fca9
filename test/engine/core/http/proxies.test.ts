import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findProxy, readProxies } from '../../../../engine/core/http/proxies.ts';
import { assertReadsNoProxy } from '../../../support/gateway/no-proxy-cases.ts';

test('proxies are read as by other programs, and a broken one is not repeated', () => {
  assert.deepEqual(readProxies({}), { http: '', https: '', except: '' });
  assert.deepEqual(
    readProxies({
      HTTPS_PROXY: 'http://up:1',
      https_proxy: 'low:2',
      HTTP_PROXY: 'http://plain:3',
      NO_PROXY: 'a,b',
    }),
    { http: 'http://plain:3', https: 'http://low:2', except: 'a,b' },
  );
  assert.throws(
    () => readProxies({ HTTPS_PROXY: 'http://me:secret@ho st' }),
    (error: Error) => {
      assert.match(error.message, /^HTTPS_PROXY is not an address$/);
      return true;
    },
  );
});

test('NO_PROXY names hosts, their subdomains, addresses and networks, also with a port', async () => {
  const isExcept = (address: string, except: string): boolean =>
    findProxy(new URL(address), { http: 'http://plain', https: 'http://secure', except }) === null;
  await assertReadsNoProxy((address, except) => !isExcept(address, except));
  assert.ok(!isExcept('http://192.0.2.7', '192.0.2.7:443'));
  assert.ok(isExcept('http://192.0.2.7', '192.0.2.7:80'));
});

test('a WebSocket uses the proxy of https', () => {
  const proxies = { http: 'http://plain', https: 'http://secure', except: 'b.example:443' };
  assert.equal(findProxy(new URL('wss://a.example'), proxies), 'http://secure');
  assert.equal(findProxy(new URL('wss://b.example'), proxies), null);
  assert.equal(findProxy(new URL('ws://a.example'), proxies), 'http://plain');
});

test('an unusable proxy is reported where it is needed, without its password', () => {
  const proxies = { http: '', https: 'socks5://me:secret@proxy:1', except: 'b.example' };
  assert.throws(
    () => findProxy(new URL('https://a.example'), proxies),
    (error: Error) => {
      assert.equal(error.message, 'the proxy of HTTPS_PROXY or HTTP_PROXY must be http:// or https://');
      return true;
    },
  );
  assert.equal(findProxy(new URL('https://b.example'), proxies), null);
  assert.equal(findProxy(new URL('https://localhost'), proxies), null);
});

test('the proxy of http defaults to the one of https, and never the reverse', () => {
  const only = (given: { http?: string; https?: string }) => ({ http: '', https: '', except: '', ...given });
  const secure = new URL('https://svc.example');
  assert.equal(findProxy(secure, only({ http: 'http://plain' })), 'http://plain');
  assert.equal(findProxy(secure, only({ http: 'http://plain', https: 'http://secure' })), 'http://secure');
  assert.equal(findProxy(new URL('http://svc.example'), only({ https: 'http://secure' })), null);
  for (const host of ['localhost', '127.3.2.1', '[::1]'])
    assert.equal(findProxy(new URL(`https://${host}`), only({ https: 'http://secure' })), null, host);
});
