import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { systemClock } from '../../../engine/core/base/clock.ts';
import { createKeys } from '../../../engine/gateway/keys/index.ts';
import { openStorage } from '../../../engine/storage/index.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

describe('virtual keys', () => {
  const folder = temporaryFolder('svc-keys-');
  const storage = openStorage({ path: join(folder, 'svc.db') });
  const keys = createKeys({ storage, clock: systemClock });
  after(async () => {
    await storage.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const holder = { sessionId: 's-3', taskId: 't-2', budgetTokens: 900, claimedTokens: 30 };

  test('a key names its owner until it is revoked, and a new one ends the old', async () => {
    const first = await storage.write(() => keys.issueKey(holder));
    assert.deepEqual(keys.verifyKey(first), holder);
    const other = await storage.write(() => keys.issueKey({ ...holder, sessionId: 's-4' }));
    const second = await storage.write(() => keys.issueKey(holder));
    assert.notEqual(first, second);
    assert.equal(keys.verifyKey(first), null);
    assert.deepEqual(keys.verifyKey(second), holder);
    await storage.write(() => keys.revokeKey('s-3'));
    assert.equal(keys.verifyKey(second), null);
    assert.equal(keys.verifyKey(other)?.sessionId, 's-4');
    for (const wrong of ['', 'svc-vkey-', first.slice(0, -1), `${other} `])
      assert.equal(keys.verifyKey(wrong), null);
  });

  test('no key is in the database', async () => {
    const key = await storage.write(() => keys.issueKey(holder));
    const rows = storage.db.prepare('SELECT * FROM virtual_key').all();
    assert.doesNotMatch(JSON.stringify(rows), new RegExp(key.slice(10, 30)));
  });

  test('a limit that a provider put on a session is remembered after its key is gone', async () => {
    const key = await storage.write(() => keys.issueKey({ ...holder, sessionId: 's-5' }));
    assert.equal(keys.limitedUntil('s-5'), null);
    await storage.write(() => keys.limitKey(key, 5000));
    await storage.write(() => keys.revokeKey('s-5'));
    assert.equal(keys.limitedUntil('s-5'), 5000);
  });

  test('a person has keys by name, one of each, until they are removed', async () => {
    const key = await storage.write(() => keys.addPersonKey('laptop', null));
    assert.match(key, /^svc-vkey-/);
    assert.deepEqual(
      keys.listPersonKeys().map(({ name }) => name),
      ['laptop'],
    );
    await assert.rejects(
      storage.write(() => keys.addPersonKey('laptop', null)),
      { code: 'exists' },
    );
    await storage.write(() => keys.removePersonKey('laptop'));
    await assert.rejects(
      storage.write(() => keys.removePersonKey('laptop')),
      { code: 'not_found' },
    );
    assert.deepEqual(keys.listPersonKeys(), []);
    await storage.write(() => keys.addPersonKey('laptop', null));
  });
});
