import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findProxy, readProxies } from '../../../engine/http/proxies.ts';

test('proxies are read as other programs read them, and a broken one is not repeated', () => {
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

test('NO_PROXY names hosts, also by address, and by the port that an address leaves out', () => {
  const isExcept = (address: string, except: string): boolean =>
    findProxy(new URL(address), { http: 'http://plain', https: 'http://secure', except }) === null;
  for (const except of ['10.0.0.1', '10.0.0.1:443', '10.0.0.1:0443'])
    assert.ok(isExcept('https://10.0.0.1/x', except), except);
  assert.ok(!isExcept('http://10.0.0.1', '10.0.0.1:443'));
  assert.ok(isExcept('http://10.0.0.1', '10.0.0.1:80'));
  for (const except of ['fd00::1', '[fd00::1]', '[fd00::1]:8443', 'FD00::1'])
    assert.ok(isExcept('https://[fd00::1]:8443', except), except);
  for (const except of ['[fd00::1]:443', 'fd00::', '::1', '1'])
    assert.ok(!isExcept('https://[fd00::1]:8443', except), except);
  assert.ok(isExcept('https://svc.example.', 'svc.example'));
  for (const except of ['.', '*.', '[]', ':443', '*svc.example', '*:443x'])
    assert.ok(!isExcept('https://svc.example', except), except);
});

test('the proxy of http is that of https where there is no other, and never the other way around', () => {
  const only = (given: { http?: string; https?: string }) => ({ http: '', https: '', except: '', ...given });
  const secure = new URL('https://svc.example');
  assert.equal(findProxy(secure, only({ http: 'http://plain' })), 'http://plain');
  assert.equal(findProxy(secure, only({ http: 'http://plain', https: 'http://secure' })), 'http://secure');
  assert.equal(findProxy(new URL('http://svc.example'), only({ https: 'http://secure' })), null);
  for (const host of ['localhost', '127.3.2.1', '[::1]'])
    assert.equal(findProxy(new URL(`https://${host}`), only({ https: 'http://secure' })), null, host);
});
