import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { createWorkflow, type DispatchPort } from '../../../engine/board/workflow/index.ts';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { fakeClock } from '../../support/clock.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';
import { fakeSettings, openSpine } from '../../support/workspaces/spine.ts';

it('a task that was to start immediately waits for approval while the account has no capacity', async () => {
  const spine = openSpine(join(temporaryFolder(), 'svc.db'), fakeClock());
  const { storage, tasks, decisions, races, events } = spine;
  const lock = new SvcError('lease_required', 'there is no lease');
  const dispatch: DispatchPort = {
    settings: fakeSettings,
    findLock: () => lock,
    enqueue() {
      throw lock;
    },
    stop: () => undefined,
    drop: () => true,
    checkCommand: () => undefined,
    recordOwnWord: () => false,
    isLive: () => false,
  };
  const workflow = createWorkflow({ storage, tasks, decisions, dispatch, races, record: events.append });
  try {
    const by = { actor: 'webhook', via: 'task' };
    const task = {
      title: 'one',
      body: 'do it',
      agent: 'scripted',
      source: 'task',
      actor: 'webhook',
    } as const;
    const wanted = { dispatch: true, approved: true, why: 'the request asked for it', by };
    const { session, decision } = await storage.write(() => workflow.submit(task, wanted));
    assert.deepEqual([session, decision?.state, decision?.why], [null, 'pending', 'there is no lease']);
    const { decisionId } = decision!;
    await assert.rejects(
      storage.write(() => workflow.approve(decisionId, by)),
      { code: 'lease_required' },
    );
    assert.equal(decisions.get(decisionId).state, 'pending');
  } finally {
    storage.close();
  }
});
