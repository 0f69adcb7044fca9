import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createWorktrees } from '../../../engine/workers/runner/worktrees/index.ts';
import { impossible } from '../../support/agents/strict.ts';
import { hostile } from '../../support/hostile.ts';
import { until } from '../../support/wait.ts';
import { gitEnvironment, makeRepository, temporaryFolder } from '../../support/workspaces/git.ts';
import { makeWorkspace } from '../../support/workspaces/workspace.ts';

/** A person's repository, with a worktree whose worker can write every git configuration. */
async function made(t: TestContext) {
  const repository = makeRepository();
  t.after(repository.remove);
  const { root, folder } = repository;
  const home = join(folder, 'person');
  mkdirSync(home);
  const { GIT_CONFIG_GLOBAL: _, ...env } = gitEnvironment({ HOME: home });
  const agentsDir = join(folder, 'agents');
  const open = () => createWorktrees({ env, agentsDir });
  const worktrees = open();
  const marker = join(folder, 'ran');
  const worktree = join(folder, 'worktrees', 's-1');
  /** Does what the engine does before a worker starts. */
  const start = async () => {
    await worktrees.rememberPrograms(root, { isQuiet: true });
    return worktrees.create({
      repositoryPath: root,
      projectPath: root,
      worktreePath: worktree,
      branch: 'svc/s-1',
    });
  };
  return { ...repository, home, open, worktrees, marker, worktree, start };
}

type Made = Awaited<ReturnType<typeof made>>;

/** Does everything that the engine does with a session's work, also after the session was reopened. */
async function doAll({ open, root, worktree, worktrees }: Made) {
  const baseCommit = (await worktrees.findRepository(root)).headCommit ?? '';
  const about = { branch: 'svc/s-1', baseCommit, repository: root };
  for (const engine of [worktrees, open()]) {
    await engine.readStatus({ repository: root });
    await engine.countUncommitted(worktree);
    await (await engine.diffBranch(about)).patch(1e6);
  }
  const end = await worktrees.finish({ ...about, path: worktree, message: 'work in progress' });
  await (await worktrees.diffBranch(about)).patch(1e6);
  await worktrees.tryPromotion({ repository: root, branch: 'svc/s-1', base: 'main' });
  const promoted = await worktrees.promote({
    ...{ repository: root, branch: 'svc/s-1', base: 'main', strategy: 'merge', title: 'merge' },
  });
  return { end, promoted };
}

/** Ways to make git run a program for its caller; `$M` creates the marker. */
const WAYS: Record<string, (here: Made, run: string) => void> = {
  'a filter of the repository': ({ git }, run) => git('config', 'filter.x.clean', run),
  'a filter that is a process, and is wanted': ({ git }, run) => {
    git('config', 'filter.x.process', run);
    git('config', 'filter.x.required', 'true');
  },
  'a filter of the person': ({ home }, run) =>
    writeFileSync(join(home, '.gitconfig'), `[filter "x"]\n\tclean = "${run}"\n\tsmudge = "${run}"\n`),
  'a filter in a file that is included': ({ git, folder }, run) => {
    writeFileSync(join(folder, 'more'), `[filter "x"]\n\tclean = "${run}"\n`);
    git('config', 'include.path', join(folder, 'more'));
  },
  'a filter with a name that has an equals sign': ({ git, worktree }, run) => {
    git('config', 'filter.x=y.clean', run);
    writeFileSync(join(worktree, '.gitattributes'), '* filter=x=y\n');
  },
  'a filter of the worktree': ({ git, gitIn, worktree }, run) => {
    git('config', 'extensions.worktreeConfig', 'true');
    gitIn(worktree, 'config', '--worktree', 'filter.x.clean', run);
  },
  'attributes of its own': ({ git, folder }, run) => {
    writeFileSync(join(folder, 'attributes'), '* filter=z\n');
    git('config', 'core.attributesFile', join(folder, 'attributes'));
    git('config', 'filter.z.clean', run);
  },
  'a driver of merges': ({ git, worktree, root, gitIn }, run) => {
    git('config', 'merge.x.driver', run);
    writeFileSync(join(worktree, '.gitattributes'), '* merge=x\n');
    writeFileSync(join(worktree, 'README.md'), 'one\ntwo\nthree\nworker\n');
    writeFileSync(join(root, '.gitattributes'), '* merge=x\n');
    writeFileSync(join(root, 'README.md'), 'person\none\ntwo\nthree\n');
    gitIn(root, 'add', '.gitattributes', 'README.md');
    gitIn(root, 'commit', '-qm', 'of the person');
  },
  'a watcher of the file system': ({ git }, run) => git('config', 'core.fsmonitor', run),
  'a conversion to text': ({ git, worktree }, run) => {
    git('config', 'diff.x.textconv', run);
    git('config', 'diff.x.command', run);
    git('config', 'diff.external', run);
    writeFileSync(join(worktree, '.gitattributes'), '* diff=x\n');
  },
  'a hook': ({ root, git, folder }, run) => {
    for (const hooks of [join(root, '.git', 'hooks'), join(folder, 'hooks')]) {
      mkdirSync(hooks, { recursive: true });
      for (const name of ['pre-commit', 'post-checkout', 'post-merge', 'reference-transaction'])
        writeFileSync(join(hooks, name), `#!/bin/sh\n${run}\n`, { mode: 0o755 });
    }
    git('config', 'core.hooksPath', join(folder, 'hooks'));
  },
  'a place to fetch from that is a command': ({ git, root }, run) => {
    git('config', 'remote.evil.url', `ext::sh -c ${run.replaceAll(' ', '% ')}`);
    git('config', 'remote.evil.promisor', 'true');
    git('config', 'extensions.partialClone', 'evil');
    git('config', 'core.repositoryFormatVersion', '1');
    git('config', 'protocol.ext.allow', 'always');
    writeFileSync(join(root, '.git', 'refs', 'heads', 'svc', 'gone'), `${'ab'.repeat(20)}\n`);
  },
};

