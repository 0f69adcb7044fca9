import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { findOpenings } from '../../../engine/core/platform/linux/sandbox/probe.ts';
import { makeSandboxed } from '../../support/agents/sandboxed.ts';
import { attempts, impossible, said } from '../../support/agents/strict.ts';
import { asUsers, hostile } from '../../support/hostile.ts';

const skip = impossible;

/** Opens for writing and writes nothing: `<>` neither truncates the file nor sets a value. */
const opened = (path: string): string => `exec 9<> ${path}`;

for (const user of asUsers()) {
  hostile(
    {
      attacker: 'worker',
      tries: 'write kernel.core_pattern and other switches of the kernel',
      lite: 'not stopped',
      strict: 'refused',
    },
    async (t) => {
      const here = await makeSandboxed(user);
      t.after(here.repository.remove);
      const before = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
      const accounts = statSync('/etc/passwd').ino;
      const log = await here.run(
        [
          attempts({
            'write its worktree': 'echo x > here.txt',
            core_pattern: opened('/proc/sys/kernel/core_pattern'),
            'core_pattern, by another way': opened('/proc/self/root/proc/sys/kernel/core_pattern'),
            'core_pattern, of the first process': opened('/proc/1/root/proc/sys/kernel/core_pattern'),
            modprobe: opened('/proc/sys/kernel/modprobe'),
            'any switch':
              'find /proc/sys -type f -writable 2> /dev/null | grep -v "^/proc/sys/\\(net\\|user\\)/" | grep .',
            'sysrq-trigger': opened('/proc/sysrq-trigger'),
            'an interrupt': opened('/proc/irq/default_smp_affinity'),
            'any file of the kernel':
              'for file in /proc/*; do if [ -f $file ] && [ -w $file ]; then exit 0; fi; done; exit 1',
            'any file of /sys': 'find /sys -type f -writable 2> /dev/null | grep -m1 .',
            'the groups of processes':
              'mkdir /sys/fs/cgroup/svc-test || mkdir /sys/fs/cgroup/unified/svc-test',
            'make it writable': 'mount -o remount,rw /proc/sys',
            'take the mount away': 'umount /proc/sys',
            'mount another /proc': 'mkdir p && mount -t proc proc p',
          }),
          'id -u; id -un || true',
        ].join('\n'),
      );
      assert.deepEqual(said(log, 'CAN'), ['write its worktree'], log);
      assert.equal(readFileSync('/proc/sys/kernel/core_pattern', 'utf8'), before);
      if (!user.isRoot) return;
      assert.match(log, /^[1-9]\d*$/m);
      // A new account, as other tests create, replaces the file over which the name is mounted.
      if (statSync('/etc/passwd').ino === accounts) assert.match(log, /^[1-9]\d*\nworker$/m);
    },
    { skip },
  );

  hostile(
    {
      attacker: 'worker',
      tries: 'create user namespaces to reach more of the kernel',
      lite: 'not stopped',
      strict: 'refused with bubblewrap 0.8',
    },
    async (t) => {
      const here = await makeSandboxed(user);
      t.after(here.repository.remove);
      const log = await here.run(
        attempts({
          'a namespace of users': 'unshare -U true',
          'with rights over mounts': 'unshare -Urm true',
          'of the network': 'unshare -Urn true',
          'a sandbox in the sandbox': 'bwrap --unshare-user --ro-bind / / true',
          'allow it again': 'echo 100 > /proc/sys/user/max_user_namespaces',
        }),
      );
      assert.deepEqual(said(log, 'CAN'), [], log);
    },
    {
      skip:
        skip ??
        (execFileSync('bwrap', ['--help'], { encoding: 'utf8' }).includes('--disable-userns')
          ? null
          : 'this bubblewrap has no --disable-userns'),
    },
  );
}

hostile(
  {
    attacker: 'worker',
    tries: 'use a sandbox that is open unnoticed',
    lite: 'n/a',
    strict: 'refused before the run',
  },
  () => {
    const mount = (id: number, parent: number, path: string, options: string): string =>
      `mount ${id} ${parent} 0:1 / ${path} ${options} - ext4 /dev/x rw`;
    const shut = [mount(1, 1, '/', 'ro'), mount(2, 1, '/proc', 'rw'), mount(3, 2, '/proc/sys', 'ro')];
    const openOf = (...lines: string[]): string[] =>
      findOpenings([...shut, ...lines].join('\n'), { places: [{ path: '/w', show: 'write' }] });
    assert.deepEqual(openOf(mount(4, 1, '/w', 'rw'), mount(5, 4, '/w/in', 'rw')), []);
    assert.deepEqual(openOf('open /proc/sys/kernel/core_pattern'), [
      '/proc/sys/kernel/core_pattern is writable',
    ]);
    assert.deepEqual(openOf(mount(4, 1, '/sys/fs/cgroup', 'rw')), ['/sys/fs/cgroup is mounted writable']);
    assert.deepEqual(openOf(mount(4, 1, '/sys\\040x', 'rw')), ['/sys x is mounted writable']);
    // A mount that another one covers cannot be reached.
    assert.deepEqual(openOf(mount(4, 1, '/sys', 'rw'), mount(5, 4, '/sys', 'ro')), []);
    assert.deepEqual(openOf(mount(4, 1, '/a/b', 'rw'), mount(5, 1, '/a', 'ro')), []);
    assert.deepEqual(openOf('seen /x/svc.db'), ['/x/svc.db is visible']);
    assert.equal(findOpenings('', { places: [] }).length, 1);
  },
);
