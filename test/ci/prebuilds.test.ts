import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));

/** The systems that an install must work on without a compiler. */
const SYSTEMS = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'];

test('better-sqlite3 has a built addon for every system, with glibc and with musl', () => {
  const built = readdirSync(join(PROJECT, 'node_modules/better-sqlite3/prebuilds'));
  for (const system of [...SYSTEMS, 'linuxmusl-arm64', 'linuxmusl-x64'])
    assert.ok(built.includes(`${system}.node`), system);
});

test('the lock file has the addon of koffi for every system', () => {
  const { packages } = JSON.parse(readFileSync(join(PROJECT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string; optional?: boolean; os?: string[]; cpu?: string[] }>;
  };
  const { version } = packages['node_modules/koffi'] ?? {};
  for (const system of SYSTEMS) {
    const locked = packages[`node_modules/@koromix/koffi-${system}`];
    assert.deepEqual(
      [locked?.version, locked?.optional, `${locked?.os?.join()}-${locked?.cpu?.join()}`],
      [version, true, system],
    );
  }
});

test('the addon of koffi that was installed for Linux is built for glibc and for musl', {
  skip: process.platform === 'linux' ? false : 'this is not Linux',
}, () => {
  const folder = join(PROJECT, `node_modules/@koromix/koffi-linux-${process.arch}`);
  for (const libc of ['linux', 'musl'])
    assert.ok(existsSync(join(folder, `${libc}_${process.arch}`)), `${libc} on ${process.arch}`);
});

test('no addon for musl needs the C library of GNU', {
  skip: process.platform === 'linux' ? false : 'this is not Linux',
}, () => {
  const koffi = `node_modules/@koromix/koffi-linux-${process.arch}/musl_${process.arch}/koffi.node`;
  const sqlite = ['arm64', 'x64'].map(
    (arch) => `node_modules/better-sqlite3/prebuilds/linuxmusl-${arch}.node`,
  );
  for (const path of [koffi, ...sqlite]) {
    const text = readFileSync(join(PROJECT, path), 'latin1');
    assert.ok(text.includes('libc.musl-'), `${path} names musl`);
    assert.doesNotMatch(text, /\0(?:libc\.so\.6|GLIBC_[\d.]+)\0/, path);
  }
  // An addon for glibc has both names, so this search finds them.
  const other = readFileSync(
    join(PROJECT, `node_modules/better-sqlite3/prebuilds/linux-${process.arch}.node`),
    'latin1',
  );
  assert.match(other, /\0libc\.so\.6\0/);
});
