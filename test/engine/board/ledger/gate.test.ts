import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createWorkflow, type DispatchPort, type Workflow } from '../../../../engine/board/workflow/index.ts';
import { SvcError } from '../../../../engine/core/base/errors.ts';
import { createReceiver } from '../../../../engine/receiver/index.ts';
import { fakeClock } from '../../../support/clock.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';
import { fakeSettings, openSpine, type Spine } from '../../../support/workspaces/spine.ts';
import { CONFIG, decide, lookup, SECRET, task } from '../../receiver/rig.ts';
import { refusal } from '../holding.ts';

/** The gate, tested where it answers: requests from outside do not name a ledger. */
describe('a task that its ledger holds', () => {
  const clock = fakeClock();
  const by = { actor: 'webhook', via: 'task' };
  let folder: string;
  let spine: Spine;
  let workflow: Workflow;
  let isOpen: boolean;
  beforeEach(() => {
    folder = temporaryFolder();
    spine = openSpine(join(folder, 'svc.db'), clock);
    isOpen = false;
    const { storage, tasks, decisions, sessions, events, races } = spine;
    const dispatch: DispatchPort = {
      settings: fakeSettings,
      findLock: () => null,
      enqueue: (of, decision, options) =>
        sessions.create({
          taskId: of.taskId,
          decisionId: decision.decisionId,
          title: of.title,
          agent: 'scripted',
          project: null,
          inplace: false,
          keepWorktree: false,
          base: null,
          // Records the force flag that the dispatcher receives.
          name: options.force ? 'forced' : null,
          timeoutSec: 1,
          idleTimeoutSec: 0,
          priority: 0,
          gatewayBypass: false,
          continues: null,
          tokenBudget: null,
          parent: null,
          race: null,
          pool: null,
          runner: null,
        }),
      stop: () => undefined,
      drop: () => true,
      checkCommand: () => undefined,
      recordOwnWord: () => false,
      isLive: () => false,
    };
    const gate = ({ taskId }: { taskId: string }) =>
      isOpen
        ? null
        : new SvcError('ledger_gate', `the ledger of ${taskId} has 1 item to clarify first`, {
            hint: 'settle and check off secret-plan.md:3',
          });
    workflow = createWorkflow({ storage, tasks, decisions, dispatch, races, record: events.append, gate });
  });
  afterEach(() => {
    spine.storage.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const submit = () =>
    spine.storage.write(() =>
      workflow.submit(
        { title: 'a task', body: 'go', agent: 'scripted', source: 'task', actor: 'webhook' },
        { dispatch: true, approved: true, why: 'approved in the request', by },
      ),
    );
  const approve = (id: string, force = false) =>
    spine.storage.write(() => workflow.approve(id, by, { force }));

  test('the task is created and waits with a decision, although the request was approved', async () => {
    const { task, decision, session } = await submit();
    assert.equal(session, null);
    assert.deepEqual(
      [decision?.state, decision?.why],
      ['pending', `the ledger of ${task.taskId} has 1 item to clarify first`],
    );
    const id = decision?.decisionId ?? assert.fail();
    await assert.rejects(approve(id), refusal('ledger_gate'));
    assert.equal(spine.decisions.get(id).state, 'pending');
    isOpen = true;
    assert.notEqual((await approve(id)).session, null);
  });

  test('the task runs with force, which reaches the dispatcher only when needed', async () => {
    const held = await submit();
    const forced = await approve(held.decision?.decisionId ?? '', true);
    assert.equal(forced.session?.workerId, 'forced');
    isOpen = true;
    const free = await submit();
    assert.notEqual(free.session?.workerId, 'forced');
  });

  test('a signed approval gets the error, without the names of files', async () => {
    const { receive } = createReceiver({
      ...spine,
      workflow,
      clock,
      config: () => ({ webhook: CONFIG, policy: { actors: [] } }),
      agents: { ...lookup(), resolveFolder: () => '/' },
      isLoopback: () => true,
      workspace: { id: 'a1', name: () => 'bench' },
      lookAtPullRequests: () => false,
    }).open([SECRET]);
    const ask = async (request: ReturnType<typeof task>) => {
      const { path, headers = {}, body = '' } = request;
      const answer = await receive({ method: 'POST', path, headers, body: Buffer.from(body), remote: '' });
      return { status: answer.status, body: JSON.parse(answer.body) };
    };
    const created = await ask(task({ clock }, { dispatch: true, approve: true }));
    assert.deepEqual([created.status, created.body.dispatched], [201, false]);
    const refused = await ask(decide({ clock }, created.body.decision_id, 'approve'));
    assert.deepEqual([refused.status, refused.body.code], [403, 'ledger_gate']);
    assert.doesNotMatch(JSON.stringify(refused.body), /secret-plan/);
    isOpen = true;
    const approved = await ask(decide({ clock }, created.body.decision_id, 'approve'));
    assert.deepEqual([approved.status, approved.body.dispatched], [200, true]);
  });
});
