import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseNext, type WaitingRun } from '../../../engine/dispatch/choose-next.ts';

/** @param words `project:priority:agent@machine` */
const waiting = (...words: string[]): WaitingRun[] =>
  words.map((word, at) => {
    const [line = '', runner = null] = word.split('@');
    const [project = '', priority = '0', agent = 'a'] = line.split(':');
    return {
      sessionId: `s-${at + 1}`,
      project: project === '-' ? null : project,
      priority: Number(priority),
      agent,
      runner,
    };
  });
const ids = (found: WaitingRun[]): string[] => found.map(({ sessionId }) => sessionId);
const here = (room: number) => new Map([[null, room]]);
const NONE = new Map<string, number>();

test('the oldest tasks go first, as many as there is capacity for', () => {
  assert.deepEqual(ids(chooseNext(waiting('x', 'x', 'x'), { rooms: here(2), working: [], limits: NONE })), [
    's-1',
    's-2',
  ]);
  assert.deepEqual(chooseNext(waiting('x'), { rooms: here(0), working: [], limits: NONE }), []);
});

test('a higher priority goes before an older task', () => {
  const next = chooseNext(waiting('x:-1', 'x', 'y:1', 'x:1'), { rooms: here(4), working: [], limits: NONE });
  assert.deepEqual(ids(next), ['s-3', 's-4', 's-2', 's-1']);
});

test('a long queue of one project does not starve the others', () => {
  const queue = waiting('x', 'x', 'x', 'x', '-', 'y', 'x');
  assert.deepEqual(ids(chooseNext(queue, { rooms: here(4), working: [], limits: NONE })), [
    's-1',
    's-5',
    's-6',
    's-2',
  ]);
  const busy = chooseNext(queue, { rooms: here(2), working: ['x', 'x', null], limits: NONE });
  assert.deepEqual(ids(busy), ['s-6', 's-5']);
});

test('a suspended agent is skipped and delays no one', () => {
  const queue = waiting('x:0:bad', 'x:0:bad', 'x', 'y:1:bad');
  assert.deepEqual(ids(chooseNext(queue, { rooms: here(9), working: [], limits: new Map([['bad', 0]]) })), [
    's-3',
  ]);
  assert.deepEqual(ids(chooseNext(queue, { rooms: here(9), working: [], limits: new Map([['bad', 1]]) })), [
    's-4',
    's-3',
  ]);
});

test('a session without room on its machine does not delay those of other machines', () => {
  const queue = waiting('x:5@box1', 'x', 'x:0@box2', 'x@box2', 'x', 'y@box1');
  const choose = (rooms: [string | null, number][]) =>
    ids(chooseNext(queue, { rooms: new Map(rooms), working: [], limits: NONE }));
  assert.deepEqual(
    choose([
      [null, 1],
      ['box1', 0],
      ['box2', 1],
    ]),
    ['s-2', 's-3'],
  );
  assert.deepEqual(
    choose([
      [null, 9],
      ['box1', -1],
    ]),
    ['s-2', 's-5'],
  );
  assert.deepEqual(choose([['box1', 1]]), ['s-1']);
  assert.deepEqual(choose([]), []);
});

test('priorities, projects and suspended agents count across machines', () => {
  const rooms = new Map([
    [null, 2],
    ['box1', 2],
  ]);
  const queue = waiting('x:0', 'x:1@box1', 'x:2', 'x:0@box1', 'y:0@box1', 'y:0');
  assert.deepEqual(ids(chooseNext(queue, { rooms, working: [], limits: NONE })), [
    's-3',
    's-2',
    's-5',
    's-6',
  ]);
  const few = waiting('x:0:bad', 'y:0:bad@box1', 'x:0:bad@box1', 'x@box1');
  assert.deepEqual(ids(chooseNext(few, { rooms, working: ['x'], limits: new Map([['bad', 1]]) })), [
    's-2',
    's-4',
  ]);
});
