import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOverLimit, isUnderHalf } from './limits.ts';
import { findLeastWork, markPath, readTrace } from './trace.ts';

test('a processor time may be twice the recorded one, and not more', () => {
  assert.equal(isOverLimit('time', 20, 10), false);
  assert.equal(isOverLimit('time', 20.1, 10), true);
});

test('a count of zero stays zero, and a second fork is over the limit of one', () => {
  assert.equal(isOverLimit('processes', 1, 0), true);
  assert.equal(isOverLimit('files', 0.2, 0), false, 'a part of a call is work of something else');
  assert.equal(isOverLimit('processes', 2, 1), true);
  assert.equal(isOverLimit('statements', 11, 9), false);
});

test('a figure under half of its record asks for a new one', () => {
  assert.equal(isUnderHalf('time', 4, 10), true);
  assert.equal(isUnderHalf('files', 0, 2), true);
  assert.equal(isUnderHalf('files', 0, 0.2), false);
});

test('a trace gives the work between the marks of each block, and joins interrupted calls', () => {
  const [begin, end] = (['begin', 'end'] as const).map((edge) => markPath(edge, 'a call', 0));
  const trace = `1 access("/before", F_OK) = 0
1 access("${begin}", F_OK) = -1 ENOENT (No such file or directory)
1 openat(AT_FDCWD</>, "/one", O_RDONLY <unfinished ...>
2 write(4<anon_inode:[eventfd]>, ""..., 8) = 8
2 newfstatat(3</one>, "", {st_mode=S_IFREG}, AT_EMPTY_PATH) = 0
1 <... openat resumed>) = 3</one>
2 openat(AT_FDCWD</>, "/proc/self/task", O_RDONLY) = 5</proc/1/task>
1 read(3</one>, ""..., 100) = 40
1 write(4</two>, ""..., 30 <unfinished ...>
2 clone(child_stack=NULL, flags=CLONE_VM|CLONE_THREAD) = 9
2 clone(child_stack=NULL, flags=CLONE_VFORK|SIGCHLD) = 10
1 <... write resumed>) = 30
1 fdatasync(4</two>) = 0
1 access("${end}", F_OK) = -1 ENOENT (No such file or directory)
1 fsync(4</two>) = 0`;
  const blocks = readTrace(trace).get('a call') ?? [];
  assert.deepEqual(blocks, [{ processes: 1, files: 1, syncs: 1, read: 40, written: 30 }]);
  const other = { processes: 3, files: 0, syncs: 1, read: 50, written: 30, statements: 4 };
  assert.deepEqual(findLeastWork([{ ...blocks[0]!, statements: 6 }, other], 2), {
    ...{ processes: 0.5, files: 0, syncs: 0.5, read: 20, written: 15, statements: 2 },
  });
});
