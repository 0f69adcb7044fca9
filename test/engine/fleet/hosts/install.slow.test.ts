import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { SvcError } from '../../../../engine/core/base/errors.ts';
import { findOnPath } from '../../../../engine/core/base/find-program.ts';
import { version } from '../../../../engine/core/base/own-package.ts';
import {
  type HostAddress,
  type HostFacts,
  inspectHost,
  installProgram,
  removeProgram,
  runOnHost,
} from '../../../../engine/fleet/hosts/index.ts';
import { NO_SSHD, startTestHost, type TestHost } from '../../../support/sshd.ts';
import { until } from '../../../support/wait.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

const options = { environment: process.env };
const BUSYBOX = findOnPath('busybox', process.env) ?? '';
const NO_BUSYBOX = BUSYBOX === '' ? 'busybox is not installed' : false;
const ownNode = { path: process.execPath, version: process.versions.node };

const programsOf = (home: string): string => join(home, '.local/share/svc/runner/programs');
const list = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

/** A separate home on this machine, without ssh in between. */
function makeHome(variables: Record<string, string> = {}): { home: string; address: HostAddress } {
  const home = temporaryFolder('svc-home-');
  const words = Object.entries({ HOME: home, ...variables }).map(([name, value]) => `${name}=${value}`);
  return { home, address: { host: 'here', via: `env -u XDG_DATA_HOME ${words.join(' ')}` } };
}

const fails =
  (code: string, message: RegExp) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof SvcError, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, message);
    return true;
  };

/** Mounts a file system of that size; null if that is not permitted. */
function mountSmall(t: TestContext, folder: string, size: string): string | null {
  mkdirSync(folder, { recursive: true });
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'svc-test', folder]);
  if (status !== 0) return String(stderr);
  t.after(() => void execFileSync('umount', ['-l', folder]));
  return null;
}

