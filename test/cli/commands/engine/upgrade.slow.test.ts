import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { version } from '../../../../engine/core/base/own-package.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

const run = promisify(execFile);
const PACKAGE = join(dirname(SVC), '../..');

/** Copies the program as another version; returns its entry. */
function copyProgram(as: string): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'dist'));
  cpSync(join(PACKAGE, 'dist/bin'), join(folder, 'dist/bin'), { recursive: true });
  for (const name of ['node_modules', 'dist/grammars', 'dist/words'])
    symlinkSync(join(PACKAGE, name), join(folder, name));
  const own = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as object;
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...own, version: as }));
  return join(folder, 'dist/bin/svc.js');
}

describe('svc upgrade --check', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
  });
  after(() => ws?.close());

  const check = async (program: string) => {
    const command = [program, 'upgrade', '--check'];
    return run(process.execPath, command, { cwd: ws.root, env: ws.env }).then(
      (done) => ({ ...done, code: 0 }),
      (error: { code: number; stdout: string; stderr: string }) => error,
    );
  };

  test('an engine of the same version needs nothing, and none runs before the first', async () => {
    assert.match((await check(SVC)).stdout, /no engine runs/);
    await ws.svc(['up']);
    const { code, stdout } = await check(SVC);
    assert.equal(code, 0);
    assert.equal(stdout, `this is svc ${version}\nall running engines have this version\n`);
  });

  test('an older engine and a newer one are named, each with what to restart, and work continues', async () => {
    const newer = await check(copyProgram('99.0.0'));
    assert.equal(newer.code, 1);
    assert.ok(newer.stdout.includes(`(${ws.root}): its engine is ${version}`), newer.stdout);
    assert.match(newer.stderr, /svc down, then svc up in the folder of an older engine/);
    const older = copyProgram('0.0.1');
    const { code, stderr } = await check(older);
    assert.equal(code, 1);
    assert.match(stderr, /an engine is newer than this program/);
    const list = await run(process.execPath, [older, 'task', 'list'], { cwd: ws.root, env: ws.env });
    assert.match(list.stderr + list.stdout, /no tasks|^$/m);
  });
});
