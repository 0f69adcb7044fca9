import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, afterEach, before, describe, test } from 'node:test';
import type { EngineClient } from '../../../engine/index.ts';
import { installDeadlyPrograms } from '../../support/deadly-program.ts';
import { GH_MISSING, makeForgeWorkspace, startForge, type TestForge } from '../../support/forge.ts';
import { logMachineIn, setUpServer, startTestServer } from '../../support/server/linked-server.ts';
import { until } from '../../support/wait.ts';
import type { TestWorkspace } from '../../support/workspaces/workspace.ts';

const YAML = `
sources: [{ kind: github, repository: acme/shop }]
webhook:
  templates:
    codehost: { prompt: '#agent: edit made.txt x', pull_request: draft, branch: 'svc/{issue}-{slug}' }
    ready: { prompt: '#agent: edit ready.txt x', pull_request: ready }
    quiet: { prompt: '#agent: edit quiet.txt x' }
    moves: { prompt: '#agent: run git remote set-url origin https://other.example/a/b.git', pull_request: ready }
`;

/** Lists the branches of a repository with their commits. */
const listBranches = (bare: string): Record<string, string> =>
  Object.fromEntries(
    execFileSync('git', ['-C', bare, 'for-each-ref', '--format=%(refname:short) %(objectname)'], {
      encoding: 'utf8',
    })
      .trim()
      .split('\n')
      .map((line) => line.split(' ') as [string, string]),
  );

/** Runs a task of a template to its end, and returns its session. */
async function runTemplate(client: EngineClient, template: string, title = 'Work') {
  const { task_id: id } = await client.call('task.add', { title, template });
  const { session_id: session } = await client.call('task.run', { id, wait: true });
  return client.call('session.show', { session });
}

const awaitPullRequest = (client: EngineClient, session: string) =>
  until(async () => (await client.call('session.show', { session })).pull_request, 'the pull request');

