import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeKeptFolder } from '../../../../engine/core/base/load-program.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

const LOADER = fileURLToPath(new URL('../../../../engine/core/base/load-program.js', import.meta.url));

describe('a built program', () => {
  const folder = temporaryFolder();
  const cache = temporaryFolder();
  after(() => {
    for (const each of [folder, cache]) rmSync(each, { recursive: true, force: true });
  });
  const kept = makeKeptFolder(cache, folder) ?? assert.fail('the folder can be created');
  writeFileSync(
    join(folder, 'main.js'),
    "const { join } = require('node:path'); const { greet } = require('./words.js');\nexports.said = join(__dirname, greet());",
  );
  const writeWords = (greeting: string) =>
    writeFileSync(join(folder, 'words.js'), `exports.greet = () => '${greeting}'`);

  /** Starts the program in a process, which ends immediately. */
  function start({ build = 'one', place = kept as string | null, kind = 'command' } = {}): string {
    const options = JSON.stringify({ folder, build, kept: place, start: kind });
    const script = `import { loadProgram } from ${JSON.stringify(LOADER)};
      console.log(loadProgram('main.js', ${options}).said);`;
    const args = ['--input-type=module', '-e', script];
    return execFileSync(process.execPath, args, { encoding: 'utf8' }).trim();
  }

  test('the program runs with its other files and packages, and without a folder for compiled code', () => {
    writeWords('hello');
    assert.equal(start({ place: null }), join(folder, 'hello'));
    assert.deepEqual(readdirSync(kept), []);
    assert.equal(start({ place: join(folder, 'missing') }), join(folder, 'hello'));
  });

  test('the compiled code of each kind of start is kept privately, and is run until the build changes', () => {
    writeWords('hello');
    start();
    start({ kind: 'hook' });
    const names = ['command.main.js', 'command.words.js', 'hook.main.js', 'hook.words.js'];
    assert.deepEqual(readdirSync(kept).sort(), names);
    for (const name of names) assert.equal(statSync(join(kept, name)).mode & 0o777, 0o600);
    // Nothing but the identity of the build says that the source has changed.
    writeWords('there');
    assert.equal(start(), join(folder, 'hello'));
    assert.equal(start({ build: 'two' }), join(folder, 'there'));
    assert.equal(start({ build: 'two' }), join(folder, 'there'));
    assert.deepEqual(readdirSync(kept).sort(), names, 'the code of the earlier build is replaced');
  });
});
