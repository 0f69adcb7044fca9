import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import type { Api } from '../../engine/index.ts';
import type { TestForge } from './forge.ts';
import { until } from './wait.ts';

/** Writes the configuration of a workspace for `followIssue`. */
export const writeJourneyYaml = ({ source }: Pick<TestForge, 'source'>): string => `
sources: [${source}]
webhook:
  templates: { codehost: { prompt: Fix this., pull_request: ready, comment: true, branch: 'svc/{issue}' } }
`;

/** Calls the engine by a client, or in this process. */
export type CallEngine = <Name extends 'source.poll' | 'session.show'>(
  name: Name,
  input: Api[Name]['input'],
) => Promise<Api[Name]['output']>;

/** A decision on the way. */
export interface JourneyStep {
  decision: string;
  task: string;
  title: string;
  /** A part of the reason why it waits, or of where it comes from. */
  reason: string;
}

/**
 * Follows an issue: label, approval, pull request, failed check, its fix, review, its answer, merge. Everything but the
 * approvals happens by itself or at the scripted GitHub.
 */
export async function followIssue(
  { host, bare, repository, sign, nameCheck }: TestForge,
  call: CallEngine,
  approve: (step: JourneyStep) => Promise<void>,
): Promise<void> {
  // As the engine does once a minute.
  const poll = () => call('source.poll', {});
  const readTip = (): string =>
    execFileSync('git', ['-C', bare, 'rev-parse', 'svc/1'], { encoding: 'utf8' }).trim();
  const awaitRecord = (session: string) =>
    until(async () => {
      const { pull_request: pull, pull_request_order: order } = await call('session.show', { session });
      return pull?.number === host.pullRequests[0]?.number && order === null ? pull : null;
    }, `the pull request of ${session}`);
  await poll();
  host.advance(60);

  host.openIssue({ title: 'Add a page', body: '#agent: edit page.txt one', labels: ['svc'] });
  await poll();
  await approve({ decision: 'd-1', task: 't-1', title: 'Add a page', reason: `${repository}#1` });
  const opened = await until(() => host.pullRequests[0] ?? null, 'the pull request');
  assert.ok(opened.body.includes(`Closes ${repository}#1.`), opened.body);
  await awaitRecord('s-1');

  const first = readTip();
  host.setCheck('svc/1', { name: 'unit', conclusion: 'failure', log: 'not ok 1 - the page\n' });
  await poll();
  await approve({
    ...{ decision: 'd-2', task: 't-2', title: `the check ${nameCheck('unit')} failed: Add a page` },
    reason: 'failed: not ok 1 - the page',
  });
  await awaitRecord('s-2');
  const second = readTip();
  assert.notEqual(second, first);
  host.setCheck('svc/1', { name: 'unit', conclusion: 'success', log: 'ok' });

  host.review(opened.number, { state: 'CHANGES_REQUESTED', body: 'Use two.\n\n#agent: edit page.txt two' });
  await poll();
  await approve({
    ...{ decision: 'd-3', task: 't-3', title: 'review by acme: Add a page' },
    reason: `acme reviewed ${repository}${sign}${opened.number}`,
  });
  await awaitRecord('s-3');
  assert.notEqual(readTip(), second);

  host.merge(opened.number);
  await poll();
  const { branch_state: state, pull_request: pull } = await call('session.show', { session: 's-3' });
  assert.deepEqual([state, pull?.state, host.pullRequests.length], ['merged', 'merged', 1]);
  await poll();
  assert.deepEqual(
    host.comments.map(({ issue, isOnPullRequest, body }) => [issue, isOnPullRequest, body.split('\n')[0]]),
    [[1, false, `Merged by ${pull?.url}.`]],
  );
}
