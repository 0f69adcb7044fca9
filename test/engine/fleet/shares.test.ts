import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConsents, resolveConsentsFile, writeProjectConsent } from '../../../engine/core/access/index.ts';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { createProjectShares } from '../../../engine/fleet/shares.ts';

const given = { at: '2026-01-02T03:04:05Z', actor: 'ada' };
const isMissing = (error: unknown): boolean => error instanceof SvcError && error.code === 'share_missing';

test('a project is sent to the pools that the Chair has named, until that is withdrawn', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'svc-shares-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const shares = createProjectShares({ home, root: home });
  assert.throws(() => shares.check('api', 'gpu'), isMissing);
  writeProjectConsent(home, home, 'api', { digest: 'd', ...given });
  shares.write('api', 'gpu', given);
  shares.write('api', 'cpu', given);
  shares.check('api', 'gpu');
  assert.deepEqual(shares.listPools('api'), ['gpu', 'cpu']);
  assert.throws(() => shares.check('web', 'gpu'), isMissing);
  assert.throws(() => shares.check('__proto__', 'gpu'), isMissing);
  shares.write('api', 'gpu', null);
  assert.throws(() => shares.check('api', 'gpu'), isMissing);
  assert.deepEqual(shares.listPools('api'), ['cpu']);
  assert.equal(readConsents(home, home).projects.api?.digest, 'd');
  chmodSync(resolveConsentsFile(home, home), 0o666);
  assert.throws(() => shares.check('api', 'cpu'), isMissing);
});
