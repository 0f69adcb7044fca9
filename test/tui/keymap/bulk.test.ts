import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Bench,
  bench,
  decisionRow,
  messageRow,
  NOW,
  sessionRow,
  showComments,
  showDecision,
  showEvidence,
  showTask,
  showWork,
  taskRow,
} from '../../support/terminals/dashboard.ts';
import { screenOf } from '../../support/terminals/render.tsx';

/** Decisions 1 to `count`, as the engine sends them. */
function withDecisions(count: number, columns = 80, rows = 24): Bench {
  const ids = Array.from({ length: count }, (_, index) => index + 1);
  return bench(columns, rows).data({
    tasks: ids.map((id) => taskRow(id)),
    decisions: ids.map((id) => decisionRow(id)),
  });
}

const tellDecisions = (self: Bench, ...ids: number[]): Bench => {
  for (const id of ids) showDecision(self, id);
  return self;
};

const textOf = (self: Bench): string => screenOf(self.state()).join('\n');
const marksOf = (self: Bench): string[] => [...self.state().lists[self.state().focus].marks.keys()];

describe('marked rows', () => {
  it('Space marks a row and goes to the next; again removes the mark', () => {
    const self = withDecisions(3).keys('space', 'space');
    assert.deepEqual(marksOf(self), ['t-1', 't-2']);
    assert.equal(self.state().lists.work.selected, 't-3');
    self.keys('k', 'space');
    assert.deepEqual(marksOf(self), ['t-1']);
    assert.match(textOf(self), /●t-1/);
    assert.match(textOf(self), /1 marked/);
  });

  it('a dash marks up to the cursor, an asterisk all visible rows, Esc clears', () => {
    const self = withDecisions(5).keys('space', 'j', 'j', '-');
    assert.deepEqual(marksOf(self), ['t-1', 't-2', 't-3', 't-4']);
    self.keys('esc');
    assert.deepEqual(marksOf(self), []);
    self.keys('*');
    assert.equal(marksOf(self).length, 5);
    self.keys('*');
    assert.deepEqual(marksOf(self), []);
  });

  it('marks belong to rows and stay with them when others arrive', () => {
    const self = bench()
      .data({ sessions: [1, 2].map((id) => sessionRow(id, { state: 'running', ended_at: null })) })
      .keys('space')
      .data({ sessions: [sessionRow(3, { state: 'running', ended_at: null })] });
    assert.deepEqual(marksOf(self), ['t-1']);
    assert.match(textOf(self), /●t-1/);
  });

  it('marks are refused where no action takes several rows', () => {
    const self = withDecisions(1).keys('3', 'space');
    assert.deepEqual(marksOf(self), []);
    assert.match(self.state().message?.text ?? '', /no key|selected/);
  });
});