hostile(
  {
    attacker: 'worker',
    tries: 'have the engine’s git run its program through configuration',
    lite: 'not run, and reported',
    strict: 'refused: configurations are read-only',
  },
  async (t) => {
    for (const [what, plant] of Object.entries(WAYS)) {
      const here = await made(t);
      await here.start();
      writeFileSync(join(here.worktree, '.gitattributes'), '* filter=x\n');
      plant(here, `touch ${here.marker}; cat`);
      writeFileSync(join(here.worktree, 'work.txt'), 'work\n');
      const { end, promoted } = await doAll(here).catch((error: unknown) => {
        // A missing object is reported.
        assert.match(String(error), /ab{1}abab|abababab|bad object|missing/, what);
        return { end: null, promoted: null };
      });
      assert.equal(existsSync(here.marker), false, what);
      if (end !== null)
        assert.deepEqual([end.unsafe, end.wip, promoted?.alreadyMerged], [undefined, true, false], what);
      const planted = await here.worktrees.findPlantedSettings(here.worktree).catch(() => null);
      const isHook = what === 'a hook' || what.startsWith('a place');
      if (!isHook) assert.notDeepEqual(planted?.programs ?? [], [], what);
      // The setting is still the worker's when the next one starts.
      await here.open().rememberPrograms(here.root, { isQuiet: true });
      writeFileSync(join(here.worktree, 'more.txt'), 'more\n');
      await here
        .open()
        .countUncommitted(here.worktree)
        .catch(() => undefined);
      assert.equal(existsSync(here.marker), false, `${what}, at the next start`);
    }
  },
);

hostile(
  {
    attacker: 'worker',
    tries: 'remove or replace a person’s own filter',
    lite: 'the person’s filter stays in use',
    strict: 'refused: configurations are read-only',
  },
  async (t) => {
    const here = await made(t);
    const { git, root, worktree, marker } = here;
    here.commit({ '.gitattributes': '*.big filter=big merge=big\n' });
    git('config', 'filter.big.clean', 'sed s/large/pointer/');
    git('config', 'filter.big.smudge', 'cat');
    git('config', 'filter.big.required', 'true');
    await here.start();
    git('config', 'filter.big.clean', `touch ${marker}; cat`);
    writeFileSync(join(worktree, 'a.big'), 'large\n');
    const { end } = await doAll(here);
    assert.deepEqual([end.unsafe, end.wip], [undefined, true]);
    assert.equal(git('cat-file', 'blob', 'main:a.big'), 'pointer');
    assert.equal(existsSync(marker), false);
    assert.deepEqual((await here.worktrees.findPlantedSettings(root)).programs, ['filter.big.clean']);
    // After removing it, people have their own setting back, and what they write then is theirs.
    git('config', 'filter.big.clean', 'sed s/large/other/');
    await here.worktrees.rememberPrograms(root, { isQuiet: true });
    rmSync(join(worktree, 'a.big'));
    writeFileSync(join(worktree, 'b.big'), 'large\n');
    await here.worktrees.finish({
      path: worktree,
      branch: 'svc/s-1',
      baseCommit: end.head ?? '',
      message: 'x',
    });
    assert.equal(git('cat-file', 'blob', 'svc/s-1:b.big'), 'other');
  },
);