describe('a pull request that svc opens by itself', { skip: GH_MISSING }, () => {
  let forge: TestForge;
  let ws: TestWorkspace;
  let client: EngineClient;
  before(async () => {
    forge = await startForge();
    ws = await makeForgeWorkspace(forge, { yaml: YAML });
    client = await ws.connect();
    await client.call('source.poll', {});
    forge.host.advance(60);
  });
  after(async () => {
    await ws?.close();
    await forge?.close();
  });
  afterEach(() => forge.host.refuse(null));

  test('a pull request of an approved issue is a draft that closes it, on a branch named after it', async () => {
    const { number } = forge.host.openIssue({ title: 'Größe der Liste: @all', labels: ['svc'] });
    await client.call('source.poll', {});
    const [task] = (await client.call('task.list', {})).tasks;
    const { decision } = await client.call('task.show', { id: task!.task_id });
    await client.call('decision.approve', { id: decision!.decision_id, hash: decision!.hash });
    const [started] = await client.call('session.list', {});
    const pull = await awaitPullRequest(client, started!.session_id);
    const session = await client.call('session.show', { session: started!.session_id });
    const name = `svc/${number}-gro-e-der-liste-all`;
    assert.equal(pull.url, forge.host.pullRequests[0]?.html_url);
    assert.deepEqual(
      forge.host.pullRequests.map(({ title, draft, head, base }) => [title, draft, head.ref, base.ref]),
      [[`Größe der Liste: @all (${task!.task_id})`, true, name, 'main']],
    );
    assert.match(forge.host.pullRequests[0]!.body, /\n\nCloses acme\/shop#1\.\n\nOpened by svc\.$/);
    assert.equal(listBranches(forge.bare)[name], session.head_commit);
    const shown = await ws.svc(['worker', 'show', session.session_id]);
    assert.match(shown.stdout, /request +#2 open {2}https:/);
    const events = await client.call('event.list', { task: task!.task_id });
    assert.equal(events.filter(({ kind }) => kind === 'pull_request').length, 1);
    const squash = { session: session.session_id, strategy: 'squash', keep: true } as const;
    const { after: squashed } = await client.call('worktree.promote', squash);
    assert.equal(
      ws.repository.git('log', '-1', '--format=%B', squashed).trimEnd(),
      `Größe der Liste: @all\n\nRefs acme/shop#${number}`,
    );
    await client.call('worktree.undo', { session: session.session_id });
  });

  test('a pull request gets the commits of a follow-up, and no second one is opened', async () => {
    const session = await runTemplate(client, 'ready', 'First');
    const pull = await awaitPullRequest(client, session.session_id);
    const count = forge.host.pullRequests.length;
    assert.equal(forge.host.pullRequests.at(-1)?.draft, false);
    const { session: next } = await client.call('worker.follow_up', {
      session: session.session_id,
      prompt: '#agent: edit more.txt y',
    });
    const updated = await awaitPullRequest(client, next!.session_id);
    const { head_commit: head, branch } = await client.call('session.show', { session: next!.session_id });
    assert.equal(updated.number, pull.number);
    assert.equal(forge.host.pullRequests.length, count);
    assert.equal(listBranches(forge.bare)[branch!], head);
  });

  test('the page of a linked server shows the pull request of a finished session, and nothing of its branch', async (t) => {
    const server = await startTestServer();
    t.after(() => server.close());
    const ann = await setUpServer(server);
    await client.call('link.start', { server: server.url, token: await logMachineIn(server, ann) });
    const session = await runTemplate(client, 'ready', 'Shown');
    const { number, url } = await awaitPullRequest(client, session.session_id);
    const text = await until(async () => {
      const page = (await ann.get('/app/runs')).text;
      return page.includes(`pull request #${number}`) ? page : null;
    }, 'the pull request on the page');
    assert.match(text, /Shown .*ready, <a href=/);
    assert.ok(text.includes(`href="${url}"`));
    const stored = await server.parts.db.selectFrom('workspace_events').select('body').execute();
    assert.ok(!stored.some(({ body }) => body.includes(session.branch!)));
    await client.call('link.stop', {});
  });

  test('a template or project that does not ask for a pull request gets none', async () => {
    const before = [forge.host.pullRequests.length, listBranches(forge.bare)];
    const { pull_request_order: order } = await runTemplate(client, 'quiet');
    assert.equal(order, null);
    assert.deepEqual([forge.host.pullRequests.length, listBranches(forge.bare)], before);
  });

  test('a branch of someone else with the same name is not touched', async () => {
    const next = `svc/s-${1 + Number((await client.call('session.list', {}))[0]!.session_id.slice(2))}`;
    const other = listBranches(forge.bare).main!;
    execFileSync('git', ['-C', forge.bare, 'branch', next, other]);
    const session = await runTemplate(client, 'ready', 'Same name');
    assert.equal(session.branch, next);
    await awaitPullRequest(client, session.session_id);
    const branches = listBranches(forge.bare);
    assert.equal(branches[next], other);
    assert.equal(branches[`${next}-${session.head_commit!.slice(0, 7)}`], session.head_commit);
  });

  test('a code host that refuses is named as the reason, and a person can open the pull request at once', async () => {
    forge.host.refuse({ status: 401, body: '{"message":"Bad credentials"}' });
    const { session_id: id } = await runTemplate(client, 'ready', 'Refused');
    const order = await until(async () => {
      const { pull_request_order: found } = await client.call('session.show', { session: id });
      return found?.problem ? found : null;
    }, 'the problem');
    assert.match(order.problem!, /gh pr exited with code 1: .*(?:401|Bad credentials)/s);
    assert.notEqual(order.next_at, null);
    assert.match((await ws.svc(['worker', 'show', id])).stdout, /request +not pushed yet: .*gh pr exited/);
    forge.host.refuse(null);
    const opened = await ws.svc(['worktree', 'pr', id, '--yes'], { env: { ...ws.env } });
    assert.equal(opened.code, 0, opened.stderr);
    const { pull_request: pull, pull_request_order: left } = await client.call('session.show', {
      session: id,
    });
    assert.deepEqual([pull?.state, left], ['open', null]);
  });

  test('nothing is pushed to an address that a worker has changed', async () => {
    const { session_id: id } = await runTemplate(client, 'moves', 'Moves');
    const { problem } = await until(async () => {
      const { pull_request_order: found } = await client.call('session.show', { session: id });
      return found?.problem ? { problem: found.problem } : null;
    }, 'the problem');
    assert.match(problem, /were changed during a run: remote\.origin\.url/);
    ws.repository.git('remote', 'set-url', 'origin', forge.host.remote());
  });
});

describe('a pull request of work whose evidence svc reruns', { skip: GH_MISSING }, () => {
  test('it waits for the rerun, and is not opened if that disagrees until a person opens it', async (t) => {
    const forge = await startForge();
    t.after(forge.close);
    const ws = await makeForgeWorkspace(forge, {
      yaml: `
guard: { profile: bring, checks: ['test -f good.txt'] }
webhook:
  templates:
    good: { prompt: '#agent: edit good.txt x', pull_request: ready }
    bad: { prompt: '#agent: edit bad.txt x', pull_request: ready }
`,
    });
    t.after(() => ws.close());
    const client = await ws.connect();
    const good = await runTemplate(client, 'good');
    await awaitPullRequest(client, good.session_id);
    assert.match(forge.host.pullRequests[0]!.body, /- check test -f good\.txt: passed/);
    const bad = await runTemplate(client, 'bad');
    const order = await until(async () => {
      const { pull_request_order: found } = await client.call('session.show', { session: bad.session_id });
      return found?.problem ? found : null;
    }, 'the problem');
    assert.deepEqual(
      [order.next_at, order.problem],
      [null, 'svc reran the tests, and they did not end as expected'],
    );
    assert.equal(forge.host.pullRequests.length, 1);
    const opened = await ws.svc(['worktree', 'pr', bad.session_id, '--yes']);
    assert.equal(opened.code, 0, opened.stderr);
    assert.match(forge.host.pullRequests[1]!.body, /- check test -f good\.txt: FAILED/);
  });
});

describe('an engine that is killed while it opens a pull request', { skip: GH_MISSING }, () => {
  for (const moment of ['before', 'after'] as const)
    test(`it has opened one afterwards, killed ${moment} the code host has`, async (t) => {
      const forge = await startForge();
      t.after(forge.close);
      const programs = installDeadlyPrograms('gh');
      t.after(programs.close);
      forge.env = { ...forge.env, ...programs.env };
      const ws = await makeForgeWorkspace(forge, { yaml: YAML, hosted: false });
      t.after(() => ws.close());
      const client = await ws.connect();
      programs.plan('gh', { pid: ws.daemonPid()!, moment, pattern: 'pr create' });
      const { task_id: id } = await client.call('task.add', { title: 'Work', template: 'ready' });
      await client.call('task.run', { id });
      await programs.awaitDeath('gh');
      client.close();
      const next = await ws.connect();
      const [session] = await next.call('session.list', {});
      const pull = await awaitPullRequest(next, session!.session_id);
      assert.equal(forge.host.pullRequests.length, 1);
      assert.equal(pull.url, forge.host.pullRequests[0]!.html_url);
      assert.equal(listBranches(forge.bare)[session!.branch!], session!.head_commit);
      next.close();
    });
});