describe('a copy of this program', () => {
  let facts: HostFacts;
  before(async () => {
    const found = await inspectHost(makeHome().address, { agents: [] }, options);
    facts = { ...found, svc: null, node: ownNode };
  });

  async function startHost(t: TestContext): Promise<TestHost> {
    const host = await startTestHost();
    t.after(() => host.stop());
    return host;
  }

  it('runs there with the carried Node, and is sent once', { skip: NO_SSHD }, async (t) => {
    const host = await startHost(t);
    const foreign = { ...facts, node: { path: '/usr/bin/node', version: '20.1.0' } };
    const first = await installProgram(host.address, foreign, options);
    assert.equal(first.isNew, true);
    assert.ok(first.sentBytes > 1_000_000);
    assert.equal(dirname(first.folder), programsOf(host.home));
    const run = await runOnHost(host.address, `${first.command} --version`, options);
    assert.equal(run.stdout, `${version}\n`);
    assert.match(first.command, /^'\S+\/bin\/node' '\S+\/dist\/bin\/svc\.js'$/);
    const again = await installProgram(host.address, foreign, options);
    assert.deepEqual(again, { ...first, sentBytes: 0, isNew: false });
    assert.deepEqual(list(programsOf(host.home)), [basename(first.folder)]);
    // Nothing else was changed; the run above keeps its compiled code.
    assert.deepEqual(list(host.home).sort(), ['.cache', '.local']);
    assert.equal(execFileSync('stat', ['-c', '%a', first.folder], { encoding: 'utf8' }).trim(), '700');
  });

  it('loads everything that is not bundled, with Node of the host', async () => {
    const { address, home } = makeHome();
    const { command, folder } = await installProgram(address, facts, options);
    assert.ok(command.startsWith(`'${process.execPath}' `));
    assert.equal(existsSync(join(folder, 'bin/node')), false);
    const notBundled = /NOT_BUNDLED = \[(.*)\]/.exec(readFileSync('.ci/bundle.js', 'utf8'))?.[1] ?? '';
    const names = [...notBundled.matchAll(/'([^']+)'/g)].map(([, name]) => name);
    assert.ok(names.length > 2);
    const load = `for (const name of ${JSON.stringify(names)}) require(name)`;
    execFileSync(process.execPath, ['-e', load], { cwd: folder, env: { PATH: '/bin', HOME: home } });
    assert.deepEqual(list(home), ['.local']);
  });

  it('is packed and unpacked by tar of busybox too', { skip: NO_BUSYBOX }, async () => {
    const { address, folder: bin } = { ...makeHome(), folder: temporaryFolder('svc-tar-') };
    symlinkSync(BUSYBOX, join(bin, 'tar'));
    const environment = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) };
    const { folder, isNew } = await installProgram(address, facts, { environment });
    assert.equal(isNew, true);
    assert.ok(existsSync(join(folder, 'dist/bin/svc.js')));
  });

  it('two installations at once both succeed', async () => {
    const { address, home } = makeHome();
    const both = await Promise.all([1, 2].map(() => installProgram(address, facts, options)));
    assert.deepEqual(both.map(({ isNew }) => isNew).sort(), [false, true]);
    assert.deepEqual(list(programsOf(home)), [basename(both[0]!.folder)]);
  });

  it('a copy that is cut leaves nothing, and the next one is whole', { skip: NO_SSHD }, async (t) => {
    const host = await startHost(t);
    const cut = new AbortController();
    const install = installProgram(host.address, facts, { ...options, signal: cut.signal });
    const programs = programsOf(host.home);
    await until(() => list(programs).some((name) => name.startsWith('.new-')), 'the copy');
    cut.abort();
    await assert.rejects(install, fails('cancelled', /box/));
    await until(() => list(programs).length === 0, 'the removal of the cut copy');
    assert.equal((await installProgram(host.address, facts, options)).isNew, true);
  });

  it('a copy whose remote side is killed is cleaned by the next one', async () => {
    const { address, home } = makeHome();
    const programs = programsOf(home);
    const install = installProgram(address, facts, options);
    const copy = await until(() => list(programs).find((name) => name.startsWith('.new-')), 'the copy');
    process.kill(Number(copy.split('-')[3]), 'SIGKILL');
    await assert.rejects(install, fails('runner_unreachable', /ended before its answer/));
    const { folder } = await installProgram(address, facts, options);
    assert.deepEqual(list(programs), [basename(folder)]);
  });

  it('a copy of another machine with the same home is left alone', async () => {
    const { address, home } = makeHome();
    const other = '.new-00000000-1-1-1';
    mkdirSync(join(programsOf(home), other), { recursive: true });
    const { folder } = await installProgram(address, facts, options);
    assert.deepEqual(list(programsOf(home)).sort(), [other, basename(folder)]);
  });

  it('a damaged installation is replaced, and another version stays', async () => {
    const { address, home } = makeHome();
    const other = join(programsOf(home), '0.0.1-abc');
    mkdirSync(other, { recursive: true });
    const { folder } = await installProgram(address, facts, options);
    writeFileSync(join(folder, 'dist/bin/svc.js'), 'process.exit(1)');
    const again = await installProgram(address, facts, options);
    assert.deepEqual([again.isNew, again.folder], [true, folder]);
    assert.deepEqual(list(programsOf(home)).sort(), ['0.0.1-abc', basename(folder)]);
  });

  it('a full disk is noticed before and while sending', async (t) => {
    const data = join(temporaryFolder(), 'small');
    const cannot = mountSmall(t, data, '8m');
    if (cannot !== null) return t.skip(`no mount: ${cannot}`);
    const honest = makeHome({ XDG_DATA_HOME: data });
    await assert.rejects(installProgram(honest.address, facts, options), (error: unknown) => {
      assert.ok(fails('storage_full', /has [0-9] MB free, and svc needs \d+ MB there/)(error));
      const { free_bytes, needed_bytes } = (error as SvcError).data;
      assert.ok(Number(free_bytes) <= 8 * 1024 * 1024 && Number(needed_bytes) > 10_000_000);
      return true;
    });
    // Another program fills the disk in the meantime: df promises too much.
    const bin = join(temporaryFolder(), 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'df'), '#!/bin/sh\necho head\necho x 1 1 999999999 1% /\n');
    chmodSync(join(bin, 'df'), 0o755);
    const late = makeHome({ XDG_DATA_HOME: data, PATH: `${bin}:/usr/bin:/bin` });
    await assert.rejects(installProgram(late.address, facts, options), fails('storage_full', /svc needs/));
    assert.deepEqual(list(join(data, 'svc/runner/programs')), []);
  });

  it('removal takes every version, and nothing else', async () => {
    const { address, home } = makeHome();
    await installProgram(address, facts, options);
    mkdirSync(join(programsOf(home), '0.0.1-abc'));
    const kept = join(home, '.local/share/svc/runner/fleet-1');
    mkdirSync(kept);
    await removeProgram(address, options);
    assert.deepEqual(list(join(home, '.local/share/svc/runner')), ['fleet-1']);
    execFileSync('rmdir', [kept]);
    await removeProgram(address, options);
    assert.deepEqual(list(join(home, '.local/share')), []);
  });

  it('the same version that is there already is used', async () => {
    const { address, home } = makeHome();
    const svc = { path: '/opt/my tools/svc', version };
    const used = await installProgram(
      address,
      { ...facts, system: 'Other', svc, searchPath: '/a:/b' },
      options,
    );
    const command = "env 'PATH=/a:/b' '/opt/my tools/svc'";
    assert.deepEqual(used, { command, folder: '/opt/my tools', sentBytes: 0, isNew: false });
    assert.deepEqual(list(home), []);
  });

  it('another system, processor or C library is refused with what to install', async () => {
    const { address, home } = makeHome();
    for (const [other, message] of [
      [{ system: 'Darwin' }, /its system is Darwin/],
      [{ processor: 'riscv128' }, /its processor is riscv128/],
      [{ libc: facts.libc === 'musl' ? 'glibc' : 'musl' }, /its C library is/],
    ] as const)
      await assert.rejects(installProgram(address, { ...facts, ...other }, options), (error: unknown) => {
        assert.ok(fails('runner_unsupported', message)(error));
        assert.match(String((error as SvcError).hint), new RegExp(`install svc ${version} there yourself`));
        return true;
      });
    assert.deepEqual(list(home), []);
  });

  it('a Node that does not run there is refused, and nothing is left', async () => {
    const { address, home } = makeHome();
    const node = { path: '/bin/false', version: process.versions.node };
    await assert.rejects(
      installProgram(address, { ...facts, node }, options),
      fails('runner_unsupported', /Node does not run there/),
    );
    assert.deepEqual(list(programsOf(home)), []);
  });
});
