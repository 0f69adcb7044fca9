import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maskedAddress, shownAddress } from '../../../../engine/core/http/shown-address.ts';

test('an address is shown as its origin, with a few digits that distinguish it from others there', () => {
  const shown = [
    'https://hooks.test/services/T0/B0/topsecret',
    'https://hooks.test/services/T0/B0/topsecret2',
    'https://hooks.test/?token=topsecret',
    'https://user:topsecret@hooks.test/',
    'https://topsecret@hooks.test',
    'https://hooks.test/#topsecret',
  ].map(shownAddress);
  for (const each of shown) assert.match(each, /^https:\/\/hooks\.test\/…[0-9a-f]{8}$/);
  assert.equal(new Set(shown).size, shown.length);
  assert.equal(shownAddress('http://127.0.0.1:9000'), 'http://127.0.0.1:9000');
  assert.equal(shownAddress('http://127.0.0.1:9000/'), 'http://127.0.0.1:9000');
  assert.equal(shownAddress('topsecret'), '(not an address)');
});

test('an address with credentials or a query is masked, and any other is shown unchanged', () => {
  for (const plain of ['https://api.test/v1', 'http://127.0.0.1:11434', 'no address', '', 'read edit:src/**'])
    assert.equal(maskedAddress(plain), plain);
  for (const telling of [
    'https://api.test/v1?key=topsecret',
    'https://u:topsecret@api.test/v1',
    'HTTPS://topsecret@api.test',
    'http://u:topsecret@127.0.0.1:{{notify_port}}/x',
    'http://127.0.0.1:{{notify_port}}/x?topsecret',
  ])
    assert.doesNotMatch(maskedAddress(telling), /topsecret/);
});
