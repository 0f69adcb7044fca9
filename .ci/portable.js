// Runs tests as on a system that is not Linux, as far as that can be had here: without /proc and /sys, with a `ps` and
// an `lsof` that print as those of macOS do, with its limit for the paths of sockets, and with the tools of busybox
// instead of GNU's. Needs the right to mount: `npm test -- --portable [part of a path]...`.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The parts of the suite that use the platform, and nothing that only Linux has. */
const PORTABLE = [
  'cli/commands/daily',
  'cli/main-job',
  'engine/board/decisions',
  'engine/board/locks',
  'engine/board/tasks',
  'engine/bus',
  'engine/config',
  'engine/core',
  'engine/notify',
  'engine/storage',
];

const folder = mkdtempSync(join(tmpdir(), 'svc-portable-'));
const mount = join(folder, 'processes');
const bin = join(folder, 'bin');
const tools = join(folder, 'tools');
mkdirSync(mount);
mkdirSync(bin);
mkdirSync(tools);
// Other users run them too.
chmodSync(folder, 0o755);
for (const program of ['ps', 'lsof']) {
  const script = join(ROOT, 'fixtures/portable/bsd-programs.js');
  writeFileSync(
    join(bin, program),
    `#!/bin/sh\nexec '${process.execPath}' '${script}' '${mount}' ${program} "$@"\n`,
  );
  chmodSync(join(bin, program), 0o755);
}
// The tools of busybox know no option of GNU alone.
const hasBusybox = spawnSync('busybox', ['--install', '-s', tools]).status === 0;
if (!hasBusybox) console.error('portable.js: busybox is not installed');
const wanted = process.argv.slice(2).filter((word) => word !== '--portable');
const prepare = `mount --make-rprivate / && mount -t proc proc "$1" && mount -t tmpfs none /sys && umount -l /proc && shift && exec "$@"`;
const command = [process.execPath, join(ROOT, '.ci/test.js'), ...(wanted.length > 0 ? wanted : PORTABLE)];
/** Runs a command where /proc and /sys are empty. */
const runThere = (words, options) =>
  spawnSync('unshare', ['--mount', 'sh', '-c', prepare, 'sh', mount, ...words], options);
try {
  if (runThere(['true'], { stdio: 'ignore' }).status === 0) {
    const env = {
      ...process.env,
      PATH: [bin, tools, process.env.PATH].join(delimiter),
      NODE_OPTIONS: `--require=${join(ROOT, 'fixtures/portable/short-sockets.cjs')}`,
    };
    process.exitCode = runThere(command, { stdio: 'inherit', env }).status ?? 1;
  } else console.error('portable.js: no test ran: this user may not mount');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
