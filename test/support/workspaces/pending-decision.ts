import type { PendingDecision } from '../../../engine/core/link-protocol/messages.ts';

/** A decision as a workspace sends it to its server. */
export const makePendingDecision = (given: Partial<PendingDecision> = {}): PendingDecision => ({
  decision_id: 'd-17',
  task_id: 't-42',
  hash: 'ab'.repeat(32),
  agent: 'claude',
  project: null,
  title: 'Repair the login form',
  source: 'task',
  author: null,
  author_role: null,
  reference: null,
  url: null,
  prompt_length: 4212,
  why: 'the request did not ask for approval to be skipped',
  since: '2026-01-02T03:04:05.000Z',
  approval: 'yes',
  ...given,
});
