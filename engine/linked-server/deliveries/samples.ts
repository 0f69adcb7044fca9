import { rfc3339 } from '../../core/base/clock.ts';
import type { EventEnvelope, OutboundEvent } from '../../notify/sending/index.ts';
import type { LinkedEvent } from './linked-event.ts';

type Differing = Partial<Omit<EventEnvelope, 'id' | 'event' | 'at' | 'workspace'>>;

const WORKSPACE_ID = 'w_Jq2mVt8xKz0B';

const RUN = { task_id: 't-42', session_id: 's-88', agent: 'claude', title: 'Repair the login form' };
const DECIDED = { ...RUN, session_id: null, decision_id: 'd-17', status: 'open' };
const ASK = { ...RUN, status: 'running' };

/** Fields of each event in addition to the common ones. */
const DIFFERING: Record<OutboundEvent, Differing> = {
  task_created: { ...DECIDED, decision_id: null },
  needs_approval: { ...DECIDED, reason: 'the request did not ask for approval to be skipped' },
  approved: { ...DECIDED, status: 'assigned' },
  denied: { ...DECIDED, reason: 'denied by a person' },
  dispatched: { ...RUN, decision_id: 'd-17', status: 'running' },
  sealed: { ...RUN, status: 'done' },
  failed: { ...RUN, status: 'failed', reason: 'exit_code' },
  ask_opened: { ...ASK, reason: 'ask 3' },
  ask_answered: { ...ASK, reason: 'ask 3' },
  ask_timeout: { ...ASK, reason: 'ask 3' },
  worktree_promoted: { ...RUN, status: 'done' },
  promote_conflict: { ...RUN, status: 'done' },
  lock_expired: { session_id: 's-88' },
  budget_exhausted: { ...RUN, status: 'running' },
  alert: { title: 'the disk is nearly full' },
};

/** Builds the body of an event for a target. With `isTest` it is marked as a test, with a separate id. */
export function buildSample(
  event: OutboundEvent,
  { at, isTest = false }: { at: number; isTest?: boolean },
): LinkedEvent {
  const { project = null, task_id = null, decision_id = null, session_id = null, ...rest } = DIFFERING[event];
  const { agent = null, status = null, title = null, reason = null } = rest;
  return {
    id: isTest ? `test-${at}-${crypto.randomUUID()}` : '7d1f0c9a-1042',
    event,
    at: rfc3339(at),
    workspace: isTest ? 'test' : 'web-shop',
    project,
    task_id,
    decision_id,
    session_id,
    agent,
    status,
    title: isTest ? 'test' : title,
    reason: isTest ? 'the test button of the server' : reason,
    workspace_id: WORKSPACE_ID,
    decision_url:
      decision_id === null ? null : `https://svc.example.org/v1/decisions/${WORKSPACE_ID}/${decision_id}`,
  };
}
