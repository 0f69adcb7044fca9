import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { askRunningServer, importServer } from '../../../engine/linked-server/index.ts';
import { setUpServer, signIn, startTestServer } from '../../support/server/linked-server.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

it('an export fills an empty server, which then has the same people', async () => {
  const first = await startTestServer();
  const folder = temporaryFolder('server-');
  const file = join(folder, 'export.jsonl');
  try {
    await setUpServer(first);
    await askRunningServer(first.folder, 'export', { file });
    copyFileSync(join(first.folder, 'server.key'), join(folder, 'server.key'));
  } finally {
    await first.close();
  }
  await importServer({ folder, env: {} }, file);
  const second = await startTestServer({ folder });
  try {
    assert.equal((await (await signIn(second, 'ann')).get('/app')).status, 200);
    assert.deepEqual(second.codes, [], 'no setup is needed');
  } finally {
    await second.close();
  }
});
