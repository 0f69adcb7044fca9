import assert from 'node:assert/strict';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import { writeFileAtomically } from '../../../../engine/core/base/atomic-file.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

describe('writing a file atomically', () => {
  const top = temporaryFolder();
  const folder = join(top, 'folder');
  const file = join(folder, 'file');
  const other = join(top, 'other');
  const modeOf = (path: string): number => statSync(path).mode & 0o7777;
  beforeEach(() => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    writeFileSync(other, 'precious');
  });
  after(() => rmSync(top, { recursive: true }));

  for (const isDurable of [true, false]) {
    test(`writing creates and replaces the file, durable: ${isDurable}`, () => {
      writeFileAtomically(file, 'one', { isDurable });
      const before = statSync(file).ino;
      writeFileAtomically(file, 'two ö', { isDurable });
      assert.equal(readFileSync(file, 'utf8'), 'two ö');
      assert.notEqual(statSync(file).ino, before);
      assert.deepEqual(readdirSync(folder), ['file']);
    });
  }

  test('the file is private to this user unless another mode is requested', () => {
    writeFileSync(file, '');
    chmodSync(file, 0o666);
    writeFileAtomically(file, '');
    assert.equal(modeOf(file), 0o600);
    const umask = process.umask(0o077);
    try {
      writeFileAtomically(file, '', { mode: 0o755 });
      assert.equal(modeOf(file), 0o700);
      writeFileAtomically(file, '', { mode: 0o755, isModeExact: true });
      assert.equal(modeOf(file), 0o755);
    } finally {
      process.umask(umask);
    }
  });

  test('writing follows neither a link nor a second name', () => {
    symlinkSync(other, file);
    writeFileAtomically(file, 'new');
    assert.equal(lstatSync(file).isSymbolicLink(), false);
    rmSync(file);
    linkSync(other, file);
    writeFileAtomically(file, 'new');
    assert.equal(readFileSync(file, 'utf8'), 'new');
    assert.equal(readFileSync(other, 'utf8'), 'precious');
  });

  test('a failed write leaves nothing behind', () => {
    mkdirSync(join(file, 'full'), { recursive: true });
    assert.throws(() => writeFileAtomically(file, 'new'));
    assert.deepEqual(readdirSync(folder), ['file']);
    assert.throws(() => writeFileAtomically(join(folder, 'none', 'file'), 'new'), { code: 'ENOENT' });
    assert.deepEqual(readdirSync(folder), ['file']);
  });
});
