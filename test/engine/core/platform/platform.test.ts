import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LONGEST_SOCKET_PATH } from '../../../../engine/core/base/paths.ts';
import { listCapabilities } from '../../../../engine/core/platform/capabilities.ts';
import { darwin } from '../../../../engine/core/platform/darwin/index.ts';
import { linux } from '../../../../engine/core/platform/linux/index.ts';
import { createPsTable } from '../../../../engine/core/platform/ps-table.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

/** Puts programs that print these texts before those of the machine. */
function usePrograms(t: { after(end: () => void): void }, programs: Record<string, string>): void {
  const folder = temporaryFolder();
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  const before = process.env.PATH;
  process.env.PATH = [folder, before].join(delimiter);
  t.after(() => {
    process.env.PATH = before;
  });
}

// As `ps` of macOS prints it: its manual, and transcripts in public bug reports.
const PS_LINES = `    1     0     1      0 Ss   Sat Nov 28 08:00:01 2026
  612     1   612      0 S    Sat Nov 28 08:05:17 2026
  700   612   612      0 Z+   Mon Nov 30 09:10:11 2026`;

describe('the process table by ps', () => {
  test('ps lists every process, and one that is gone differs from one that cannot be read', async (t) => {
    usePrograms(t, {
      ps: `case "$*" in *-axo*) cat <<'END'\n${PS_LINES}\nEND\n;; *"-p 612") sed -n 2p <<'END'\n${PS_LINES}\nEND\n;; *"-p 5") exit 1 ;; *) echo broken >&2; exit 2 ;; esac`,
    });
    const table = createPsTable();
    const entries = (await table.list()) ?? [];
    assert.deepEqual(
      entries.map(({ pid, ppid, zombie }) => [pid, ppid, zombie]),
      [
        [1, 0, false],
        [612, 1, false],
        [700, 612, true],
      ],
    );
    assert.deepEqual(table.listPids(), [1, 612, 700]);
    assert.deepEqual(table.read(612), entries[1]);
    assert.equal(entries[1]?.start, String(Date.parse('Sat Nov 28 08:05:17 2026') / 1000));
    assert.deepEqual([table.read(5), table.read(6)], ['gone', 'unknown']);
  });

  test('ps shows a variable behind the arguments, and none of another user', (t) => {
    usePrograms(t, {
      ps: `case "$*" in *"-Eww"*"-p 612") echo '/usr/local/bin/node agent.js SVC_RUN_ID_OLD=1 PATH=/bin SVC_RUN_ID=r-7 SHELL=/bin/zsh' ;; *"-Eww"*) echo '/sbin/launchd' ;; esac`,
    });
    const table = createPsTable();
    assert.equal(table.readVariable(612, 'SVC_RUN_ID'), 'r-7');
    assert.equal(table.readVariable(1, 'SVC_RUN_ID'), null);
  });

  test('an unreadable table is null, not empty', async (t) => {
    usePrograms(t, { ps: 'exit 1', lsof: 'exit 1' });
    const table = createPsTable();
    assert.deepEqual([await table.list(), table.listPids(), table.readFolders()], [null, null, null]);
  });

  test('lsof shows the folders of processes', (t) => {
    usePrograms(t, { lsof: `printf 'p612\\nfcwd\\nn/Users/ann/my shop\\np700\\nfcwd\\nn/\\n'` });
    const table = createPsTable();
    assert.deepEqual(
      table.readFolders(),
      new Map([
        [612, '/Users/ann/my shop'],
        [700, '/'],
      ]),
    );
    assert.equal(table.readFolder(612), '/Users/ann/my shop');
  });
});

test('a session that ps shows as an address, as older kernels do, identifies nothing', (t) => {
  const line = '  612     1   612 ffffff8031b2c6e0 S    Sat Nov 28 08:05:17 2026';
  usePrograms(t, { ps: `echo '${line}'` });
  const entry = createPsTable().read(612);
  assert.deepEqual(typeof entry === 'object' && [entry.pid, entry.sid], [612, 0]);
});

test('macOS is named by its own version, and by that of its kernel without sw_vers', (t) => {
  // As `sw_vers -productVersion` prints it: its manual.
  usePrograms(t, { sw_vers: `[ "$*" = -productVersion ] && echo 15.1` });
  assert.equal(darwin.readVersion(), 'macOS 15.1');
  usePrograms(t, { sw_vers: 'exit 1' });
  assert.match(darwin.readVersion(), /^darwin \d/);
});

