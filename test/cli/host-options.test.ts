import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { HOST_OPTIONS } from '../../cli/host-options.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';

it('a program re-executes itself in the same process once, with the same arguments and the options of a host', async () => {
  const module = fileURLToPath(new URL('../../cli/host-options.js', import.meta.url));
  const file = join(temporaryFolder(), 'program.mjs');
  writeFileSync(
    file,
    `import { continueWithHostOptions } from ${JSON.stringify(module)};
    process.stdout.write('.');
    continueWithHostOptions();
    const { pid, execArgv, argv, env } = process;
    console.log(JSON.stringify({ pid, execArgv, words: argv.slice(2), mark: env.MARK, collects: typeof gc }));`,
  );
  const words = ['server', 'serve', '--addr', '127.0.0.1:0', 'two words', ''];
  const child = spawn(process.execPath, ['--no-deprecation', file, ...words], {
    env: { ...process.env, MARK: 'kept' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  assert.ok(printed.startsWith('..{'), 'it was started twice');
  assert.deepEqual(JSON.parse(printed.slice(2)), {
    pid: child.pid,
    execArgv: ['--no-deprecation', ...HOST_OPTIONS],
    words,
    mark: 'kept',
    collects: 'function',
  });
});
