import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SvcError } from '../../../engine/core/base/errors.ts';
import {
  createLogBlockReader,
  encodeLogBlock,
  type LogBlock,
  MOST_BLOCK_BYTES,
} from '../../../engine/fleet/log-blocks.ts';
import { appendLogCopy, findTailOffset, readLog } from '../../../engine/workers/runner/processes/index.ts';

function makeLog(t: { after(work: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-log-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'log');
}
const block = (from: number, text: string): LogBlock => ({ from, bytes: Buffer.from(text) });
const readAll = (file: string, from = 0) => readLog(file, { from, maxBytes: 1024 * 1024, ended: true });

test('a copy of a log has each part once, in whatever overlap it arrives', (t) => {
  const file = makeLog(t);
  appendLogCopy(file, block(0, 'one\n'));
  appendLogCopy(file, block(4, 'two\n'));
  appendLogCopy(file, block(0, 'one\ntwo\n'));
  appendLogCopy(file, block(4, 'two\nthree\n'));
  assert.equal(readFileSync(file, 'utf8'), 'one\ntwo\nthree\n');
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test('a copy keeps the offsets of a log that was cut before it arrived', (t) => {
  const file = makeLog(t);
  appendLogCopy(file, block(0, 'one\n'));
  appendLogCopy(file, block(1000, 'later\n'));
  appendLogCopy(file, block(1006, 'last\n'));
  assert.equal(findTailOffset(file, 0), 1011);
  const { text, dropped, next } = readAll(file);
  assert.deepEqual({ text, dropped, next }, { text: 'later\nlast\n', dropped: 1000, next: 1011 });
  assert.equal(readAll(file, 1006).text, 'last\n');
});

test('a copy above 64 MiB keeps its newest part, at the same offsets', (t) => {
  const file = makeLog(t);
  const line = `${'x'.repeat(1023)}\n`;
  const part = Buffer.from(line.repeat(16 * 1024));
  for (let at = 0; at < 5; at += 1) appendLogCopy(file, { from: at * part.length, bytes: part });
  assert.equal(findTailOffset(file, 0), 5 * part.length);
  assert.ok(statSync(file).size < 40 * 1024 * 1024);
  appendLogCopy(file, { from: 5 * part.length, bytes: Buffer.from('end\n') });
  assert.equal(readAll(file, 5 * part.length).text, 'end\n');
});

test('a link where the copy belongs is not followed', (t) => {
  const file = makeLog(t);
  writeFileSync(`${file}.other`, 'precious');
  process.getBuiltinModule('node:fs').symlinkSync(`${file}.other`, file);
  assert.throws(() => appendLogCopy(file, block(0, 'x')), /link/);
  assert.equal(readFileSync(`${file}.other`, 'utf8'), 'precious');
  assert.ok(existsSync(file));
});

test('blocks arrive whole, however the stream is cut', () => {
  const sent = [block(0, 'hello\n'), block(6, ''), block(2 ** 40, 'ünïcode')];
  const bytes = Buffer.concat(sent.map(encodeLogBlock));
  for (const size of [1, 5, 13, bytes.length]) {
    const got: LogBlock[] = [];
    const read = createLogBlockReader((each) => got.push({ ...each, bytes: Buffer.from(each.bytes) }));
    for (let at = 0; at < bytes.length; at += size) read(bytes.subarray(at, at + size));
    assert.deepEqual(got, sent);
  }
});

test('a block of an impossible size or offset is refused', () => {
  const read = (bytes: Buffer) => () => createLogBlockReader(() => undefined)(bytes);
  const long = Buffer.alloc(12);
  long.writeUInt32BE(MOST_BLOCK_BYTES + 1, 8);
  const far = Buffer.alloc(12);
  far.writeBigUInt64BE(2n ** 60n);
  for (const bytes of [long, far])
    assert.throws(read(bytes), (error) => error instanceof SvcError && error.code === 'answer_invalid');
});