test('macOS finds the owners of a port and of a connection by lsof', async (t) => {
  usePrograms(t, {
    lsof: `case "$*" in *LISTEN*) printf 'p612\\nf12\\nn127.0.0.1:4000\\n' ;; *) printf 'p612\\nf13\\nn127.0.0.1:4000->127.0.0.1:50001\\np700\\nf9\\nn127.0.0.1:50001->127.0.0.1:4000\\np701\\nf9\\nn[::1]:50001->[::1]:4000\\n' ;; esac`,
  });
  assert.deepEqual(await darwin.sockets.findPortOwners(4000), [612]);
  const ends = { remotePort: 50001, localPort: 4000 };
  const find = (remoteAddress: string, localAddress: string) =>
    darwin.sockets.findConnectionOwners({ ...ends, remoteAddress, localAddress });
  assert.deepEqual(await find('127.0.0.1', '127.0.0.1'), [700]);
  assert.deepEqual(await find('::ffff:127.0.0.1', '::ffff:127.0.0.1'), [700]);
  assert.deepEqual(await find('::1', '::1'), [701]);
  assert.deepEqual(await find('127.0.0.2', '127.0.0.1'), []);
});

test('a Windows drive is a network file system in WSL only, and NFS is one everywhere', () => {
  assert.equal(linux.findNetworkFileSystem(0x6969), 'NFS');
  assert.equal(linux.findNetworkFileSystem(0xef53), null);
});

test('a socket path of the longest length can be bound', async () => {
  const folder = temporaryFolder();
  const bind = (length: number): Promise<boolean> =>
    new Promise((done) => {
      const path = join(folder, 's'.repeat(length - folder.length - 1));
      const server = createServer();
      server.once('error', () => done(false));
      server.listen(path, () => server.close(() => done(true)));
    });
  assert.equal(await bind(LONGEST_SOCKET_PATH), true);
});

test('every capability names its way, or what is different without it', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'bin'));
  const capabilities = await listCapabilities({ PATH: join(folder, 'bin') });
  for (const { name, way, otherwise } of capabilities) assert.ok(way !== null || otherwise !== '', name);
  const names = capabilities.filter(({ way }) => way === null).map(({ name }) => name);
  assert.ok(names.includes('browser') && names.includes('desktop notice'), names.join(', '));
});

test('the rights that a container lacks are named, and one that cannot be tried is not called missing', async (t) => {
  const readRights = async (path: string | undefined) => {
    const [, ...rights] = await linux.tryRights(path);
    return Object.fromEntries(rights.map(({ name, way }) => [name, way]));
  };
  assert.deepEqual(await readRights('/nonexistent'), {
    'user namespaces': 'not tried: unshare is not on PATH',
  });
  usePrograms(t, { unshare: 'exit 0' });
  assert.deepEqual(await readRights(process.env.PATH), { 'user namespaces': 'allowed' });
  usePrograms(t, { unshare: 'case "$*" in *--mount-proc*) exit 1 ;; esac' });
  assert.deepEqual(await readRights(process.env.PATH), {
    'user namespaces': 'allowed',
    'a new /proc': null,
  });
  usePrograms(t, { unshare: 'echo "unshare: Operation not permitted" >&2; exit 1' });
  assert.deepEqual(await readRights(process.env.PATH), { 'user namespaces': null });
});

test('a user who may not create cgroups finds that in the list', {
  skip: process.platform === 'linux' && process.getuid?.() === 0 ? false : 'needs root of Linux',
}, async () => {
  const module = fileURLToPath(new URL('../../../../engine/core/platform/linux/index.js', import.meta.url));
  const script = `require(${JSON.stringify(module)}).linux.tryRights(process.env.PATH).then((rights) => console.log(JSON.stringify(rights)))`;
  const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], {
    uid: 65534,
    gid: 65534,
    encoding: 'utf8',
  });
  assert.match(stdout, /"name":"cgroups","way":null/, stderr);
});

test('a temporary folder that nothing can be written to ends no check', async (t) => {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = '/nonexistent';
  t.after(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  });
  const capabilities = await listCapabilities({});
  assert.equal(capabilities.find(({ name }) => name === 'folder exchange')?.way, null);
});
