import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { machine, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { SvcError } from '../../../../engine/core/base/errors.ts';
import { type HostAddress, inspectHost } from '../../../../engine/fleet/hosts/index.ts';
import {
  missingShell,
  NO_SSHD,
  startTestHost,
  type TestHost,
  type TestHostOptions,
} from '../../../support/sshd.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

const options = { environment: process.env };
const nothing = { agents: [] };

async function start(t: TestContext, how: TestHostOptions = {}): Promise<TestHost> {
  const host = await startTestHost(how);
  t.after(() => host.stop());
  return host;
}

function writeHome({ home }: TestHost, file: string, content: string, mode = 0o600): string {
  const path = join(home, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

/** Installs Node as a version manager does: a shim in a folder that only a start file puts on PATH. */
function installNode(host: TestHost): string {
  const shims = join(host.home, '.manager/shims');
  mkdirSync(shims, { recursive: true });
  writeHome(host, '.manager/shims/node', `#!/bin/sh\nexec ${process.execPath} "$@"\n`, 0o755);
  return shims;
}

const NOISE = 'echo "Welcome, 3 updates"; printf "no newline"; echo warn >&2;';

/** Start files of a shell that set PATH, some only in an interactive shell, and talk. */
const SHELLS: { shell: string; file: string; write(shims: string): string }[] = [
  { shell: '/bin/bash', file: '.profile', write: (shims) => `${NOISE}\nexport PATH="${shims}:$PATH"\n` },
  {
    shell: '/bin/bash',
    file: '.bashrc',
    // As Debian's own: nothing below for other shells than interactive ones. `bash -l` reads it from .profile.
    write: (shims) =>
      `${NOISE}\nread -r answer\ncase $- in *i*) ;; *) return;; esac\nread -r more\nexport PATH="${shims}:$PATH"\n`,
  },
  {
    shell: '/usr/bin/fish',
    file: '.config/fish/config.fish',
    write: (shims) => `echo Hello\nread line\nfish_add_path ${shims}\n`,
  },
  {
    shell: '/usr/bin/zsh',
    file: '.zshrc',
    write: (shims) => `${NOISE}\nread line\nexport PATH="${shims}:$PATH"\n`,
  },
  { shell: '/usr/bin/tcsh', file: '.tcshrc', write: (shims) => `echo Hello\nsetenv PATH "${shims}:$PATH"\n` },
  { shell: '/usr/bin/tcsh', file: '.login', write: (shims) => `echo Hello\nsetenv PATH "${shims}:$PATH"\n` },
  { shell: '/bin/dash', file: '.profile', write: (shims) => `${NOISE}\nexport PATH="${shims}:$PATH"\n` },
];

describe('a machine that is inspected by ssh', { skip: NO_SSHD }, () => {
  for (const { shell, file, write } of SHELLS)
    it(`Node of a version manager is found by ${file} of ${shell}`, {
      skip: missingShell(shell),
    }, async (t) => {
      const host = await start(t, { shell });
      writeHome(host, file, write(installNode(host)));
      if (file === '.bashrc') writeHome(host, '.profile', '. "$HOME/.bashrc"\n');
      const facts = await inspectHost(host.address, nothing, options);
      assert.deepEqual(facts.node, { path: process.execPath, version: process.versions.node });
      assert.deepEqual([facts.shell, facts.home], [shell, host.home]);
    });

  it('a start file that runs another shell or fails is survived', async (t) => {
    const host = await start(t);
    writeHome(host, '.bashrc', 'case $- in *i*) exec cat ;; esac\n');
    writeHome(host, '.profile', `. "$HOME/.bashrc"\nexport PATH="${installNode(host)}:$PATH"\n`);
    const facts = await inspectHost(host.address, nothing, options);
    assert.equal(facts.node?.path, process.execPath);
    writeHome(host, '.profile', 'exit 3\n');
    const plain = await inspectHost(host.address, nothing, options);
    assert.equal(plain.searchPath, '/usr/local/bin:/usr/bin:/bin');
  });

  it('system, tools, agents and logins are described', async (t) => {
    const host = await start(t);
    const bin = join(host.home, 'bin');
    writeHome(host, '.profile', `export PATH="${bin}:$PATH"\n`);
    const script = (name: string, lines: string) =>
      writeHome(host, `bin/${name}`, `#!/bin/sh\n${lines}\n`, 0o755);
    const one = script('one', 'echo "one 1.2.3 (build)"');
    const two = script('two', 'exit 1');
    const three = script('three', 'cat; echo v3.0');
    const svc = script('svc', 'echo 9.8.7');
    writeHome(host, '.one/auth.json', '{}');
    writeHome(host, '.two/auth.json', '');
    mkdirSync(join(host.home, '.two/oauth'));
    const agents = [
      { name: 'first', program: 'one', loginFiles: ['.one/none', '.one/auth.json'] },
      { name: 'second', program: 'two', loginFiles: ['.two/auth.json', '.two/oauth'] },
      { name: 'third', program: three, loginFiles: [] },
      { name: 'missing', program: 'four', loginFiles: [] },
    ];
    const facts = await inspectHost(host.address, { agents }, options);
    assert.deepEqual(facts.agents, [
      { name: 'first', path: one, version: '1.2.3', loggedIn: true },
      { name: 'second', path: two, version: null, loggedIn: false },
      { name: 'third', path: three, version: '3.0', loggedIn: null },
    ]);
    assert.deepEqual(facts.svc, { path: svc, version: '9.8.7' });
    assert.deepEqual([facts.system, facts.processor], ['Linux', machine()]);
    assert.match(facts.git ?? '', /^\d+\.\d+/);
    assert.ok(facts.cpuCount > 0 && facts.diskFreeBytes !== null && facts.diskFreeBytes > 0);
    assert.ok(Math.abs(facts.memoryBytes - totalmem()) < 1024 * 1024);
  });

  it('another program of the name svc is none of ours', async (t) => {
    const host = await start(t);
    const svc = writeHome(host, 'bin/svc', '#!/bin/sh\necho "svc: fatal: unable to open 1.2.3" >&2\n', 0o755);
    symlinkSync(svc, join(host.home, 'bin/one'));
    writeHome(host, '.profile', `export PATH="${dirname(svc)}:$PATH"\n`);
    assert.equal((await inspectHost(host.address, nothing, options)).svc, null);
  });
});

describe('a machine that lies', () => {
  /** Answers any script with these lines. */
  function answerWith(lines: string): HostAddress {
    const file = join(temporaryFolder('svc-liar-'), 'liar');
    // It has to find both marks in the script, which are written there in two parts.
    writeFileSync(
      file,
      `#!/bin/sh\nwhile read -r line; do case $line in
*"svc-on- "*) echo "svc-on-\${line##* }" ;;
*"svc-end- "*) printf '%b' '${lines.replaceAll('\n', '\\n')}'; set -- $line; printf '\\nsvc-end-%s 0\\n' "$5" ;;
esac; done\n`,
    );
    chmodSync(file, 0o755);
    return { host: 'liar', via: file };
  }
  const whole = `system\tLinux\nprocessor\tx86_64\nhome\t/home/me\nshell\t/bin/sh\nsearchPath\t/bin\nprocessors\t2\nmemoryKilobytes\t9\n`;

  it('an answer of the expected form is believed', async () => {
    const facts = await inspectHost(answerWith(whole), nothing, options);
    assert.deepEqual([facts.home, facts.libc, facts.node, facts.memoryBytes], ['/home/me', null, null, 9216]);
  });

  for (const [what, lines, message] of [
    ['garbage', 'hello', /the line "hello"/],
    ['nothing', '', /"" as system/],
    ['the same fact twice', `${whole}home\t/x`, /the line "home /],
    ['an unknown fact', `${whole}other\tx`, /an unknown fact/],
    ['a property of objects', `${whole}__proto__\tx`, /an unknown fact/],
    ['a relative home', whole.replace('/home/me', 'home'), /"home" as home/],
    ['a path with an escape sequence', whole.replace('/home/me', '/\x1b[2J'), /"\/\\x1b\[2J" as home/],
    ['a huge number', `${whole}freeKilobytes\t${'9'.repeat(40)}`, /as freeKilobytes/],
    ['an agent that was not asked for', `${whole}agent\t7\tyes\t1\t/bin/x`, /an unknown agent 7/],
    ['too many lines', 'x\ty\n'.repeat(600), /too many lines/],
  ] as const)
    it(`${what} gives a clear error`, async () => {
      await assert.rejects(inspectHost(answerWith(lines), nothing, options), (error: unknown) => {
        assert.ok(error instanceof SvcError, String(error));
        assert.equal(error.code, 'runner_unreachable');
        assert.match(error.message, message);
        return true;
      });
    });
});
