import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import {
  createGit,
  type GuardedGit,
} from '../../../../../../engine/workers/runner/worktrees/git/create-git.ts';
import { isRunning } from '../../../../../support/processes/processes.ts';
import { until } from '../../../../../support/wait.ts';
import {
  gitEnvironment,
  makeRepository,
  type TestRepository,
} from '../../../../../support/workspaces/git.ts';

let repository: TestRepository;
let access: GuardedGit;
beforeEach(() => {
  repository = makeRepository();
  access = createGit({ env: gitEnvironment(), agentsDir: null });
});
afterEach(() => {
  access.close();
  repository.remove();
});

const common = () => join(repository.root, '.git');
const head = () => repository.git('rev-parse', 'HEAD');
const read = (id: string) => access.git.readCommit(common(), id);

/** Lists processes that read commits of the repository. */
const listReaders = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const isOurs = readFileSync(`/proc/${pid}/environ`, 'utf8')
          .split('\0')
          .includes(`GIT_DIR=${common()}`);
        return isOurs && isRunning(pid);
      } catch {
        return false;
      }
    });

describe('reading commits with one process', () => {
  test('settings that a worker wrote are overridden after a question, in the repository and in its git folder', async () => {
    const { programs } = access;
    await programs.rememberPrograms(repository.root, { isQuiet: true });
    await read(head());
    repository.git('config', 'core.fileMode', 'false');
    repository.git('config', 'core.fsmonitor', '/tmp/program');
    await read(head());
    for (const folder of [common(), repository.root]) {
      const { settings } = await programs.findOverrides(folder);
      const sorted = settings.map((each) => each.join('=')).sort();
      assert.deepEqual(sorted, ['core.filemode=true', 'core.fsmonitor=false'], folder);
    }
  });

  test('many questions at the same time are answered by one process, each with its own commit', async () => {
    const ids = [head(), ...Array.from({ length: 20 }, (_, at) => repository.commit({ 'a.txt': `${at}\n` }))];
    const found = await Promise.all(ids.map(read));
    const expected = ids.map((id, at) => ({
      tree: repository.git('rev-parse', `${id}^{tree}`),
      parents: at === 0 ? [] : [ids[at - 1]],
    }));
    assert.deepEqual(found, expected);
    assert.equal(listReaders().length, 1);
  });

  test('a missing object, a blob and an invalid id are not commits, and the next answer is right', async () => {
    const blob = repository.git('rev-parse', 'HEAD:README.md');
    const answers = await Promise.all(['0'.repeat(40), blob, 'HEAD', head()].map(read));
    assert.deepEqual(answers.slice(0, 3), [null, null, null]);
    assert.equal(answers[3]?.tree, repository.git('rev-parse', 'HEAD^{tree}'));
  });

  test('commits that are made and packed later are found', async () => {
    await read(head());
    const next = repository.commit({ 'a.txt': 'a\n' });
    assert.equal((await read(next))?.parents.length, 1);
    repository.git('repack', '-a', '-d', '--quiet');
    repository.git('prune-packed', '--quiet');
    assert.equal((await read(next))?.parents.length, 1);
  });

  test('a killed process is replaced at the next question', async () => {
    await read(head());
    const [pid = 0] = listReaders();
    process.kill(pid, 'SIGKILL');
    await until(() => !isRunning(pid));
    await until(() => read(head()), 'a new process');
    assert.equal(listReaders().length, 1);
  });

  test('a question to a stopped process has no answer when it is killed', async () => {
    await read(head());
    const [pid = 0] = listReaders();
    process.kill(pid, 'SIGSTOP');
    const answer = read(head());
    process.kill(pid, 'SIGKILL');
    assert.equal(await answer, null);
  });

  test('a repository that took the place of another has none of its commits', async () => {
    const former = head();
    assert.notEqual(await read(former), null);
    rmSync(common(), { recursive: true });
    repository.git('init', '--quiet', '--initial-branch=main');
    const next = repository.commit({ 'b.txt': 'b\n' });
    assert.equal(await read(former), null);
    assert.equal((await read(next))?.parents.length, 0);
    await until(() => listReaders().length === 1, 'the end of the former reader');
  });

  test('no process is left when its owner closes, ends by itself or is killed', async () => {
    await read(head());
    access.close();
    await until(() => listReaders().length === 0);

    const module = new URL(
      '../../../../../../engine/workers/runner/worktrees/git/create-git.js',
      import.meta.url,
    );
    const program = join(repository.folder, 'owner.mjs');
    writeFileSync(
      program,
      `const { createGit } = await import(${JSON.stringify(module)});
const { git } = createGit({ env: process.env, agentsDir: null });
const found = await git.readCommit(${JSON.stringify(common())}, ${JSON.stringify(head())});
console.log(found.tree);
if (process.argv[2] === 'stay') setInterval(() => undefined, 1000);
`,
    );
    // It ends although a process waits for its next question.
    const byItself = execFile(process.execPath, [program], { env: gitEnvironment() });
    assert.deepEqual(await once(byItself, 'exit'), [0, null]);
    await until(() => listReaders().length === 0);

    const killed = spawn(process.execPath, [program, 'stay'], { env: gitEnvironment() });
    await once(killed.stdout, 'data');
    assert.equal(listReaders().length, 1);
    killed.kill('SIGKILL');
    await until(() => listReaders().length === 0);
  });
});
