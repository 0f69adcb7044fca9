import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { findProgram } from '../../../../../engine/core/base/find-program.ts';
import { readExit, readStarted, SCRIPT } from '../../../../../engine/workers/runner/processes/wrapper.ts';
import { until } from '../../../../support/wait.ts';
import { temporaryFolder } from '../../../../support/workspaces/git.ts';

/** The shells that are /bin/sh somewhere, called as that: Debian's, Alpine's, that of macOS (an older bash) and its zsh. */
const SHELLS = ['dash', 'busybox', 'bash', 'zsh'];

/** Returns a program named `sh` that is this shell; null if it is not installed. */
function linkAsSh(shell: string): string | null {
  const found = findProgram(shell, { cwd: '/', path: process.env.PATH });
  if (found === undefined) return null;
  const sh = join(temporaryFolder(), 'sh');
  symlinkSync(found, sh);
  return sh;
}

describe("a worker's wrapper", () => {
  for (const shell of SHELLS) {
    const sh = linkAsSh(shell);
    const skip = sh === null && `${shell} is not installed`;

    test(`the wrapper records the exit code and starts once under ${shell}`, { skip }, () => {
      const folder = temporaryFolder();
      const words = ['-c', SCRIPT, 'svc-worker', folder, '/bin/sh', '-c', 'printf "%s|" "$@"; exit 7', 'x'];
      const run = () => spawnSync(sh!, [...words, 'a b', '$(c)', '*'], { encoding: 'utf8' });
      const { status, stdout, stderr } = run();
      assert.deepEqual([status, stdout, stderr], [7, 'a b|$(c)|*|', '']);
      assert.deepEqual([readExit(folder), Number.isInteger(readStarted(folder))], [7, true]);
      assert.deepEqual([run().status, readFileSync(join(folder, 'exit'), 'utf8')], [96, '7\n']);
    });

    test(`the wrapper outlives a signal that ends its agent under ${shell}`, { skip }, async () => {
      const folder = temporaryFolder();
      const agent = `trap 'exit 3' TERM; : > "$1"; while :; do sleep 0.05; done`;
      const words = [SCRIPT, 'svc-worker', folder, '/bin/sh', '-c', agent, 'agent', join(folder, 'ready')];
      const child = spawn(sh!, ['-c', ...words], { detached: true, stdio: 'ignore' });
      const exited = once(child, 'exit');
      await until(() => spawnSync('test', ['-e', join(folder, 'ready')]).status === 0, 'the agent');
      process.kill(-child.pid!, 'SIGTERM');
      assert.deepEqual(await exited, [3, null]);
      assert.equal(readExit(folder), 3);
    });
  }
});
