import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseNext, type WaitingRun } from '../../../engine/dispatch/choose-next.ts';

const waiting = (...words: string[]): WaitingRun[] =>
  words.map((word, at) => {
    const [project = '', priority = '0', agent = 'a'] = word.split(':');
    return {
      sessionId: `s-${at + 1}`,
      project: project === '-' ? null : project,
      priority: Number(priority),
      agent,
    };
  });
const ids = (found: WaitingRun[]): string[] => found.map(({ sessionId }) => sessionId);
const NONE = new Map<string, number>();

test('the oldest tasks go first, as many as there is capacity for', () => {
  assert.deepEqual(ids(chooseNext(waiting('x', 'x', 'x'), { room: 2, working: [], limits: NONE })), [
    's-1',
    's-2',
  ]);
  assert.deepEqual(chooseNext(waiting('x'), { room: 0, working: [], limits: NONE }), []);
});

test('a higher priority goes before an older task', () => {
  const next = chooseNext(waiting('x:-1', 'x', 'y:1', 'x:1'), { room: 4, working: [], limits: NONE });
  assert.deepEqual(ids(next), ['s-3', 's-4', 's-2', 's-1']);
});

test('a long queue of one project does not starve the others', () => {
  const queue = waiting('x', 'x', 'x', 'x', '-', 'y', 'x');
  assert.deepEqual(ids(chooseNext(queue, { room: 4, working: [], limits: NONE })), [
    's-1',
    's-5',
    's-6',
    's-2',
  ]);
  const busy = chooseNext(queue, { room: 2, working: ['x', 'x', null], limits: NONE });
  assert.deepEqual(ids(busy), ['s-6', 's-5']);
});

test('a suspended agent is skipped and delays no one', () => {
  const queue = waiting('x:0:bad', 'x:0:bad', 'x', 'y:1:bad');
  assert.deepEqual(ids(chooseNext(queue, { room: 9, working: [], limits: new Map([['bad', 0]]) })), ['s-3']);
  assert.deepEqual(ids(chooseNext(queue, { room: 9, working: [], limits: new Map([['bad', 1]]) })), [
    's-4',
    's-3',
  ]);
});
