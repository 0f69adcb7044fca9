import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type BenchMarks, compareWithMarks, recordMarks } from './bars.ts';
import { type Figure, figure } from './figure.ts';

const RUN = fileURLToPath(new URL('./run.js', import.meta.url));
const PLACE = { machine: 'a machine', commit: 'abc' };
const CALL = 'a call, p50 (reference: a trivial one)';

const marksOf = (figures: readonly Figure[]): BenchMarks => recordMarks(figures, undefined, PLACE);
const verdict = (now: Figure, marks: BenchMarks) => compareWithMarks([now], marks)[0]?.verdict;

test('a ratio counts as worse or better only beyond the noise of two runs', () => {
  const marks = marksOf([figure(CALL, 20, 'ms', 10)]);
  assert.equal(verdict(figure(CALL, 24, 'ms', 10), marks), 'same');
  assert.equal(verdict(figure(CALL, 26, 'ms', 10), marks), 'worse');
  assert.equal(verdict(figure(CALL, 15, 'ms', 10), marks), 'better');
  assert.equal(verdict(figure(CALL, 60, 'ms', 30), marks), 'same', 'a slow machine slows its reference too');
});

test('a tail is allowed more noise than a median, and a count less', () => {
  const tail = 'a call, p95';
  assert.equal(verdict(figure(tail, 14, 'ms', 10), marksOf([figure(tail, 10, 'ms', 10)])), 'same');
  const size = 'the list of tools';
  assert.equal(verdict(figure(size, 1050, 'bytes'), marksOf([figure(size, 1000, 'bytes')])), 'worse');
});

test('a throughput that falls is worse', () => {
  const rate = (each: number) => figure('requests', each, 'requests/s', 100);
  assert.equal(verdict(rate(30), marksOf([rate(60)])), 'worse');
  assert.equal(verdict(rate(90), marksOf([rate(60)])), 'better');
});

test('a new figure is called new, and a recorded one that was not measured is named', () => {
  const marks = marksOf([figure('gone', 1, 'ms')]);
  assert.deepEqual(
    compareWithMarks([figure('added', 1, 'ms')], marks).map(({ name, verdict }) => [name, verdict]),
    [
      ['added', 'new'],
      ['gone', 'not measured'],
    ],
  );
});

test('a recording keeps the bar, which is compared with the ratio or with the value', () => {
  const before = marksOf([figure(CALL, 20, 'ms', 10), figure('memory', 100, 'MB', 50)]);
  for (const [name, bar] of [
    [CALL, 2],
    ['memory', '120 MB'],
  ] as const)
    Object.assign(before.figures[name] ?? {}, { bar });
  const now = [figure(CALL, 30, 'ms', 10), figure('memory', 110, 'MB', 50)];
  const after = recordMarks(now, before, { machine: 'another', commit: 'def' });
  assert.deepEqual(
    compareWithMarks(now, after).map(({ text }) => text),
    ['3x, recorded 3x, bar 2x missed', '2.2x, recorded 2.2x, bar 120 MB met'],
  );
  assert.equal(after.machine, 'another');
});

test('a bench says which program it lacks, and the check ends without a fault', () => {
  const ran = spawnSync(process.execPath, [RUN, '--check', 'strict'], {
    env: { ...process.env, PATH: '/nowhere' },
    encoding: 'utf8',
  });
  assert.match(ran.stderr, /^strict: not run, .*bwrap/m);
  assert.deepEqual([ran.status, ran.stdout], [0, '']);
});

test('an unknown name is refused', () => {
  const ran = spawnSync(process.execPath, [RUN, '--check', 'strickt'], { encoding: 'utf8' });
  assert.match(ran.stderr, /strickt/);
  assert.notEqual(ran.status, 0);
});
