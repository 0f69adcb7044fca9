import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { EngineClient } from '../../../engine/index.ts';
import { type DeadlyPrograms, installDeadlyPrograms } from '../../support/deadly-program.ts';
import { GH_MISSING, makeForgeWorkspace, startForge, type TestForge } from '../../support/forge.ts';
import { until } from '../../support/wait.ts';
import type { TestWorkspace } from '../../support/workspaces/workspace.ts';

const YAML = `
sources: [{ kind: github, repository: acme/shop }]
webhook:
  templates:
    asks: { prompt: '#agent: edit made.txt x', pull_request: ready, reply: true }
`;

describe('an engine that is killed while it watches a pull request', { skip: GH_MISSING }, () => {
  let forge: TestForge;
  let programs: DeadlyPrograms;
  let ws: TestWorkspace;
  let client: EngineClient;
  beforeEach(async () => {
    forge = await startForge();
    programs = installDeadlyPrograms('gh', 'git');
    forge.env = { ...forge.env, ...programs.env };
    ws = await makeForgeWorkspace(forge, { yaml: YAML, hosted: false });
    client = await ws.connect();
  });
  afterEach(async () => {
    client?.close();
    await ws?.close();
    await forge?.close();
    programs?.close();
  });

  const show = (session: string) => client.call('session.show', { session });
  const readTip = (branch: string): string =>
    execFileSync('git', ['-C', forge.bare, 'rev-parse', branch], { encoding: 'utf8' }).trim();

  /** Runs a task until its pull request is open. */
  async function open() {
    const { task_id: id } = await client.call('task.add', { title: 'Work', template: 'asks' });
    const { session_id: session } = await client.call('task.run', { id, wait: true });
    const pull = await until(async () => (await show(session!)).pull_request, 'the pull request');
    const { branch } = await show(session!);
    return { session: session!, number: pull.number!, branch: branch! };
  }

  /** Has the engine killed during some work, and connects to the next one. */
  async function dieDuring(
    program: string,
    moment: 'before' | 'after',
    pattern: string,
    work: () => Promise<unknown>,
  ): Promise<void> {
    programs.plan(program, { pid: ws.daemonPid()!, moment, pattern });
    const done = work().catch(() => undefined);
    await programs.awaitDeath(program);
    client.close();
    await done;
    client = await ws.connect();
  }

  /** Polls twice, and returns the only decision that waits. */
  async function findOnlyDecision() {
    await client.call('source.poll', {});
    await client.call('source.poll', {});
    const waiting = await client.call('decision.list', { state: 'pending' });
    assert.equal(waiting.length, 1);
    return waiting[0]!;
  }

  async function awaitFollowUp(task: string) {
    const { session_id: next } = await until(
      async () => (await client.call('session.list', {})).find((each) => each.task_id === task) ?? null,
      'the follow-up',
    );
    return until(async () => {
      const row = await show(next);
      return row.pull_request !== null && row.pull_request_order === null ? row : null;
    }, 'the push of the follow-up');
  }

  const poll = () => client.call('source.poll', {});

  for (const [subject, pattern] of [
    ['the checks', '*/check-runs*'],
    ['a log', '*/logs'],
    ['the reviews', '*/reviews?*'],
    ['the comments of a review', '*/reviews/*/comments*'],
  ] as const)
    test(`${subject}: killed while they are read, it makes one follow-up afterwards`, async () => {
      const { number, branch, session } = await open();
      const isReview = subject.includes('review');
      if (isReview) forge.host.review(number, { state: 'CHANGES_REQUESTED', body: '#agent: edit b.txt b' });
      else forge.host.setCheck(branch, { name: 'unit', conclusion: 'failure', log: 'not ok 1 - adds' });
      await dieDuring('gh', 'after', pattern, poll);
      const { task_id: task, decision_id: id, hash } = await findOnlyDecision();
      await client.call('decision.approve', { id, hash });
      const next = await awaitFollowUp(task);
      assert.equal(next.continues, session);
      assert.equal(forge.host.pullRequests.length, 1);
      assert.equal(readTip(branch), next.head_commit);
    });

  test('a merged pull request: killed while that is read, its session is merged afterwards', async () => {
    const { session, number } = await open();
    forge.host.merge(number);
    await dieDuring('gh', 'after', `*/pulls/${number}`, poll);
    await poll();
    const { branch_state: state, pull_request: pull } = await show(session);
    assert.deepEqual([state, pull?.state], ['merged', 'merged']);
  });

  for (const moment of ['before', 'after'] as const) {
    test(`a fix: killed ${moment} it is pushed, it has pushed it once afterwards`, async () => {
      const { branch, number } = await open();
      forge.host.setCheck(branch, { name: 'unit', conclusion: 'failure', log: 'not ok 1 - adds' });
      const { task_id: task, decision_id: id, hash } = await findOnlyDecision();
      await dieDuring('git', moment, '*push*', () => client.call('decision.approve', { id, hash }));
      const next = await awaitFollowUp(task);
      assert.deepEqual([readTip(branch), next.pull_request?.number], [next.head_commit, number]);
      assert.equal(forge.host.pullRequests.length, 1);
      await poll();
      assert.deepEqual(await client.call('decision.list', { state: 'pending' }), []);
    });

    test(`an answer: killed ${moment} it is posted, it has posted it once afterwards`, async () => {
      const { number } = await open();
      forge.host.review(number, { state: 'CHANGES_REQUESTED', body: '#agent: no-change' });
      const { task_id: task, decision_id: id, hash } = await findOnlyDecision();
      await client.call('decision.approve', { id, hash });
      await until(async () => {
        const row = (await client.call('session.list', {})).find((each) => each.task_id === task);
        return row?.state === 'ended' ? row : null;
      }, 'the end of the follow-up');
      await dieDuring('gh', moment, '*--method=POST*comments*', poll);
      await poll();
      await poll();
      assert.deepEqual(
        forge.host.comments.map(({ issue, body }) => [issue, body.split('\n')[0]]),
        [[number, 'The agent has dealt with this review, without a commit. It has written no answer.']],
      );
    });

    test(`a closed pull request: killed ${moment} its branch is removed, its work is discarded afterwards`, async () => {
      const { session, number, branch } = await open();
      forge.host.closePullRequest(number);
      await dieDuring('git', moment, '*worktree remove*', poll);
      await poll();
      const row = await until(async () => {
        const each = await show(session);
        return each.branch_state === 'discarded' && each.pull_request?.state === 'closed' ? each : null;
      }, 'the discard');
      assert.equal(row.worktree, null);
      await client.call('worktree.restore', { session });
      assert.match(ws.repository.git('show', `${branch}:made.txt`), /^x/);
    });
  }
});
