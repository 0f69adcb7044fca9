import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findClientAddress, isSameNetwork, networkOf } from '../../../engine/linked-server/client-address.ts';
import { readServerSettings } from '../../../engine/linked-server/index.ts';

const settingsOf = (trustProxy: string[], allowTarget: string[] = []) =>
  readServerSettings({ allowRemote: false, trustProxy, allowTarget });

describe('the address of a client', () => {
  const { isTrustedProxy } = settingsOf(['10.0.0.0/8', 'fd00::/8']);
  const cases: [peer: string, forwarded: string | undefined, client: string][] = [
    ['198.51.100.7', '203.0.113.9', '198.51.100.7'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
    // Each proxy appends its peer; the client's own entries come first.
    ['10.0.0.1', '1.1.1.1, 203.0.113.9, 10.2.3.4', '203.0.113.9'],
    ['fd00::1', '1.1.1.1,203.0.113.9 ,  fd00::2', '203.0.113.9'],
    ['10.0.0.1', '10.0.0.2, 10.0.0.3', '10.0.0.2'],
    // Some proxies add the port.
    ['10.0.0.1', '203.0.113.9:51234', '203.0.113.9'],
    ['10.0.0.1', '[2001:db8::7]:51234', '2001:db8::7'],
    ['10.0.0.1', '[2001:db8::7]', '2001:db8::7'],
    // Different spellings of one address are the same client.
    ['10.0.0.1', '2001:DB8:0:0:0::7', '2001:db8::7'],
    ['10.0.0.1', '::ffff:203.0.113.9', '203.0.113.9'],
    ['10.0.0.1', '::FFFF:cb00:7109', '203.0.113.9'],
    ['10.0.0.1', '203.0.113.9, ::ffff:10.0.0.2', '203.0.113.9'],
    ['10.0.0.1', 'fe80::1%eth0', 'fe80::1'],
    // An invalid address ends the trusted part.
    ['10.0.0.1', '203.0.113.9, unknown', '10.0.0.1'],
    ['10.0.0.1', '203.0.113.9, _hidden, 10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', '203.0.113.9,', '10.0.0.1'],
    ['10.0.0.1', '3405803785', '10.0.0.1'],
    ['10.0.0.1', '<script>, \u202e', '10.0.0.1'],
  ];
  for (const [peer, forwarded, client] of cases)
    it(`the address is ${client} for ${JSON.stringify(forwarded)} from ${peer}`, () => {
      assert.equal(findClientAddress(peer, forwarded, isTrustedProxy), client);
    });
});

it('all addresses of a /64 are counted as one', () => {
  assert.equal(networkOf('203.0.113.9'), '203.0.113.9');
  for (const address of ['2001:db8::7', '2001:db8::a:b:c:d', '2001:db8:0:0:1::'])
    assert.equal(networkOf(address), networkOf('2001:db8::1'), address);
  for (const address of ['2001:db8:0:1::1', '2001:db8:1::1', '::1', '2001:db7::1'])
    assert.notEqual(networkOf(address), networkOf('2001:db8::1'), address);
  assert.ok(isSameNetwork('2001:db8::7', '2001:db8::a:b:c:d'));
  assert.ok(isSameNetwork('203.0.113.9', '203.0.113.200'));
  for (const other of ['203.0.114.9', '2001:db8::7', ''])
    assert.ok(!isSameNetwork('203.0.113.9', other), other);
  assert.ok(!isSameNetwork('2001:db8::7', '2001:db8:0:1::7'));
});

describe('a range of addresses', () => {
  for (const range of [
    '10.0.0.1/',
    '10.0.0.1/ 8',
    '10.0.0.1/0x8',
    '10.0.0.1/1e1',
    '10.0.0.1/-1',
    '10.0.0.1/8/8',
    '10.0.0.1/33',
    '::1/129',
    '10.0.0',
    'fe80::1%eth0',
    '[::1]',
    '',
    '/8',
  ])
    it(`${JSON.stringify(range)} is not a range`, () => {
      for (const flags of [[[range], []] as const, [[], [range]] as const])
        assert.throws(() => settingsOf([...flags[0]], [...flags[1]]), { code: 'usage' });
    });

  it('a range without a length is one address', () => {
    const { isTrustedProxy, isAllowedTarget } = settingsOf(['10.0.0.1', '::1'], ['192.168.1.20/32']);
    assert.deepEqual(['10.0.0.1', '10.0.0.2', '::1', '::2'].map(isTrustedProxy), [true, false, true, false]);
    assert.deepEqual(['192.168.1.20', '192.168.1.21'].map(isAllowedTarget), [true, false]);
  });
});
