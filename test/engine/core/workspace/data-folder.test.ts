import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import { claimDataFolder, inspectOwnDataFolder } from '../../../../engine/core/workspace/data-folder.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

describe('a data folder', () => {
  const folder = temporaryFolder();
  const root = join(folder, 'root');
  const env = { SVC_HOME: join(folder, 'home') };
  const place = { root, data: join(root, '.svc') };
  beforeEach(() => {
    for (const each of [root, env.SVC_HOME]) rmSync(each, { recursive: true, force: true });
    mkdirSync(root);
  });
  after(() => rmSync(folder, { recursive: true }));
  const reasonIs =
    (reason: string) =>
    (error: { code?: string; data?: { reason?: string } }): boolean =>
      error.code === 'data_folder_unknown' && error.data?.reason === reason;
  const refuses = (reason: string, at = place): void =>
    assert.throws(() => inspectOwnDataFolder(at, env), reasonIs(reason));

  test('a data folder is absent, then claimed, and the same when claimed again', () => {
    assert.deepEqual(inspectOwnDataFolder(place, env), { state: 'absent' });
    const id = claimDataFolder(place, env);
    assert.deepEqual(inspectOwnDataFolder(place, env), { state: 'ours', id });
    assert.equal(claimDataFolder(place, env), id);
    assert.deepEqual(readdirSync(place.data), ['id']);
  });

  test('a data folder stays claimed after its device number changes, and after a move there and back', () => {
    const id = claimDataFolder(place, env);
    const file = join(env.SVC_HOME, 'data-folders', `${id}.json`);
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), device: 1 }), {
      mode: 0o600,
    });
    renameSync(place.data, `${place.data}-away`);
    assert.deepEqual(inspectOwnDataFolder(place, env), { state: 'absent' });
    refuses('moved', { root, data: `${place.data}-away` });
    renameSync(`${place.data}-away`, place.data);
    assert.deepEqual(inspectOwnDataFolder(place, env), { state: 'ours', id });
  });

  test("a data folder is refused as a copy in its own place, with a made-up id, and with another's id", () => {
    const id = claimDataFolder(place, env);
    cpSync(place.data, `${place.data}-copy`, { recursive: true });
    renameSync(place.data, `${place.data}-away`);
    renameSync(`${place.data}-copy`, place.data);
    refuses('moved');
    for (const text of [
      '0'.repeat(32),
      '../../../etc/passwd',
      `${id}\n${id}`,
      '',
      id.toUpperCase(),
      `${id} `,
    ]) {
      writeFileSync(join(place.data, 'id'), text, { mode: 0o600 });
      assert.throws(
        () => inspectOwnDataFolder(place, env),
        { code: 'data_folder_unknown' },
        JSON.stringify(text),
      );
    }
  });

  test('a data folder is refused behind a link within the workspace, at any depth', () => {
    const elsewhere = join(folder, 'elsewhere');
    mkdirSync(join(elsewhere, 'state'), { recursive: true });
    mkdirSync(join(root, 'build'));
    symlinkSync(elsewhere, join(root, 'linked'));
    symlinkSync(elsewhere, join(root, 'build', 'linked'));
    for (const data of ['linked/state', 'build/linked/state', 'linked/new/state'])
      assert.throws(() => claimDataFolder({ root, data: join(root, data) }, env), reasonIs('link'), data);
    assert.deepEqual(readdirSync(elsewhere), ['state']);
    assert.deepEqual(readdirSync(join(elsewhere, 'state')), []);
    rmSync(elsewhere, { recursive: true });
  });

  test('a record that is not a plain file of this user is ignored', () => {
    const id = claimDataFolder(place, env);
    const file = join(env.SVC_HOME, 'data-folders', `${id}.json`);
    const text = readFileSync(file, 'utf8');
    for (const bad of ['{', 'null', '[]', text.replace(id, '0'.repeat(32))]) {
      writeFileSync(file, bad);
      refuses('not_recorded');
    }
    renameSync(file, `${file}.kept`);
    writeFileSync(`${file}.kept`, text);
    symlinkSync(`${file}.kept`, file);
    assert.throws(() => inspectOwnDataFolder(place, env), { code: 'storage_unsafe' });
    assert.equal(existsSync(join(place.data, 'svc.db')), false);
  });
});
