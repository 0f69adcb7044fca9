import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { findStranger } from '../../../../engine/gateway/server/strangers.ts';

const isServed = (
  headers: Record<string, string>,
  { at = '127.0.0.1', httpVersion = '1.1' }: { at?: string; httpVersion?: string } = {},
): boolean => findStranger({ headers, httpVersion }, at) === null;

test('a loopback address serves only names of this machine', () => {
  for (const host of ['127.0.0.1:8788', 'localhost', 'LOCALHOST:1', '[::1]:8788'])
    assert.ok(isServed({ host }));
  for (const host of ['evil.example', '192.168.1.5:8788', 'localhost.evil.example', '127.0.0.1.nip.io', ''])
    assert.ok(!isServed({ host }), host);
  assert.ok(!isServed({}));
  assert.ok(isServed({}, { httpVersion: '1.0' }), 'HTTP/1.0 has no Host');
});

test("a wildcard address serves every address, and only this machine's names", () => {
  for (const at of ['0.0.0.0', '::']) {
    for (const host of ['192.168.1.5:8788', '[fd00::1]:8788', 'localhost', `${hostname()}:8788`])
      assert.ok(isServed({ host }, { at }), host);
    assert.ok(!isServed({ host: 'rebound.example' }, { at }));
  }
  assert.ok(isServed({ host: 'box.lan:1' }, { at: 'box.lan' }));
  assert.ok(!isServed({ host: '192.168.1.5' }, { at: '192.168.1.6' }));
});

test('browser pages of any origin are not served', () => {
  for (const origin of ['null', 'https://example.com', 'http://localhost:3000'])
    assert.ok(!isServed({ host: 'localhost:8788', origin }), origin);
  assert.ok(isServed({ host: 'localhost:8788', origin: 'http://localhost:8788' }));
});
