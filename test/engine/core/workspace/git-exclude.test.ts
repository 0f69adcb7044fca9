import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { configuration, type Engine, openEngine } from '../../../../engine/index.ts';
import { listChangedFiles } from '../../../../engine/workers/runner/worktrees/index.ts';
import {
  gitEnvironment,
  makeRepository,
  openTestGit,
  type TestRepository,
} from '../../../support/workspaces/git.ts';

let repository: TestRepository;
beforeEach(() => {
  repository = makeRepository();
});
afterEach(() => repository.remove());

/** Opens an engine in a folder without `svc init`, and closes it after `look`. */
async function withEngine(
  root: string,
  look: (engine: Engine, exclude: () => string) => unknown = () => {},
  yaml = '',
): Promise<void> {
  const env = { ...gitEnvironment(), SVC_HOME: join(repository.folder, 'home') };
  const file = join(root, 'svc.yaml');
  writeFileSync(file, `workspace: { name: test }\nui: { addr: "127.0.0.1:0" }\n${yaml}`);
  const config = await configuration();
  config.agreeToFile({ file, env });
  const engine = await openEngine({ file, env: { ...env, SVC_CONFIG: file } });
  try {
    const place = (): string =>
      repository.gitIn(root, 'rev-parse', '--path-format=absolute', '--git-path', 'info/exclude');
    await look(engine, () => readFileSync(place(), 'utf8'));
  } finally {
    await engine.close();
  }
}
const listUntracked = (root: string): string =>
  repository.gitIn(root, 'status', '--porcelain', '--untracked-files=all');
const countEntries = (text: string, entry = '.svc/'): number =>
  text.split('\n').filter((line) => line === entry).length;

describe('an engine excludes its data folder from git', () => {
  test('the exclude entry protects the folder from a stash and a clean-up, and from comparisons', async () => {
    const { root } = repository;
    await withEngine(root, async (engine) => {
      assert.equal(listUntracked(root), '?? svc.yaml');
      assert.deepEqual(await listChangedFiles(root, openTestGit(), null), ['svc.yaml']);
      repository.git('add', 'svc.yaml');
      repository.git('commit', '--quiet', '-m', 'workspace');
      repository.write('mine.txt', 'mine\n');
      repository.git('stash', '--include-untracked', '--quiet');
      repository.git('clean', '-fd', '--quiet');
      assert.equal(existsSync(join(root, 'mine.txt')), false);
      assert.equal(existsSync(engine.paths.db), true);
    });
  });

  test('the entry is written once, however often the engine starts, and other lines stay', async () => {
    const { root } = repository;
    repository.write('.git/info/exclude', '# mine\n*.log');
    await withEngine(root, (_, exclude) => assert.equal(exclude(), '# mine\n*.log\n.svc/\n'));
    await withEngine(root, (_, exclude) => assert.equal(exclude(), '# mine\n*.log\n.svc/\n'));
    for (const former of ['.svc', '/.svc/', '/.svc\r', '.svc/ ']) {
      repository.write('.git/info/exclude', `${former}\n`);
      await withEngine(root, (_, exclude) => assert.equal(exclude(), `${former}\n`));
    }
  });

  test('the entry is written in a linked worktree, through the file that all checkouts share', async () => {
    const linked = join(repository.folder, 'linked');
    repository.git('worktree', 'add', '--quiet', linked);
    await withEngine(linked, (_, exclude) => assert.equal(countEntries(exclude()), 1));
    assert.equal(listUntracked(linked), '?? svc.yaml');
  });

  test('the entry is written in a submodule, whose git folder is elsewhere', async () => {
    const outer = join(repository.folder, 'outer');
    mkdirSync(outer);
    repository.gitIn(outer, 'init', '--quiet');
    repository.gitIn(
      outer,
      '-c',
      'protocol.file.allow=always',
      'submodule',
      '--quiet',
      'add',
      repository.root,
      'inner',
    );
    const inner = join(outer, 'inner');
    await withEngine(inner, (_, exclude) => assert.equal(countEntries(exclude()), 1));
    assert.equal(listUntracked(inner), '?? svc.yaml');
    assert.equal(countEntries(readFileSync(join(outer, '.git/modules/inner/info/exclude'), 'utf8')), 1);
  });

  test('the entry is written next to a git folder that has been moved away', async () => {
    const { root } = repository;
    renameSync(join(root, '.git'), join(root, '.bare'));
    writeFileSync(join(root, '.git'), 'gitdir: ./.bare\n');
    await withEngine(root, (_, exclude) => assert.equal(countEntries(exclude()), 1));
  });

  test('the entry is written for a workspace in a folder of the repository', async () => {
    const root = join(repository.root, 'app');
    await withEngine(root, (_, exclude) => assert.equal(countEntries(exclude()), 1));
    assert.equal(listUntracked(repository.root), '?? app/svc.yaml');
  });

  test('the entry is written under any other name, with the separate folders', async () => {
    const { root } = repository;
    const yaml = 'paths: { data: "app/[state] *", worktrees: "trees" }\n';
    await withEngine(
      root,
      (_, exclude) => {
        assert.equal(countEntries(exclude(), '/app/\\[state] \\*/'), 1);
        assert.equal(countEntries(exclude(), '/trees/'), 1);
        repository.write('trees/left.txt', '');
        assert.equal(listUntracked(root), '?? svc.yaml');
      },
      yaml,
    );
    await withEngine(
      root,
      (_, exclude) => assert.equal(countEntries(exclude(), '/app/\\[state] \\*/'), 1),
      yaml,
    );
  });

  test('no entry is written outside any repository', async () => {
    const root = join(repository.folder, 'apart');
    mkdirSync(root);
    await withEngine(root, (engine) => assert.equal(existsSync(engine.paths.db), true));
  });

  for (const [what, spoil] of [
    ['a folder', (file: string) => mkdirSync(file)],
    [
      'no file because its folder is a file',
      (file: string) => {
        rmSync(dirname(file), { recursive: true });
        writeFileSync(dirname(file), '');
      },
    ],
  ] as const)
    test(`the engine starts with a warning where the exclude file is ${what}`, async () => {
      const { root } = repository;
      const file = join(root, '.git/info/exclude');
      rmSync(file, { force: true });
      spoil(file);
      await withEngine(root);
      const log = readFileSync(join(root, '.svc/log/engine.1.log'), 'utf8');
      assert.match(log, /git could not be set to ignore a folder of svc/);
    });
});
