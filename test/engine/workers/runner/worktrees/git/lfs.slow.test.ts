import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { EngineClient } from '../../../../../../engine/index.ts';
import { impossible, makeStrict } from '../../../../../support/agents/strict.ts';
import { runGit } from '../../../../../support/workspaces/git.ts';
import { makeWorkspace, type TestWorkspace } from '../../../../../support/workspaces/workspace.ts';

function findMissingTool(): string | false {
  try {
    execFileSync('git', ['lfs', 'version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'git-lfs is not installed';
  }
}
const skip = findMissingTool();
if (skip) console.error(`NOT TESTED, large files: ${skip}`);

describe('files of Git LFS', { skip }, () => {
  let ws: TestWorkspace;
  let client: EngineClient;
  let env: NodeJS.ProcessEnv;
  let origin: string;
  let called: string;
  before(async () => {
    ws = await makeWorkspace({ hosted: true });
    const { folder, root } = ws.repository;
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    called = join(folder, 'called');
    writeFileSync(join(bin, 'gh'), `#!/bin/sh\ntouch ${called}\necho https://github.example/o/r/pull/7\n`);
    chmodSync(join(bin, 'gh'), 0o755);
    env = { ...ws.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
    origin = join(folder, 'origin.git');
    runGit(folder, 'init', '-q', '--bare', origin);
    runGit(root, 'remote', 'add', 'origin', origin);
    runGit(root, 'lfs', 'install', '--local');
    ws.repository.commit({
      '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
      'a.bin': 'one\n',
    });
    client = await ws.connect();
  });
  after(() => ws.close());

  async function run(...lines: string[]): Promise<string> {
    const body = ['x', ...lines.map((line) => `#agent: ${line}`)].join('\n');
    const { task_id: id } = await client.call('task.add', { title: 'w', body });
    return (await client.call('task.run', { id, wait: true })).session_id as string;
  }
  const objects = (folder: string): string[] => globSync('lfs/objects/??/??/*', { cwd: folder });
  const pr = (...args: string[]) => ws.svc(['worktree', 'pr', ...args], { env });

  test('objects are pushed before the branch, and the command is shown', async () => {
    const session = await run('edit b.bin large');
    const printed = await pr(session, '--print');
    assert.match(printed.stdout, /^cd .*\ngit lfs push origin [0-9a-f]{40}\ngit .*push .*\ngh pr create/);
    const opened = await pr(session, '--yes');
    assert.equal(opened.code, 0, opened.stderr);
    assert.match(runGit(origin, 'for-each-ref'), new RegExp(`svc/${session}`));
    const [, id] = /oid sha256:(\w+)/.exec(runGit(origin, 'show', `svc/${session}:b.bin`)) ?? [];
    assert.ok(id !== undefined && objects(origin).some((path) => path.endsWith(id)));
  });

  test('nothing is pushed without all objects, and no pull request is opened', async () => {
    const session = await run('edit c.bin lost');
    const pointer = runGit(ws.root, 'show', `svc/${session}:c.bin`);
    const [, id = ''] = /oid sha256:(\w+)/.exec(pointer) ?? [];
    const [path = ''] = objects(join(ws.root, '.git')).filter((each) => each.endsWith(id));
    renameSync(join(ws.root, '.git', path), join(ws.repository.folder, 'kept-object'));
    execFileSync('rm', ['-f', called]);
    const refused = await pr(session, '--yes');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /git lfs exited with code/);
    assert.equal(existsSync(called), false);
    assert.doesNotMatch(runGit(origin, 'for-each-ref'), new RegExp(`svc/${session}$`, 'm'));

    // A promotion writes the available files and names the missing ones.
    const promoted = await ws.svc(['worktree', 'promote', session]);
    assert.equal(promoted.code, 0, promoted.stderr);
    assert.match(
      promoted.stdout,
      /missing +c\.bin: the content of this file is not on this machine; git lfs pull/,
    );
    renameSync(join(ws.repository.folder, 'kept-object'), join(ws.root, '.git', path));
  });

  test('a promotion and its undo write content into the checkout, not pointers', async () => {
    const session = await run('run printf "two\\n" > a.bin', 'edit d.bin new');
    const promoted = await client.call('worktree.promote', { session });
    assert.deepEqual(promoted.missing_lfs, []);
    const read = (name: string): string => readFileSync(join(ws.root, name), 'utf8');
    assert.match(read('a.bin'), /two/);
    assert.match(read('d.bin'), /new/);
    assert.equal(runGit(ws.root, 'status', '--porcelain', '--untracked-files=no'), '');
    const undone = await client.call('worktree.undo', { session });
    assert.deepEqual(undone.missing_lfs, []);
    assert.equal(read('a.bin'), 'one\n');
    assert.equal(runGit(ws.root, 'status', '--porcelain', '--untracked-files=no'), '');
  });
});

describe('files of Git LFS of a confined worker', { skip: skip || impossible || false }, () => {
  let ws: Awaited<ReturnType<typeof makeStrict>>;
  let client: EngineClient;
  before(async () => {
    ws = await makeStrict();
    runGit(ws.root, 'lfs', 'install', '--local');
    ws.repository.commit({
      '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n',
      'a.bin': 'one\n',
    });
    client = await ws.connect();
  });
  after(() => ws.close());

  const findObject = (text: string): string => {
    const id = createHash('sha256').update(text).digest('hex');
    return join(ws.root, '.git', 'lfs', 'objects', id.slice(0, 2), id.slice(2, 4), id);
  };
  async function run(...lines: string[]): Promise<string> {
    const body = ['x', ...lines.map((line) => `#agent: run ${line}`)].join('\n');
    const { task_id: id } = await client.call('task.add', { title: 'w', body });
    return (await client.call('task.run', { id, wait: true })).session_id as string;
  }

  test('a worker commits the files, and their content is in the repository after its run', async () => {
    const session = await run(
      'git lfs checkout a.bin && cat a.bin > seen.txt',
      'printf "two\\n" > b.bin && git add . && git commit -qm work',
      'printf "staged\\n" > c.bin && git add c.bin',
    );
    assert.equal(runGit(ws.root, 'show', `svc/${session}:seen.txt`), 'one');
    assert.equal(readFileSync(findObject('two\n'), 'utf8'), 'two\n');
    assert.equal(readFileSync(findObject('staged\n'), 'utf8'), 'staged\n');
  });

  test('a worker cannot change the content of others, forge a name, or redirect the engine by a link', async () => {
    const secret = 'private';
    const forged = createHash('sha256').update('forged').digest('hex');
    const linked = createHash('sha256').update(secret).digest('hex');
    const own = createHash('sha256').update('one\n').digest('hex');
    const place = (id: string) => `"$LFS/objects/${id.slice(0, 2)}/${id.slice(2, 4)}"`;
    await run(
      [
        'LFS=$(git rev-parse --path-format=absolute --git-common-dir)/lfs',
        `mkdir -p ${place(forged)} ${place(linked)}`,
        `echo other > ${place(forged)}/${forged}`,
        `ln -s ${join(ws.home, 'notes.txt')} ${place(linked)}/${linked}`,
        `mkdir -p ${place(own)} && echo changed > ${place(own)}/${own}`,
        'git commit -q --allow-empty -m work',
      ].join('; '),
    );
    assert.equal(existsSync(findObject('forged')), false);
    assert.equal(existsSync(findObject(secret)), false);
    assert.equal(readFileSync(findObject('one\n'), 'utf8'), 'one\n');
  });
});