describe('one confirmation for marked rows', () => {
  it('the confirmation approves each row with its own hash, after agent, length and start of each were shown', () => {
    const self = withDecisions(3).keys('space', 'space', 'a');
    assert.match(textOf(self), /approve 2 marked\?/);
    assert.match(textOf(self), /fetching what they would do: 2 answers/);
    tellDecisions(self, 1, 2);
    const shown = textOf(self);
    for (const id of [1, 2]) {
      assert.match(shown, new RegExp(`t-${id} `));
      assert.match(shown, new RegExp(`Prompt of task ${id}`));
    }
    assert.match(shown, /lite/);
    assert.match(shown, /y approve 2/);
    self.keys('y');
    assert.deepEqual(
      self.calls().map(({ operation, input }) => [operation, (input as { id: string }).id]),
      [
        ['decision.approve', 'd-1'],
        ['decision.approve', 'd-2'],
      ],
    );
    const { hash } = decisionRow(2);
    assert.deepEqual(self.calls()[1]?.input, { id: 'd-2', hash });
  });

  it('the confirmation takes no answer before all of it was on the screen', () => {
    const ids = [1, 2, 3, 4, 5, 6, 7, 8];
    const self = tellDecisions(withDecisions(8).keys('*', 'a'), ...ids).keys('y');
    assert.deepEqual(self.calls(), []);
    assert.match(self.state().message?.text ?? '', /read to the end first/);
    self.keys('space', 'space', 'y');
    assert.equal(self.calls().length, 8);
  });

  it('the confirmation takes no second key that arrives as fast as a paste', () => {
    const self = bench()
      .data({ messages: [messageRow(1), messageRow(2)] })
      .keys('2', '*');
    self
      .send({ type: 'keys', keys: ['a'], at: NOW + 10_000 })
      .send({ type: 'keys', keys: ['y'], at: NOW + 10_005 });
    assert.deepEqual(self.calls(), []);
    self.keys('esc');
  });

  it('the confirmation takes no answer while it is loading, nor from keys that arrive together', () => {
    const self = withDecisions(2).keys('*', 'a', 'y');
    assert.deepEqual(self.calls(), []);
    tellDecisions(self, 1, 2).burst('y', 'y');
    assert.deepEqual(self.calls(), []);
    self.send({ type: 'keys', keys: ['y'], at: NOW + 10_000 });
    assert.equal(self.calls().length, 2);
  });

  it('a row that has changed since it was marked is left out, with a message', () => {
    const self = withDecisions(3).keys('*');
    self.data({ decisions: [decisionRow(2, { state: 'denied' })] }).keys('a');
    showTask(tellDecisions(self, 1, 2, 3), 2);
    assert.match(textOf(self), /approve 2 of 3 marked\?/);
    assert.match(textOf(self), /t-2: it has changed since it was marked/);
    self.keys('y');
    assert.deepEqual(
      self.calls().map(({ input }) => (input as { id: string }).id),
      ['d-1', 'd-3'],
    );
  });

  it('a row whose action has changed since the question is left out', () => {
    const self = tellDecisions(withDecisions(2).keys('*', 'a'), 1, 2);
    showDecision(self, 2, {}, 'Another prompt');
    assert.match(textOf(self), /t-2: it has changed since the question/);
    self.keys('y');
    assert.equal(self.calls().length, 1);
  });

  it('the result is reported once, with each refusal', () => {
    const self = tellDecisions(withDecisions(3).keys('*', 'a'), 1, 2, 3).keys('y');
    const effect = self.effects().find((each) => each.do === 'calls');
    assert.ok(effect?.do === 'calls');
    const [first, second, third] = effect.calls;
    self.send({ type: 'answered', effect: first!, answer: { session: null } });
    self.send({ type: 'refused', busy: second!.busy, text: 'another hash' });
    assert.match(self.state().message?.text ?? '', /approve: 3 calls/);
    self.send({ type: 'answered', effect: third!, answer: { session: null } });
    assert.match(
      self.state().message?.text ?? '',
      /approve: 2 done; 1 refused: d-2 \(another hash\); done: d-1, d-3/,
    );
    assert.equal(self.state().message?.tone, 'bad');
    assert.deepEqual(self.state().busy, []);
  });

  it('the result is green when nothing was refused and every omission was announced', () => {
    const answerAll = (self: Bench): Bench => {
      for (const effect of self.keys('y').effects())
        if (effect.do === 'calls')
          for (const call of effect.calls)
            self.send({ type: 'answered', effect: call, answer: { session: null } });
      return self;
    };
    const named = withDecisions(8, 80, 60).keys('*');
    named.data({ decisions: [decisionRow(2, { state: 'denied' })] }).keys('a');
    answerAll(showTask(tellDecisions(named, 1, 2, 3, 4, 5, 6, 7, 8), 2));
    assert.equal(named.state().message?.tone, 'good');
    assert.match(
      textOf(named),
      /✓ approve: 7 done; 1 left out: t-2 \(it has changed/,
      'in the one-line message the count precedes the ids',
    );

    const surprising = tellDecisions(withDecisions(2).keys('*', 'a'), 1, 2);
    showDecision(surprising, 2, {}, 'Another prompt');
    answerAll(surprising);
    assert.equal(surprising.state().message?.tone, 'bad');
    assert.match(
      textOf(surprising),
      /✗ approve: 1 done; 1 left out: t-2 \(it has changed since the question\)/,
    );
  });

  it('any other key cancels, and keeps the marks', () => {
    const self = tellDecisions(withDecisions(2).keys('*', 'd'), 1, 2).keys('n');
    assert.deepEqual(self.calls(), []);
    assert.equal(self.state().overlay, null);
    assert.equal(marksOf(self).length, 2);
  });

  it('several workers are stopped, and the ended ones are named', () => {
    const self = bench()
      .data({
        tasks: [1, 2, 3].map((id) =>
          taskRow(id, { status: id === 3 ? 'done' : 'running', session_id: `s-${id}` }),
        ),
        sessions: [
          ...[1, 2].map((id) => sessionRow(id, { state: 'running', ended_at: null })),
          sessionRow(3),
        ],
      })
      .keys('*', 'x');
    assert.match(textOf(self), /stop 2 of 3 marked\?/);
    assert.match(textOf(self), / t-3: has ended/);
    self.keys('y');
    assert.deepEqual(
      self.calls().map(({ operation, input }) => [operation, (input as { id: string }).id]),
      [
        ['task.cancel', 't-1'],
        ['task.cancel', 't-2'],
      ],
    );
  });

  it('several messages are acknowledged after a confirmation', () => {
    const self = bench()
      .data({ messages: [messageRow(1), messageRow(2)] })
      .keys('2', '*', 'a');
    assert.deepEqual(self.calls(), []);
    self.keys('y');
    assert.equal(self.calls().length, 2);
  });

  it('several promotions run one after the other, each with the head that was shown', () => {
    const self = bench(100, 60)
      .data({ sessions: [sessionRow(1), sessionRow(2)] })
      .keys('*', 'p');
    for (const id of [1, 2]) showComments(showEvidence(showWork(self, id), id), id, []);
    assert.match(textOf(self), /m merge 2 {3}b rebase 2 {3}s squash 2/);
    self.keys('m');
    assert.deepEqual(
      self.calls().map(({ operation }) => operation),
      ['worktree.promote', 'worktree.promote'],
    );
  });

  it('the hints show the number of marked rows', () => {
    assert.match(textOf(withDecisions(3).keys('*')), /a approve 3/);
  });
});
