import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { findProgram } from '../../../../engine/core/base/find-program.ts';
import { runHere } from '../../../support/workspaces/command-line.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

interface Texts {
  url: string;
  unit: string;
  caddyfile: string;
  script: string;
}

const { PATH } = process.env;
const isInstalled = (name: string): boolean => findProgram(name, { cwd: '/', path: PATH }) !== undefined;
const SYSTEMD = { skip: isInstalled('systemd-analyze') ? false : 'systemd is not installed' };
const CADDY = { skip: isInstalled('caddy') ? false : 'caddy is not installed' };

const cwd = temporaryFolder('install-');
const install = (...args: string[]) =>
  runHere(['server', 'install', ...args], { cwd, env: { HOME: cwd, PATH }, input: '' });

async function print(host: string, data = '/var/lib/svc-server'): Promise<Texts> {
  const ran = await install('--host', host, '--data', data, '--user', 'root', '--json');
  assert.equal(ran.code, 0, ran.stderr);
  return ran.json<Texts>();
}

/** Returns what a program says about a file, with its exit code. */
function check(file: string, text: string, command: (path: string) => string[]): string {
  const folder = temporaryFolder('install-');
  mkdirSync(folder, { recursive: true });
  const path = join(folder, file);
  writeFileSync(path, text);
  const [program = '', ...args] = command(path);
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { PATH, HOME: folder },
  });
  return `${status}\n${stdout}${stderr}`;
}

const verify = (unit: string): string =>
  check('svc-server.service', unit, (path) => ['systemd-analyze', 'verify', path]);

const adapt = (caddyfile: string): string =>
  check('Caddyfile', caddyfile, (path) => ['caddy', 'validate', '--adapter', 'caddyfile', '--config', path]);

describe('svc server install', () => {
  it('the command prints one script with both files, and creates nothing', async () => {
    const { unit, caddyfile, script, url } = await print('svc.example.org');
    assert.equal(url, 'https://svc.example.org');
    assert.ok(script.includes(unit) && script.includes(caddyfile));
    const plain = await install('--host', 'svc.example.org', '--user', 'root');
    assert.equal(plain.stdout, script);
    assert.match(
      check('script', script, (path) => ['sh', '-n', path]),
      /^0\n$/,
    );
    assert.deepEqual(readdirSync(cwd), []);
  });

  it(
    'systemd accepts the unit, also for a folder with spaces, percent and dollar signs',
    SYSTEMD,
    async () => {
      for (const data of ['/var/lib/svc-server', '/srv/my data/50% $HOME %h é']) {
        const { unit } = await print('svc.example.org', data);
        assert.match(verify(unit), /^0\n$/, data);
      }
      const { unit } = await print('svc.example.org');
      assert.doesNotMatch(verify(unit.replace('NoNewPrivileges', 'NoNewPrivilege')), /^0\n$/);
    },
  );

  it('caddy accepts the Caddyfile, for an international name too', CADDY, async () => {
    for (const [name, ascii] of [
      ['svc.example.org', 'svc.example.org'],
      ['SVC.Example.org', 'svc.example.org'],
      ['bücher.example', 'xn--bcher-kva.example'],
      ['localhost', 'localhost'],
    ] as const) {
      const { caddyfile } = await print(name);
      assert.ok(caddyfile.startsWith(`${ascii} {\n`), caddyfile);
      assert.match(adapt(`{\n\tlocal_certs\n\tskip_install_trust\n}\n${caddyfile}`), /^0\n/, name);
    }
  });

  it('a host name that would be more than a name is refused', async () => {
    for (const host of [
      '',
      'https://svc.example.org',
      'svc.example.org:443',
      'svc.example.org/path',
      'svc.example.org {\n respond hi\n}\nx',
      'svc.example.org\n',
      'a b',
      'a,b',
      '{$HOME}',
      '*.example.org',
      '-a.example.org',
      'a..example.org',
      'a_b.example.org',
      '127.0.0.1',
      '0x7f.1',
      '2130706433',
      '[::1]',
      `${'a'.repeat(64)}.example.org`,
      `${'a.'.repeat(130)}org`,
    ]) {
      const { code, stderr, stdout } = await install('--host', host, '--user', 'root');
      assert.equal(code, 2, host);
      assert.equal(stdout, '');
      assert.match(stderr, /invalid host name/, host);
    }
    const { code, stderr } = await install();
    assert.equal(code, 2);
    assert.match(stderr, /svc server install --host svc\.example\.org/);
  });

  it('a folder or user that the unit cannot contain is refused', async () => {
    for (const data of [
      '/srv/a\nUser=root',
      '/srv/a"b',
      "/srv/it's",
      '/srv/a\\b',
      '/',
      '',
      '/tmp/svc',
      '/var/tmp/svc',
    ]) {
      const { code, stderr } = await install('--host', 'a.example', '--data', data, '--user', 'root');
      assert.equal(code, 2, data);
      assert.match(stderr, /--data/, data);
    }
    const long = await install('--host', 'a.example', '--data', `/srv/${'x'.repeat(100)}`, '--user', 'root');
    assert.match(long.stderr, /too long/);
    for (const user of ['a b', 'root\nx', '', '-x', 'a;b']) {
      const { code, stderr } = await install('--host', 'a.example', '--user', user);
      assert.equal(code, 2, user);
      assert.match(stderr, /invalid user name/, user);
    }
  });
});
