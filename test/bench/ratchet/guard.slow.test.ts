import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { withStrace } from '../../support/processes/file-calls.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

const RUN = fileURLToPath(new URL('../run.js', import.meta.url));
const PLANTS = new URL('./plant-regressions.js', import.meta.url).href;
const OPERATIONS = ['POST /task', 'task_list', 'msg_inbox', 'verify_status'];

interface Guarded {
  code: number;
  /** Its report on each operation, by its name. */
  lines: Map<string, string>;
  errors: string;
}

const guard = (env: NodeJS.ProcessEnv = {}): Promise<Guarded> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [RUN, '--guard', ...OPERATIONS],
      { env: { ...process.env, ...env } },
      (error, stdout, stderr) => {
        const lines = stdout.split('\n').flatMap((line): [string, string][] => {
          const [, verdict = '', name = '', text = ''] = /^(\w+) +(.+?)(?:: (.*))?$/.exec(line) ?? [];
          return name === '' ? [] : [[name, `${verdict} ${text}`]];
        });
        const code = error === null ? 0 : Number(error.code);
        resolve({ code, lines: new Map(lines), errors: stderr });
      },
    );
  });

describe('the guard of speed', withStrace, () => {
  test('a search of PATH, a start of git, a statement per row and a second commit are each caught', async () => {
    const { code, lines, errors } = await guard({ NODE_OPTIONS: `--import=${PLANTS}` });
    assert.equal(code, 1, errors);
    assert.match(lines.get('task_list') ?? '', /^worse .*\bfiles \d/);
    assert.match(lines.get('verify_status') ?? '', /^worse .*\bprocesses 1 \(recorded 0\)/);
    assert.match(lines.get('msg_inbox') ?? '', /^worse .*\bstatements \d/);
    assert.match(lines.get('POST /task') ?? '', /^worse .*\bsyncs 2 \(recorded 1\)/);
  });

  test('the operations pass as they are, also on a machine that is busy', async () => {
    const busy = Array.from(
      { length: availableParallelism() },
      (): ChildProcess => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
    );
    try {
      const { code, lines, errors } = await guard();
      assert.deepEqual([...lines.keys()].sort(), [...OPERATIONS].sort(), errors);
      assert.equal(code, 0, [...lines].join('\n'));
    } finally {
      for (const each of busy) each.kill('SIGKILL');
    }
  });

  test('without strace only the SQL statements are counted, and the guard says so', async () => {
    const folder = temporaryFolder();
    for (const name of ['git', 'true', 'sh']) symlinkSync(`/usr/bin/${name}`, join(folder, name));
    const { code, errors } = await guard({ PATH: folder });
    assert.match(errors, /only SQL statements are counted, since strace is not installed/);
    assert.equal(code, 0, errors);
  });
});
