import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { readDaemonRecord } from '../../../engine/core/workspace/daemon-record.ts';
import {
  asUsers,
  folderOf,
  giveFolderTo,
  hostile,
  ordinaryUser,
  runAs,
  type TestUser,
} from '../../support/hostile.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';
import { makeWorkspace, SVC } from '../../support/workspaces/workspace.ts';

const BIN = dirname(SVC);
const TOP = join(BIN, '../..');
const neighbour: TestUser = { label: 'a neighbour', name: '', uid: 65534, gid: 65534, isRoot: false };
const skip = ordinaryUser() === null ? 'only root can make another user' : null;
/** The first program file that svc loads after it has chosen a cache. */
const TARGET = 'base.js';

/** An installed svc, in a folder whose path the neighbour knows. */
function installCopy(): string {
  const top = temporaryFolder('svc-installed-');
  chmodSync(top, 0o755);
  cpSync(BIN, join(top, 'dist/bin'), { recursive: true });
  cpSync(join(TOP, 'package.json'), join(top, 'package.json'));
  symlinkSync(join(TOP, 'node_modules'), join(top, 'node_modules'));
  return join(top, 'dist/bin');
}

/** Command lines that start in each way that keeps its own compiled code, without an engine. */
const STARTS = [['--version'], ['task', 'list'], ['hook', 'pre-write'], ['mcp']] as const;

/**
 * Fills `cache` with compiled code that writes `marker`. Replaces the source for a moment, as an attacker does at the
 * same path in a mount namespace.
 */
function plantCompiledCode(bin: string, cache: string, marker: string): void {
  const file = join(bin, TARGET);
  const source = readFileSync(file, 'utf8');
  const statement = `require('fs').appendFileSync(${JSON.stringify(marker)}, 'ran');`;
  const comment = [...source.matchAll(/\/\*\*[\s\S]*?\*\//g)]
    .map(([text]) => text)
    .find((text) => text.length > statement.length);
  assert.ok(comment !== undefined, 'a comment makes room for the statement');
  const evil = source.replace(comment, () => statement.padEnd(comment.length));
  assert.equal(evil.length, source.length, 'V8 compares only the lengths');
  mkdirSync(cache, { mode: 0o700 });
  const start = (words: readonly string[]) =>
    spawnSync(process.execPath, [join(bin, 'svc.js'), ...words], {
      cwd: '/',
      env: { PATH: process.env.PATH, HOME: '/', NODE_COMPILE_CACHE: cache },
      input: '',
    });
  writeFileSync(file, evil);
  for (const words of STARTS) start(words);
  writeFileSync(file, source);
  for (const words of STARTS) {
    rmSync(marker);
    start(words);
    assert.ok(existsSync(marker), `a trusted cache runs the planted code of svc ${words[0]}`);
  }
  writeFileSync(marker, '');
}

hostile(
  {
    attacker: 'neighbour',
    tries: 'plant compiled code in a shared temporary folder for the next svc to run',
    lite: 'not read: compiled code is kept in the user’s own cache folder',
    strict: 'not read: compiled code is kept in the user’s own cache folder',
  },
  async () => {
    for (const victim of asUsers()) {
      const bin = installCopy();
      const common = temporaryFolder('svc-common-');
      const marker = join(common, 'marker');
      const home = folderOf(victim);
      plantCompiledCode(bin, join(common, 'node-compile-cache'), marker);
      giveFolderTo(common, neighbour);
      chmodSync(common, 0o1777);
      chmodSync(marker, 0o666);
      const env = { PATH: process.env.PATH, HOME: home, TMPDIR: common };
      for (const args of [...STARTS, ['server', 'serve', '--help']])
        await runAs(victim, [process.execPath, join(bin, 'svc.js'), ...args], { cwd: home, env });
      assert.equal(readFileSync(marker, 'utf8'), '', `${victim.label}: the planted code must not run`);
      const own = join(home, '.cache/svc/compile-cache');
      assert.equal(statSync(own).mode & 0o777, 0o700);
      assert.ok(readdirSync(own).length > 0, 'svc stores its own compiled code there');
    }
  },
  { skip },
);

hostile(
  {
    attacker: 'neighbour',
    tries: 'own, write or redirect the folder of compiled code',
    lite: 'not used, and no code is kept',
    strict: 'not used, and no code is kept',
  },
  async () => {
    const victim = ordinaryUser() as TestUser;
    const bin = installCopy();
    for (const trap of ['is theirs', 'can be written by all', 'is a link', 'lies below theirs'] as const) {
      const home = folderOf(victim);
      const common = temporaryFolder('svc-common-');
      chmodSync(common, 0o1777);
      const marker = join(common, 'marker');
      const planted = join(common, 'planted');
      plantCompiledCode(bin, planted, marker);
      chmodSync(marker, 0o666);
      const own = join(home, '.cache/svc/compile-cache');
      mkdirSync(dirname(own), { recursive: true });
      if (trap === 'is a link') symlinkSync(planted, own);
      else renameSync(planted, own);
      giveFolderTo(home, victim);
      if (trap === 'is theirs') giveFolderTo(own, neighbour);
      if (trap === 'is a link') giveFolderTo(planted, neighbour);
      if (trap === 'can be written by all') chmodSync(own, 0o777);
      if (trap === 'lies below theirs') chmodSync(join(home, '.cache'), 0o777);
      const env = { PATH: process.env.PATH, HOME: home };
      const ended = await runAs(victim, [process.execPath, join(bin, 'svc.js'), '--version'], {
        cwd: home,
        env,
      });
      assert.equal(ended.code, 0, ended.stderr);
      assert.equal(readFileSync(marker, 'utf8'), '', `the planted code must not run: the folder ${trap}`);
    }
  },
  { skip },
);

hostile(
  {
    attacker: 'neighbour',
    tries: 'reach the engine through a NODE_COMPILE_CACHE that others can write to',
    lite: 'removed from the environment of everything that svc starts',
    strict: 'removed from the environment of everything that svc starts',
  },
  async () => {
    const common = temporaryFolder('svc-common-');
    chmodSync(common, 0o1777);
    const ws = await makeWorkspace({ user: ordinaryUser() as TestUser });
    try {
      const shared = join(common, 'cache');
      mkdirSync(shared);
      chmodSync(shared, 0o777);
      ws.env.NODE_COMPILE_CACHE = shared;
      const up = await ws.program(['up']);
      assert.equal(up.code, 0, up.stderr);
      const record = readDaemonRecord(join(ws.root, '.svc'));
      assert.ok(record?.supervisor);
      for (const pid of [record.pid, record.supervisor.pid]) {
        const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
        assert.deepEqual(
          environment.filter((each) => each.startsWith('NODE_COMPILE_CACHE=')),
          [],
        );
      }
    } finally {
      await ws.close();
    }
  },
  { skip },
);
