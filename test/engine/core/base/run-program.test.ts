import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readProgramEnd } from '../../../../engine/core/base/read-program-end.ts';
import {
  type ProgramRun,
  readProgram,
  runProgram,
  runProgramSync,
} from '../../../../engine/core/base/run-program.ts';
import { isRunning } from '../../../support/processes/processes.ts';
import { until } from '../../../support/wait.ts';

const KINDS = {
  waiting: runProgram,
  'at once': async (program: string, args: readonly string[], options?: ProgramRun) =>
    runProgramSync(program, args, options),
};

for (const [kind, run] of Object.entries(KINDS)) {
  const shell = (script: string, options?: ProgramRun) => run('/bin/sh', ['-c', script], options);

  describe(`a helper program, ${kind}`, () => {
    test('the helper program returns its exit code and its output', async () => {
      assert.deepEqual(await shell('echo out; echo err >&2'), {
        exitCode: 0,
        stdout: 'out\n',
        stderr: 'err\n',
        error: null,
      });
      const { exitCode, stdout, stderr, error } = await shell('echo out; echo err >&2; exit 7');
      assert.deepEqual([exitCode, stdout, stderr], [7, 'out\n', 'err\n']);
      assert.ok(error instanceof Error);
    });

    test('the helper program gets its arguments unchanged, its folder and only the given environment', async () => {
      const { stdout } = await run('/bin/sh', ['-c', 'pwd; echo "$1 [$LEFT] [$HOME]"', 'sh', '$(id) *'], {
        cwd: '/',
        env: { LEFT: 'right' },
      });
      assert.equal(stdout, '/\n$(id) * [right] []\n');
    });

    test('the helper program has empty standard input', async () => {
      assert.equal((await shell('cat')).exitCode, 0);
    });

    test('a missing or unstartable helper program is an error result and not an exception', async () => {
      const { exitCode, error } = await run('/none/such', []);
      assert.deepEqual([exitCode, error?.code], [null, 'ENOENT']);
      assert.equal((await run('/bin/sh', ['a\0b'])).exitCode, null);
    });

    test('a helper program is killed when it takes too long or prints too much', async () => {
      const late = await shell('trap "" TERM; exec sleep 600', { timeoutMs: 50 });
      assert.equal(late.exitCode, null);
      assert.ok(late.error);
      const killed = await shell('kill -9 $$');
      assert.equal(killed.exitCode, null);
      assert.ok(killed.error);
      const much = await shell('yes', { mostBytes: 1000 });
      assert.equal(much.exitCode, null);
      assert.ok(much.error);
      assert.ok(much.stdout.length < 1_000_000);
    });
  });
}

test('reading a program rejects with its output', async () => {
  assert.equal(await readProgram('/bin/sh', ['-c', 'echo out']), 'out\n');
  await assert.rejects(readProgram('/bin/sh', ['-c', 'echo no >&2; exit 3']), { code: 3, stderr: 'no\n' });
  await assert.rejects(readProgram('/none/such', []), { code: 'ENOENT' });
});

describe('a helper program of which the end is read', () => {
  const readEnd = (script: string, timeoutMs = 60_000) =>
    readProgramEnd('/bin/sh', ['-c', script], { cwd: '/', env: process.env, timeoutMs, mostBytes: 4096 });
  const readPid = (text: string): number => Number(text.trim().split('\n').at(-1));

  test('the helper program is killed with what it has started when it takes too long', async () => {
    const { exitCode, text } = await readEnd('sleep 600 & echo $!; wait', 200);
    assert.equal(exitCode, null);
    assert.ok(readPid(text) > 0);
    await until(() => !isRunning(readPid(text)), 'the end of its child');
  });

  test('what the helper program leaves behind does not delay its answer', async () => {
    const { exitCode, text } = await readEnd('sleep 600 & echo $!');
    process.kill(readPid(text), 'SIGKILL');
    assert.equal(exitCode, 0);
  });

  test('an unstartable helper program is an error result and not an exception', async () => {
    const { exitCode, error } = await readEnd('a\0b');
    assert.deepEqual([exitCode, error instanceof Error], [null, true]);
  });
});
