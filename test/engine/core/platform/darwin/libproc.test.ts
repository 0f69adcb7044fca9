import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createLibprocTable, type ProcessCalls } from '../../../../../engine/core/platform/darwin/libproc.ts';
import type { ProcessEntry, ProcessTable } from '../../../../../engine/core/platform/index.ts';

const BEGAN = Math.round(Date.now() / 1000 - process.uptime());
const ESRCH = 3;
const EPERM = 1;

interface Fake {
  ppid: number;
  pgid?: number;
  start?: number;
  isZombie?: boolean;
  folder?: string;
  arguments?: Buffer;
  memory?: number;
}

/** Writes the structures of these processes as macOS does; every other pid is `missing`. */
function fakeCalls(processes: Record<number, Fake>, missing = ESRCH): ProcessCalls {
  return {
    readInfo(pid, { flavor, bytes }) {
      const found = processes[pid];
      if (found === undefined) return null;
      const info = Buffer.alloc(bytes);
      if (flavor === 3) {
        info.writeUInt32LE(found.isZombie ? 5 : 2, 4);
        info.writeInt32LE(pid, 12);
        info.writeInt32LE(found.ppid, 16);
        info.writeInt32LE(found.pgid ?? pid, 100);
        info.writeBigUInt64LE(BigInt(found.start ?? BEGAN), 120);
        info.writeBigUInt64LE(999_999n, 128);
      } else if (flavor === 4) info.writeBigUInt64LE(BigInt(found.memory ?? 0), 8);
      else info.write(`${found.folder ?? ''}\0left over`, 152);
      return info;
    },
    readArguments: (pid) => processes[pid]?.arguments ?? null,
    listPids: () => Object.keys(processes).map(Number),
    findSession: (pid) => (pid === 700 ? 612 : -1),
    errno: () => missing,
  };
}

const OWN: Fake = { ppid: process.ppid };

/** Writes what KERN_PROCARGS2 returns. */
function writeArguments(args: string[], environment: string[]): Buffer {
  const count = Buffer.alloc(4);
  count.writeInt32LE(args.length);
  return Buffer.concat([
    count,
    Buffer.from(['/usr/local/bin/node\0\0\0\0', ...args.map((each) => `${each}\0`)].join('')),
    Buffer.from([...environment.map((each) => `${each}\0`), '\0stack of the kernel\0'].join('')),
  ]);
}

const BY_PS: ProcessEntry = { pid: 1, ppid: 0, pgid: 1, sid: 0, zombie: false, start: '1' };
const byPs = {
  read: () => BY_PS,
  listPids: () => [1],
  readVariable: () => 'of ps',
  readVariables: () => new Map([[1, 'of ps']]),
  readArguments: () => ['ps'],
  readFolder: () => '/of/ps',
  readFolders: () => new Map([[1, '/of/ps']]),
  readMemory: () => 7,
} as unknown as ProcessTable;

describe('the process table by libproc', () => {
  test('a process is read with its session and in whole seconds, and an ended one is a zombie or gone', () => {
    const table = createLibprocTable(byPs, () =>
      fakeCalls({
        [process.pid]: OWN,
        700: { ppid: 612, pgid: 650, start: 1_795_000_000 },
        701: { ppid: 612, isZombie: true },
      }),
    );
    assert.deepEqual(table.read(700), {
      pid: 700,
      ppid: 612,
      pgid: 650,
      sid: 612,
      zombie: false,
      start: '1795000000',
    });
    const ended = table.read(701);
    assert.deepEqual(typeof ended === 'object' && [ended.zombie, ended.sid], [true, 0]);
    assert.equal(table.read(702), 'gone');
  });

  test('a process of another user is read by ps', () => {
    const table = createLibprocTable(byPs, () => fakeCalls({ [process.pid]: OWN }, EPERM));
    assert.deepEqual(table.read(1), BY_PS);
    assert.deepEqual(table.readArguments(1), ['ps']);
    assert.equal(table.readVariable(1, 'HOME'), null);
  });

  test('variables and arguments keep their spaces, and what follows the environment is not read', () => {
    const environment = ['PATH=/bin:/usr/bin', 'SVC_RUN_ID=r 7', 'EMPTY=', 'TITLE=a SVC_ROLE=chair'];
    const table = createLibprocTable(byPs, () =>
      fakeCalls({
        [process.pid]: OWN,
        700: { ppid: 1, arguments: writeArguments(['node', 'my agent.js', ''], environment) },
        701: { ppid: 1, arguments: writeArguments(['sh'], []) },
        702: { ppid: 1, arguments: Buffer.alloc(2) },
      }),
    );
    assert.deepEqual(table.readArguments(700), ['node', 'my agent.js', '']);
    assert.equal(table.readVariable(700, 'SVC_RUN_ID'), 'r 7');
    assert.equal(table.readVariable(700, 'EMPTY'), '');
    assert.equal(table.readVariable(700, 'SVC_ROLE'), null);
    assert.equal(table.readVariable(701, 'stack of the kernel'), null);
    assert.deepEqual(table.readVariables([700, 701, 702], 'SVC_RUN_ID'), new Map([[700, 'r 7']]));
  });

  test('folders and memory are read for each process that may be inspected', () => {
    const table = createLibprocTable(byPs, () =>
      fakeCalls({
        [process.pid]: { ...OWN, folder: '/Users/ann/my shop' },
        700: { ppid: 1, folder: '', memory: 2 ** 33 },
      }),
    );
    assert.deepEqual(table.readFolders(), new Map([[process.pid, '/Users/ann/my shop']]));
    assert.equal(table.readFolder(700), null);
    assert.equal(table.readMemory(700), 2 ** 33);
    assert.deepEqual(
      table.listPids(),
      [700, process.pid].sort((one, other) => one - other),
    );
  });

  for (const [what, load] of [
    ['does not load', () => null],
    ['names another parent', () => fakeCalls({ [process.pid]: { ppid: process.ppid + 1 } })],
    ['names another start', () => fakeCalls({ [process.pid]: { ...OWN, start: BEGAN - 60 } })],
    ['does not know this process', () => fakeCalls({})],
  ] as const)
    test(`ps answers everything if libproc ${what}`, () => {
      const table = createLibprocTable(byPs, load);
      assert.deepEqual(
        [table.read(700), table.listPids(), table.readVariable(700, 'x'), table.readVariables([1], 'x')],
        [BY_PS, [1], 'of ps', new Map([[1, 'of ps']])],
      );
      assert.deepEqual(
        [table.readArguments(700), table.readFolder(700), table.readFolders(), table.readMemory(700)],
        [['ps'], '/of/ps', new Map([[1, '/of/ps']]), 7],
      );
    });

  test('on a system without libproc the calls are not found, and ps answers', () => {
    if (process.platform === 'darwin') return;
    assert.deepEqual(createLibprocTable(byPs).read(process.pid), BY_PS);
  });
});
