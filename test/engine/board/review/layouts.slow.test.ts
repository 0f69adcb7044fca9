import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, test } from 'node:test';
import type { Task, WireValue } from '../../../../engine/index.ts';
import { impossible } from '../../../support/agents/strict.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';
import { isInstalled, LAYOUTS, type Layout } from '../../../support/workspaces/layouts.ts';
import { requireLocalPath } from '../../../support/workspaces/local-path.ts';
import { makeWorkspace, type Ran, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

const STEPS = ['run', 'list', 'diff', 'trial', 'promote', 'undo', 'discard', 'restore', 'pr'] as const;

async function prove(ws: TestWorkspace, { filtered }: Layout): Promise<void> {
  const { repository, root } = ws;
  const git = (...args: string[]) => repository.gitIn(root, ...args);
  const base = git('symbolic-ref', '--short', 'HEAD');
  async function svc(...args: string[]): Promise<Ran> {
    const ran = await ws.svc(args);
    assert.equal(ran.code, 0, `svc ${args.join(' ')}\n${ran.stdout}${ran.stderr}`);
    return ran;
  }
  const client = await ws.connect();
  // The profile changes in between.
  const status = () => git('status', '--porcelain', '--', ':!svc.yaml');
  const before = git('rev-parse', 'HEAD');
  assert.equal(status(), '');

  const reads =
    filtered === undefined
      ? ''
      : `#agent: run cat ${filtered.path} > app/seen.txt\n#agent: run echo more >> ${filtered.path}\n`;
  const prompt = `${reads}#agent: edit app/made.txt by the worker`;
  const added = await svc('task', 'add', '-p', prompt, '--run', '-f', '--json');
  const { session_id: session } = added.json<{ task: WireValue<Task> }>().task;
  assert.ok(session);
  const listed = (await svc('worktree', 'list', '--json')).stdout;
  assert.match(listed, new RegExp(`"svc/${session}"`));
  assert.match((await svc('worktree', 'diff', session)).stdout, /made\.txt/);
  assert.match((await svc('worktree', 'trial', session)).stdout, /would go through/);

  // A confined worker's work is promoted only after verification, which other tests cover.
  await svc('config', 'set', 'guard.profile', 'lite');
  await svc('worktree', 'promote', session);
  assert.equal(readFileSync(join(root, 'app/made.txt'), 'utf8'), 'by the worker\n');
  if (filtered !== undefined) {
    assert.equal(readFileSync(join(root, 'app/seen.txt'), 'utf8'), filtered.text);
    assert.equal(readFileSync(join(root, filtered.path), 'utf8'), `${filtered.text}more\n`);
    assert.doesNotMatch(git('cat-file', 'blob', `HEAD:${filtered.path}`), /more/);
  }
  assert.notEqual(git('rev-parse', base), before);
  assert.equal(status(), '');
  await svc('worktree', 'undo', session);
  assert.equal(existsSync(join(root, 'app/made.txt')), false);
  assert.equal(git('rev-parse', base), before);
  assert.equal(status(), '');

  const again = await svc('task', 'add', '-p', '#agent: edit app/other.txt again', '--run', '-f', '--json');
  const { session_id: other } = again.json<{ task: WireValue<Task> }>().task;
  assert.ok(other);
  const { worktree, head_commit: head } = await client.call('session.show', { session: other });
  assert.ok(worktree);
  writeFileSync(join(requireLocalPath(worktree), 'app/unfinished.txt'), 'unfinished\n');
  await svc('worktree', 'discard', other);
  assert.equal(existsSync(requireLocalPath(worktree)), false);
  assert.equal(git('for-each-ref', `refs/heads/svc/${other}`), '');
  await svc('worktree', 'restore', other, '--worktree');
  assert.equal(readFileSync(join(requireLocalPath(worktree), 'app/unfinished.txt'), 'utf8'), 'unfinished\n');
  assert.equal(git('rev-parse', `svc/${other}`), head);

  const remote = join(repository.folder, 'remote.git');
  // A partial clone may lack objects that a push to a new repository needs.
  const whole = git('remote') === '' ? root : repository.root;
  repository.gitIn(repository.folder, 'clone', '--quiet', '--bare', whole, remote);
  git('remote', 'add', 'upstream', remote);
  assert.match((await svc('worktree', 'pr', other, '--remote', 'upstream', '--print')).stdout, /push/);
  const bin = join(repository.folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'gh'), '#!/bin/sh\necho https://github.example/o/r/pull/7\n');
  chmodSync(join(bin, 'gh'), 0o755);
  const opened = await ws.svc(['worktree', 'pr', other, '--remote', 'upstream', '--yes'], {
    env: { ...ws.env, PATH: `${bin}${delimiter}${process.env.PATH}` },
  });
  assert.equal(opened.code, 0, opened.stderr);
  assert.equal(repository.gitIn(remote, 'rev-parse', `svc/${other}`), head);
}

