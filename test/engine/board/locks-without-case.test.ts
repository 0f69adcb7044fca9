import assert from 'node:assert/strict';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { ignoresCase, spellAsListed } from '../../../engine/core/workspace/name-case.ts';
import { makeNoCaseFolder } from '../../support/no-case-folder.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';
import { holdingRig, refusal } from './holding.ts';

const place = makeNoCaseFolder();

describe('locks where case makes no difference', {
  skip: place === null && 'no such file system can be mounted here',
}, () => {
  const root = join(place?.folder ?? '', 'workspace');

  test('a path is the same in any case: an existing one, a new one, and what is in a folder', async (t) => {
    t.after(() => place?.remove());
    mkdirSync(root);
    writeFileSync(join(root, 'readme.md'), '');
    const rig = holdingRig(root);
    t.after(rig.close);
    assert.ok(existsSync(join(root, 'README.md')));
    await rig.acquire('s-1', 'src/New.ts');
    await assert.rejects(rig.acquire('s-2', 'SRC/new.ts'), refusal('lock_held', /src\/New\.ts/));
    await assert.rejects(rig.acquire('s-2', 'Src'), refusal('lock_held'));
    assert.equal(rig.locks.check('s-1', 'src/NEW.ts').lock.path, 'src/New.ts');
    await rig.acquire('s-1', 'SRC/NEW.TS');
    assert.equal(rig.locks.around().length, 1);
    // The file is made, with another spelling than the lock's.
    mkdirSync(join(root, 'Src'));
    writeFileSync(join(root, 'Src', 'NEW.ts'), '');
    await assert.rejects(rig.acquire('s-2', 'src/new.ts'), refusal('lock_held'));
    await rig.acquire('s-2', 'README.md');
    await assert.rejects(rig.acquire('s-1', 'readme.MD'), refusal('lock_held'));
    // A composed letter and its parts.
    await rig.acquire('s-1', 'caf\u00e9.txt');
    await assert.rejects(rig.acquire('s-2', 'cafe\u0301.txt'), refusal('lock_held'));
    await rig.storage.write(() => rig.locks.release('s-1', 'SRC/new.TS', { actor: 'test', via: 'engine' }));
    await rig.acquire('s-2', 'src/new.ts');
  });
});

test('an ordinary folder distinguishes names by case', () => {
  const folder = temporaryFolder();
  assert.equal(ignoresCase(folder), false);
  writeFileSync(join(folder, 'Name'), '');
  assert.equal(ignoresCase(folder), process.platform === 'darwin');
  writeFileSync(join(folder, 'name'), '');
  writeFileSync(join(folder, '1'), '');
  assert.equal(ignoresCase(folder), process.platform === 'darwin');
  assert.equal(spellAsListed(folder, join(folder, 'NAME', 'x')), join(folder, 'Name', 'x'));
});
