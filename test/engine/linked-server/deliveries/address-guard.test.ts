import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { describe, it } from 'node:test';
import { fetch } from 'undici';
import { createAddressGuard } from '../../../../engine/linked-server/deliveries/address-guard.ts';
import { sendEvent } from '../../../../engine/linked-server/deliveries/send.ts';
import { startSilentTarget } from '../../../support/gateway/silent-target.ts';

const REFUSED = [
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '168.63.129.16',
  '172.31.255.255',
  '192.0.0.192',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '239.255.255.250',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:8.8.8.8',
  '::ffff:0:127.0.0.1',
  '64:ff9b::127.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::1',
  '2002:7f00:1::',
  '2001::1',
  '2001:db8::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'fc00::1',
  'fd00:ec2::254',
  'ff02::1',
  'not an address',
];
const ALLOWED = ['8.8.8.8', '100.128.0.1', '172.32.0.1', '2606:4700::1111', '64:ff9b::808:808'];

const lookUpHere: LookupFunction = (_name, _options, answer) =>
  answer(null, [{ address: '127.0.0.1', family: 4 }]);

describe('addresses of targets', () => {
  it('targets must be on the public internet', () => {
    const guard = createAddressGuard({ isAllowed: () => false });
    for (const address of REFUSED) assert.notEqual(guard.findFault(address), null, address);
    for (const address of ALLOWED) assert.equal(guard.findFault(address), null, address);
  });

  it('other addresses are allowed by a flag, but metadata never', () => {
    const guard = createAddressGuard({ isAllowed: () => true });
    for (const address of ['127.0.0.1', '10.0.0.1', '::1', '::ffff:10.0.0.1', 'fd00::1'])
      assert.equal(guard.findFault(address), null, address);
    for (const address of [
      '169.254.169.254',
      '::ffff:169.254.169.254',
      '64:ff9b::169.254.169.254',
      '168.63.129.16',
      '100.100.100.200',
      '169.254.42.42',
      '169.254.0.23',
      'fd00:ec2::254',
      'fd00:a9fe:a9fe::1',
      'fe80::a9fe:a9fe',
    ])
      assert.notEqual(guard.findFault(address), null, address);
  });

  it('addresses are checked when they are saved, in every spelling', async () => {
    const lookup: LookupFunction = (name, _options, answer) =>
      name === 'gone.example'
        ? answer(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), '', 4)
        : answer(null, [
            { address: '93.184.215.14', family: 4 },
            ...(name === 'two.example' ? [{ address: '10.0.0.1', family: 4 }] : []),
          ]);
    const guard = createAddressGuard({ isAllowed: () => false, lookup });
    for (const host of [
      '127.0.0.1',
      '127.1',
      '0x7f.1',
      '2130706433',
      '017700000001',
      '%31%32%37.0.0.1',
      '①②⑦.0.0.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[64:ff9b::7f00:1]',
      '169.254.169.254',
      'two.example',
      'gone.example',
    ])
      await assert.rejects(guard.check(`http://${host}/hook`), { code: 'address_refused' }, host);
    await guard.check('https://one.example/hook');
    // A person who mistypes a name is not referred to the operator.
    await assert.rejects(guard.check('https://gone.example/'), { hint: /check the spelling/ });
    // The internal addresses of a name are not shown to the person.
    await assert.rejects(guard.check('https://two.example/'), {
      message: /^two\.example: it resolves to an address that is in a private network [^\d]*$/,
      hint: /--allow-target/,
    });
    // No hint names a flag that would not open metadata addresses.
    await assert.rejects(guard.check('http://169.254.169.254/'), { hint: 'no option opens this address' });
  });

  it('addresses are checked again at every connection, so that a name cannot change to an internal one', async () => {
    let reached = 0;
    const inside = createServer((_request, response) => {
      reached += 1;
      response.end();
    });
    await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
    const { port } = inside.address() as AddressInfo;
    let answers = '93.184.215.14';
    const lookup: LookupFunction = (_name, _options, answer) =>
      answer(null, [{ address: answers, family: 4 }]);
    const guard = createAddressGuard({ isAllowed: () => false, lookup });
    const open = createAddressGuard({ isAllowed: () => true, lookup });
    try {
      const url = `http://target.example:${port}/`;
      await guard.check(url);
      answers = '127.0.0.1';
      for (const address of [url, `http://127.0.0.1:${port}/`, `http://[::ffff:127.0.0.1]:${port}/`])
        await assert.rejects(fetch(address, { dispatcher: guard.agent }), (error: Error) => {
          assert.equal((error.cause as { code?: string }).code, 'ADDRESS_REFUSED', address);
          return true;
        });
      assert.equal(reached, 0);
      assert.equal((await fetch(url, { dispatcher: open.agent })).status, 200);
    } finally {
      await guard.close();
      await open.close();
      inside.closeAllConnections();
      await new Promise((resolve) => inside.close(resolve));
    }
  });

  it('a try after an unanswered one uses a new connection, also with HTTP/2', async () => {
    const target = await startSilentTarget();
    const guard = createAddressGuard({ isAllowed: () => true, lookup: lookUpHere });
    const wanted = {
      url: `https://svc.test:${target.port}/`,
      body: '{}',
      messageId: 'm',
      secrets: ['whsec_c2VjcmV0'] as const,
    };
    try {
      const ending = new AbortController();
      const first = sendEvent(wanted, { guard, now: 0, signal: ending.signal });
      await target.asked;
      ending.abort();
      assert.equal(await first, null);
      const second = await sendEvent(wanted, { guard, now: 0, signal: new AbortController().signal });
      assert.equal(second?.status, 200);
    } finally {
      await guard.close();
      target.close();
    }
  });
});
