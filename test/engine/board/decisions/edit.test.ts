import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { NewTask } from '../../../../engine/board/tasks/index.ts';
import { systemClock } from '../../../../engine/core/base/clock.ts';
import type { SvcError } from '../../../../engine/core/base/errors.ts';
import type { Decision, EditResult, WireValue } from '../../../../engine/index.ts';
import { type EngineHere, engineHere } from '../../../support/workspaces/engine.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';
import { openSpine } from '../../../support/workspaces/spine.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('editing the prompt of a pending decision', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  before(async () => {
    ws = await makeWorkspace();
    here = await engineHere(ws, { workerCap: 0 });
  });
  after(async () => {
    await here?.close();
    await ws.close();
  });

  const edit = (id: string, prompt: string, more: object = {}): Promise<WireValue<EditResult>> =>
    here.call('decision.edit', { id, prompt, ...more });
  const decision = async (id: string): Promise<WireValue<Decision>> =>
    (await here.call('decision.show', { id })).decision;
  const since = (seq: number) => here.engine.events.listAfter(seq);

  test('an edit replaces the old decision by a new one, in one step', async () => {
    const { task_id, decision_id } = await here.ask('fix the tst\nand say so');
    const old = await decision(decision_id);
    const seq = here.engine.events.lastSeq();
    const edited = await edit(decision_id, 'fix the test\nand say so', { hash: old.hash });
    assert.equal(edited.changed, true);
    assert.equal(edited.task.prompt, 'fix the test\nand say so');
    assert.equal(edited.task.decision_id, edited.decision.decision_id);
    const { state, why, source, source_ref, hash } = edited.decision;
    assert.deepEqual(
      [state, why, source, source_ref],
      ['pending', 'the prompt was edited by ada', old.source, old.source_ref],
    );
    assert.notEqual(hash, old.hash);
    const gone = await decision(decision_id);
    assert.deepEqual(
      [gone.state, gone.reason, gone.decided_by, gone.decided_via],
      ['expired', 'the prompt was edited by ada', 'ada', 'tui'],
    );
    const events = since(seq);
    assert.deepEqual(
      events.map((event) => [event.kind, event.taskId, event.decisionId]),
      [
        ['task_changed', task_id, null],
        ['decision_expired', task_id, decision_id],
        ['needs_approval', task_id, edited.decision.decision_id],
      ],
    );
    assert.deepEqual(events[0]?.data, { title: 'fix the test' });
    assert.doesNotMatch(JSON.stringify(events), /and say so/);
    // The approved text runs.
    const { session } = await here.call('decision.approve', {
      id: edited.decision.decision_id,
      hash,
    });
    assert.equal(session?.task_id, task_id);
  });

  test('an edit with the same text changes nothing', async () => {
    const { decision_id } = await here.ask('as it is');
    const seq = here.engine.events.lastSeq();
    const { changed, decision: same, task } = await edit(decision_id, 'as it is');
    assert.deepEqual([changed, same.decision_id, same.state], [false, decision_id, 'pending']);
    assert.equal(task.prompt, 'as it is');
    assert.deepEqual(since(seq), []);
  });

  test('an edit is refused for an empty prompt, another hash, a worker, and a decision that is no longer pending', async () => {
    const { task_id, decision_id } = await here.ask('untouched');
    const seq = here.engine.events.lastSeq();
    await assert.rejects(edit(decision_id, ' \n'), { code: 'fields_invalid' });
    await assert.rejects(edit(decision_id, 'new', { hash: 'of something else' }), { code: 'conflict' });
    await assert.rejects(
      here.call('decision.edit', { id: decision_id, prompt: 'new' }, { seat: 'worker', sessionId: 's-1' }),
      { code: 'chair_only' },
    );
    await assert.rejects(edit('d-9999', 'new'), { code: 'not_found' });
    assert.deepEqual(since(seq), []);

    const edited = await edit(decision_id, 'new');
    await assert.rejects(
      edit(decision_id, 'newer'),
      ({ code, hint }: SvcError) =>
        code === 'already_decided' && String(hint) === `svc task show ${task_id} names the pending decision`,
    );
    await assert.rejects(here.call('decision.approve', { id: decision_id }), { code: 'already_decided' });
    await here.call('decision.approve', { id: edited.decision.decision_id });
    await assert.rejects(edit(edited.decision.decision_id, 'too late'), { code: 'already_decided' });
    const denied = await here.ask('no');
    await here.call('decision.deny', { id: denied.decision_id, reason: 'no' });
    await assert.rejects(edit(denied.decision_id, 'yes'), { code: 'already_decided' });
  });

  test('an edit and an approval at the same moment have one winner, in either order', async () => {
    for (const first of ['edit', 'approve'] as const) {
      const { task_id, decision_id } = await here.ask(`race, ${first} first`);
      const both = {
        edit: () => edit(decision_id, 'edited'),
        approve: () => here.call('decision.approve', { id: decision_id }),
      };
      // Both calls are in one turn of the event loop, so they share a commit.
      const order = first === 'edit' ? [both.edit(), both.approve()] : [both.approve(), both.edit()];
      const [won, lost] = await Promise.allSettled(order);
      assert.deepEqual([won?.status, lost?.status], ['fulfilled', 'rejected'], first);
      const { task, sessions } = await here.call('task.show', {
        id: task_id,
      });
      assert.equal(sessions.length, first === 'edit' ? 0 : 1);
      assert.equal(task.prompt, first === 'edit' ? 'edited' : `race, ${first} first`);
    }
  });
});

describe('fields that an edit keeps', () => {
  const folder = temporaryFolder();
  const spine = openSpine(join(folder, 'svc.db'), systemClock);
  after(() => {
    spine.storage.close();
    rmSync(folder, { recursive: true });
  });
  const by = { actor: 'ada', via: 'tui' };

  /** A pending task with a replaced prompt. */
  async function edited(fields: Partial<NewTask>, prompt: string): Promise<EditResult> {
    const wish = { dispatch: true, approved: false, why: 'look at it', by };
    const task: NewTask = { title: '', body: '', agent: 'scripted', source: 'task', actor: 'ada', ...fields };
    const { decision } = await spine.storage.write(() => spine.workflow.submit(task, wish));
    return spine.storage.write(() => spine.workflow.edit(decision?.decisionId ?? '', prompt, by));
  }

  test('the title is kept, unless it was only the first line of the prompt', async () => {
    const long = 'x'.repeat(200);
    for (const [title, body, prompt, expected] of [
      ['first line', '\n  first line\nsecond', 'another line\nsecond', 'another line'],
      ['my own title', 'first line', 'another line', 'my own title'],
      [`${'x'.repeat(119)}…`, long, 'short', 'short'],
      ['all there is', '', 'more than that', 'all there is'],
    ] as const) {
      const { task } = await edited({ title, body }, prompt);
      assert.deepEqual([task.title, task.body, task.prompt], [expected, prompt, prompt]);
    }
  });

  test('every field is kept when a task without a prompt gets its title as one', async () => {
    const { task, changed } = await edited({ title: 'all there is' }, 'all there is');
    assert.deepEqual([changed, task.body], [false, '']);
  });

  test('context and criteria are kept', async () => {
    const { task } = await edited(
      { title: 'do', body: 'do', context: 'since', acceptanceCriteria: ['done'] },
      'do it',
    );
    assert.equal(
      task.prompt,
      'do it\n\nContext:\nsince\n\nAcceptance criteria:\n1. done\n\nBefore you finish, report on each: the tool verify_report, or svc verify report.\n',
    );
  });
});