hostile(
  {
    attacker: 'worker',
    tries: 'have its program run when code is read: guard check, the graph, snippets, hooks, lists',
    lite: 'not run',
    strict: 'refused: configurations are read-only',
  },
  async () => {
    const plants = {
      'a filter': (run: string) => `git config filter.x.clean '${run}'`,
      'a filter that is a process': (run: string) => `git config filter.x.process '${run}'`,
      'a filter of the person': (run: string) => `git config --global filter.x.clean '${run}'`,
    };
    for (const [what, plant] of Object.entries(plants)) {
      const home = temporaryFolder('svc-person-');
      const ws = await makeWorkspace({ env: { HOME: home, GIT_CONFIG_GLOBAL: join(home, '.gitconfig') } });
      try {
        const { root } = ws;
        ws.repository.commit({
          'src/a.ts': 'export function add(a: number, b: number) {\n  return a + b;\n}\n',
        });
        const marker = join(ws.repository.folder, 'ran');
        const script = [
          `cd ${root}`,
          plant(`touch ${marker}; cat`),
          `echo "* filter=x" > .gitattributes`,
          'echo "export const more = 1;" >> src/a.ts',
        ].join('; ');
        const client = await ws.connect();
        const { task_id } = await client.call('task.add', {
          title: 'w',
          body: `x\n#agent: no-change\n#agent: run ${script}`,
        });
        await client.call('task.run', { id: task_id });
        await until(
          async () => (await client.call('task.show', { id: task_id })).task.status === 'done',
          'the run',
        );
        assert.ok(existsSync(join(root, '.gitattributes')), what);
        for (const args of [
          ['guard', 'check'],
          ['guard', 'check', '--range', 'HEAD~1..HEAD'],
          ['guard', 'check', 'src'],
          ['graph', 'index'],
          ['graph', 'impact'],
          ['graph', 'impact', '--range', 'HEAD~1..HEAD'],
          ['graph', 'search', 'add'],
          ['worktree', 'list'],
          ['worker', 'show', 's-1'],
          ['status'],
          ['doctor'],
        ])
          await ws.program(args);
        assert.equal(existsSync(marker), false, what);
      } finally {
        await ws.close();
      }
    }
  },
);

hostile(
  {
    attacker: 'worker',
    tries: 'change the script in its worktree that a person’s filter or merge driver names',
    lite: 'the script in the person’s checkout runs',
    strict: 'the script in the person’s checkout runs',
  },
  async (t) => {
    const here = await made(t);
    const { git, root, worktree, marker } = here;
    const driver = '#!/bin/sh\n# base ours theirs\ncat "$2" "$3" > "$2.new" && mv "$2.new" "$2"\n';
    here.commit({
      '.gitattributes': '*.big filter=big\n*.mix merge=mix\n',
      'tools/clean.sh': '#!/bin/sh\nsed s/large/pointer/\n',
      'tools/mix.sh': driver,
      'both.mix': 'start\n',
    });
    for (const name of ['clean', 'mix']) chmodSync(join(root, `tools/${name}.sh`), 0o755);
    git('add', '-A');
    git('commit', '-qm', 'scripts that can run');
    git('config', 'filter.big.clean', './tools/clean.sh');
    git('config', 'filter.big.smudge', 'cat');
    git('config', 'filter.big.required', 'true');
    git('config', 'merge.mix.driver', 'tools/mix.sh %O %A %B 100%%');
    await here.start();
    for (const name of ['clean', 'mix'])
      writeFileSync(join(worktree, `tools/${name}.sh`), `#!/bin/sh\ntouch ${marker}\ncat\n`);
    writeFileSync(join(worktree, 'a.big'), 'large\n');
    writeFileSync(join(worktree, 'both.mix'), 'worker\n');
    here.commit({ 'both.mix': 'person\n' });
    const { end, promoted } = await doAll(here);
    assert.deepEqual([end.unsafe, end.wip, promoted.alreadyMerged], [undefined, true, false]);
    assert.equal(existsSync(marker), false);
    assert.equal(git('cat-file', 'blob', 'main:a.big'), 'pointer');
    assert.match(git('cat-file', 'blob', 'main:both.mix'), /person\nworker|worker\nperson/);
  },
);

hostile(
  {
    attacker: 'worker',
    tries: 'escape its sandbox by a filter’s script, at the end of the run or when its branch is read',
    lite: 'n/a',
    strict: 'not run: the script in the person’s checkout runs',
  },
  async () => {
    for (const kind of ['clean', 'smudge', 'process']) {
      const ws = await makeWorkspace({ yaml: 'guard: { profile: strict }\n' });
      try {
        const { root, repository } = ws;
        const marker = join(repository.folder, 'ran');
        repository.commit({
          '.gitattributes': '*.txt filter=x\n',
          'x.sh': '#!/bin/sh\ncat\n',
          'b.txt': 'b\n',
        });
        chmodSync(join(root, 'x.sh'), 0o755);
        repository.git('commit', '-qam', 'it can run');
        repository.git('config', `filter.x.${kind}`, './x.sh');
        const script = `printf '#!/bin/sh\\ntouch ${marker}\\ncat\\n' > x.sh; echo more >> new.txt; echo x >> b.txt`;
        const client = await ws.connect();
        const { task_id: id } = await client.call('task.add', {
          title: 'w',
          body: `x\n#agent: no-change\n#agent: run ${script}`,
        });
        await client.call('task.run', { id, wait: true });
        for (const words of ['list', 'diff s-1', 'trial s-1', 'promote s-1 --unverified', 'undo s-1'])
          await ws.program(['worktree', ...words.split(' ')]);
        await ws.program(['guard', 'check', '--session', 's-1']);
        assert.equal(existsSync(marker), false, kind);
      } finally {
        await ws.close();
      }
    }
  },
  { skip: impossible },
);