describe('layouts of a repository', () => {
  // The sandbox hides the home folder, so it must not be this machine's.
  const home = temporaryFolder();
  test('the manual lists each layout with each step', () => {
    const manual = readFileSync(new URL('../../../../../docs/use/worktrees.md', import.meta.url), 'utf8');
    const rows = manual
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.split('|').map((cell) => cell.trim()));
    const head = rows.find((row) => row[1] === 'layout') ?? assert.fail('no table of layouts');
    assert.deepEqual(head.slice(2, -1), [...STEPS]);
    const names = LAYOUTS.map(({ name }) => name);
    const described = rows.slice(rows.indexOf(head) + 2, rows.indexOf(head) + 2 + names.length);
    assert.deepEqual(
      described.map((row) => row.slice(1, -1)),
      names.map((name) => [name, ...STEPS.map(() => 'works')]),
    );
  });

  test('a base whose checkout git cannot find is refused before a worker starts, until its place is recorded', async () => {
    const ws = await makeWorkspace({
      hosted: true,
      arrange({ git, gitIn, root, folder }) {
        git('init', '--quiet', '--separate-git-dir', join(folder, 'elsewhere'));
        gitIn(root, 'worktree', 'add', '--quiet', '-b', 'work', join(folder, 'linked'));
        return join(folder, 'linked');
      },
    });
    try {
      const { root: main, folder, gitIn } = ws.repository;
      const add = ['task', 'add', '-p', '#agent: edit made.txt by the worker', '--json'];
      const task = (await ws.svc(add)).json<WireValue<Task>>().task_id;
      const refused = await ws.svc(['task', 'run', task, '--base', 'main', '-f', '--json']);
      assert.notEqual(refused.code, 0);
      assert.match(refused.stdout, /main is checked out in the main checkout of .*elsewhere/);
      assert.equal(gitIn(ws.root, 'for-each-ref', 'refs/heads/svc'), '');

      gitIn(folder, `--git-dir=${join(folder, 'elsewhere')}`, 'config', 'core.worktree', main);
      const ran = await ws.svc(['task', 'run', task, '--base', 'main', '-f', '--json']);
      assert.equal(ran.code, 0, ran.stdout);
      const promoted = await ws.svc(['worktree', 'promote', 's-2', '--json']);
      assert.equal(promoted.code, 0, promoted.stderr);
      assert.equal(readFileSync(join(main, 'made.txt'), 'utf8'), 'by the worker\n');
    } finally {
      await ws.close();
    }
  });

  for (const setting of ['core.worktree', 'core.bare'])
    test(`a ${setting} that applies to all worktrees is refused before a worker starts, until it is moved as the hint says`, async () => {
      const ws = await makeWorkspace({
        hosted: true,
        arrange(repository) {
          const name = setting === 'core.bare' ? 'a worktree of a bare repository elsewhere' : 'a submodule';
          const root = (LAYOUTS.find((each) => each.name === name) ?? assert.fail()).arrange(repository);
          repository.gitIn(root, 'config', 'extensions.worktreeConfig', 'true');
          return root;
        },
      });
      try {
        const run = ['task', 'add', '-p', '#agent: edit made.txt by the worker', '--run', '-f', '--json'];
        const refused = await ws.svc(run);
        assert.notEqual(refused.code, 0);
        const [, unset = '', set = ''] = /checkout: (git .*), then (git [^)"\\]*)/.exec(refused.stdout) ?? [];
        assert.match(unset, new RegExp(`--unset ${setting}$`), refused.stdout);
        for (const command of [unset, set])
          execFileSync('sh', ['-c', command], { env: ws.env, cwd: ws.root });
        const ran = await ws.svc(run);
        assert.equal(ran.code, 0, ran.stdout);
        const session = ran.json<{ task: WireValue<Task> }>().task.session_id ?? assert.fail();
        assert.equal((await ws.svc(['worktree', 'promote', session])).code, 0);
        assert.equal(readFileSync(join(ws.root, 'made.txt'), 'utf8'), 'by the worker\n');
      } finally {
        await ws.close();
      }
    });

  test('a filter that fails ends the run before the agent starts, with what the filter printed', async () => {
    const ws = await makeWorkspace({
      hosted: true,
      arrange({ root, git, commit }) {
        commit({ '.gitattributes': '*.up filter=up\n', 'a.up': 'loud\n' });
        git('config', 'filter.up.smudge', "printf 'no key\\033[31m\\nask the keeper\\n' >&2; exit 3");
        git('config', 'filter.up.required', 'true');
        return root;
      },
    });
    try {
      const added = await ws.svc(['task', 'add', '-p', '#agent: edit made.txt', '--run', '-f', '--json']);
      assert.notEqual(added.code, 0);
      assert.match(
        added.stdout,
        /a\.up: smudge filter up failed; the filter printed: no key\\\\x1b\[31m \/ ask the keeper/,
      );
    } finally {
      await ws.close();
    }
  });

  for (const layout of LAYOUTS)
    for (const profile of layout.isLiteOnly ? ['lite'] : ['lite', 'strict']) {
      const missing = layout.needs === undefined || isInstalled(layout.needs) ? null : layout.needs;
      if (missing !== null) console.error(`NOT TESTED, ${missing} is not installed: ${layout.name}`);
      const cannot = missing !== null || (profile === 'strict' && impossible !== null);
      test(`${layout.name}, ${profile} workers: ${STEPS.join(', ')}`, { skip: cannot }, async () => {
        const ws = await makeWorkspace({
          hosted: true,
          arrange: layout.arrange,
          yaml: `guard: { profile: ${profile} }\n`,
          ...(profile === 'strict' ? { env: { HOME: home } } : {}),
        });
        try {
          await prove(ws, layout);
        } finally {
          await ws.close();
        }
      });
    }
});
