import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Session, WireValue } from '../../../../engine/index.ts';
import { until } from '../../../support/wait.ts';
import { type EngineHere, engineHere } from '../../../support/workspaces/engine.ts';
import { requireLocalPath } from '../../../support/workspaces/local-path.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

interface Row {
  branch: string;
  repository: string;
  path: string | null;
  orphan: boolean;
  dirty: boolean | null;
  merged: boolean | null;
  ahead: number | null;
}
type Listed = {
  worktrees: Row[];
  total: number;
  problems: { repository: string; code: string; message: string }[];
};

describe('projects in two repositories', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  let api: string;
  before(async () => {
    ws = await makeWorkspace({ yaml: 'projects: [{ id: api, path: api }]\n' });
    api = join(ws.root, 'api');
    mkdirSync(api);
    ws.repository.write('.git/info/exclude', 'api/\n');
    ws.repository.gitIn(api, 'init', '--quiet', '--initial-branch=trunk');
    ws.repository.commit({ 'main.txt': 'start\n' }, 'first', api);
    here = await engineHere(ws);
  });
  after(async () => {
    await here.close();
    await ws.close();
  });

  async function ran(
    project: string | undefined,
    directive: string,
  ): Promise<WireValue<Session> & { branch: string }> {
    const body = `do it\n#agent: ${directive}`;
    const { task_id } = await here.call('task.add', { body, agent: 'scripted', project });
    await here.call('task.run', { id: task_id });
    return until(async () => {
      const { sessions } = await here.call('task.show', { id: task_id });
      const [session] = sessions;
      return session?.state === 'ended' && session.branch !== null
        ? { ...session, branch: session.branch }
        : null;
    }, `the end of ${task_id}`);
  }
  const list = (input: object = {}) => here.call('worktree.status', input);
  const prune = async (input: object = {}) => (await here.call('worktree.prune', input)).repositories;
  const branchesOf = ({ worktrees }: Listed, repository: string): string[] =>
    worktrees.flatMap((row) => (row.repository === repository ? [row.branch] : [])).sort();

  test('each worktree is listed once, with its own repository, and cut lists say of how many', async () => {
    const mine = await ran(undefined, 'edit mine.txt mine');
    const other = await ran('api', 'edit other.txt other');
    ws.repository.write(join(requireLocalPath(other.worktree), 'new.txt'), 'new\n');
    const listed = await list();
    assert.deepEqual([listed.total, listed.problems], [2, []]);
    assert.deepEqual(branchesOf(listed, ws.root), [mine.branch]);
    assert.deepEqual(branchesOf(listed, api), [other.branch]);
    assert.deepEqual(
      listed.worktrees.map(({ orphan, ahead, merged }) => [orphan, ahead, merged]),
      [
        [false, 1, false],
        [false, 1, false],
      ],
    );
    const dirty = await list({ state: 'dirty' });
    assert.deepEqual([dirty.worktrees.map(({ branch }) => branch), dirty.total], [[other.branch], 1]);
    const cut = await list({ limit: 1 });
    assert.deepEqual([cut.worktrees.length, cut.total], [1, 2]);
    rmSync(join(requireLocalPath(other.worktree), 'new.txt'));
  });

  test('a base that only one repository has is used there, and the other is named', async () => {
    const listed = await list({ base: 'trunk' });
    const merged = Object.fromEntries(listed.worktrees.map((row) => [row.repository, row.merged]));
    assert.deepEqual(merged, { [ws.root]: null, [api]: false });
    assert.deepEqual(
      listed.problems.map(({ repository, code }) => [repository, code]),
      [[ws.root, 'not_found']],
    );
    await assert.rejects(list({ base: 'nowhere' }), { code: 'not_found' });
    await assert.rejects(prune({ base: 'nowhere' }), { code: 'not_found' });
    const pruned = await prune({ base: 'trunk', dry_run: true });
    assert.deepEqual(
      pruned.map(({ repository, problem }) => [repository, problem?.code ?? null]),
      [
        [ws.root, 'not_found'],
        [api, null],
      ],
    );
  });

  test("simultaneous prunes, promotions and runs leave each other's work alone", async () => {
    const sessions = [
      await ran(undefined, 'no-change'),
      await ran('api', 'no-change'),
      await ran(undefined, 'no-change'),
      await ran('api', 'no-change'),
    ];
    const worked = await ran('api', 'edit more.txt more');
    // Empty folders that do not belong to a repository.
    for (const name of ['empty', 'empty-too']) mkdirSync(join(ws.root, '.svc/agents/worktrees', name));
    const [one, two, three, promoted, late] = await Promise.all([
      prune(),
      prune(),
      prune({ project: 'api' }),
      here.call('worktree.promote', { session: worked.session_id }),
      ran('api', 'edit late.txt late'),
    ]);
    const all = [...one, ...two, ...three];
    const names = all.flatMap(({ removed }) => removed.map(({ branch }) => branch)).sort();
    assert.deepEqual(
      all.flatMap(({ problem, refused }) => [...(problem === null ? [] : [problem]), ...refused]),
      [],
    );
    const expected = [...sessions.map(({ branch }) => branch), 'svc/empty', 'svc/empty-too'];
    // The promotion and a prune may both have claimed the same one.
    assert.deepEqual(
      names.filter((name) => name !== worked.branch),
      expected.sort(),
      'each was removed once',
    );
    assert.equal(existsSync(requireLocalPath(worked.worktree)), false, JSON.stringify(promoted));
    assert.ok(existsSync(requireLocalPath(late.worktree)));
  });

  test('an unreadable repository is reported in the list and in the answer of a prune', async () => {
    const lost = await ran('api', 'no-change');
    const mine = await ran(undefined, 'no-change');
    ws.repository.gitIn(api, 'config', 'core.bare', 'true');
    const listed = await list();
    assert.deepEqual(branchesOf(listed, api), []);
    assert.ok(branchesOf(listed, ws.root).includes(mine.branch));
    assert.ok(
      listed.worktrees.every(({ path }) => path !== lost.worktree),
      'the folder is not listed for the other repository',
    );
    assert.deepEqual(
      listed.problems.map(({ repository, message }) => [repository, /is bare/.test(message)]),
      [[api, true]],
    );
    const pruned = await prune();
    const by = Object.fromEntries(pruned.map((each) => [each.repository, each]));
    assert.deepEqual(
      by[ws.root]?.removed.map(({ branch }) => branch),
      [mine.branch],
    );
    assert.match(by[api]?.problem?.message ?? '', /is bare/);
    assert.ok(existsSync(requireLocalPath(lost.worktree)));
    await assert.rejects(list({ project: 'api' }), { code: 'repository_empty' });

    writeFileSync(join(api, '.git/config'), '[broken\n');
    assert.match((await list()).problems[0]?.message ?? '', /bad config/);
    rmSync(join(api, '.git'), { recursive: true });
    assert.equal((await list()).problems[0]?.repository, api, 'a missing repository is reported');
  });
});
