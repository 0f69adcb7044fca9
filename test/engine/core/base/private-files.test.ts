import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import {
  appendPrivate,
  makePrivateFolder,
  openPrivate,
  readPrivate,
  replacePrivate,
} from '../../../../engine/core/base/private-files.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

describe('a private file', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'file');
  const precious = join(folder, 'precious');
  beforeEach(() => {
    rmSync(file, { recursive: true, force: true });
    writeFileSync(precious, 'precious');
  });
  after(() => rmSync(folder, { recursive: true }));

  test('a private file is created for this user alone, extended and replaced', () => {
    assert.equal(readPrivate(file, 100), null);
    appendPrivate(file, 'a');
    appendPrivate(file, 'b');
    assert.equal(readPrivate(file, 100), 'ab');
    assert.equal(statSync(file).mode & 0o777, 0o600);
    replacePrivate(file, 'c', { isDurable: true });
    assert.equal(readPrivate(file, 100), 'c');
    assert.throws(() => openPrivate(file, 'new'), { code: 'EEXIST' });
    assert.throws(() => readPrivate(file, 0), { code: 'storage_unsafe' });
  });

  test('a private file is never opened through a link, as a pipe, as a folder, or under two names', () => {
    const shapes: Record<string, () => void> = {
      link: () => symlinkSync(precious, file),
      'link that leads nowhere': () => symlinkSync(join(folder, 'new'), file),
      pipe: () => void execFileSync('mkfifo', [file]),
      folder: () => mkdirSync(file),
      'second name': () => linkSync(precious, file),
    };
    for (const [shape, make] of Object.entries(shapes)) {
      rmSync(file, { recursive: true, force: true });
      make();
      for (const use of ['read', 'change', 'add'] as const)
        assert.throws(() => openPrivate(file, use), { code: 'storage_unsafe' }, `${shape}, ${use}`);
    }
    assert.equal(readFileSync(precious, 'utf8'), 'precious');
    assert.equal(existsSync(join(folder, 'new')), false);
    // Replaces the name, never the link's target.
    rmSync(file);
    symlinkSync(precious, file);
    replacePrivate(file, 'ours');
    assert.equal(readFileSync(precious, 'utf8'), 'precious');
    assert.equal(readPrivate(file, 100), 'ours');
  });

  test("a private file's folders are created step by step, below an existing one", () => {
    const top = join(folder, 'top');
    assert.throws(() => makePrivateFolder(top, join(top, 'a')), { code: 'ENOENT' });
    mkdirSync(top);
    makePrivateFolder(top, join(top, 'a', 'b'));
    assert.equal(statSync(join(top, 'a', 'b')).mode & 0o777, 0o700);
    symlinkSync(folder, join(top, 'link'));
    assert.throws(() => makePrivateFolder(top, join(top, 'link', 'c')), { code: 'storage_unsafe' });
    assert.equal(existsSync(join(folder, 'c')), false);
  });
});
