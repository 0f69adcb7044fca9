import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, closeSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  createLogWatch,
  findTailOffset,
  readLog,
} from '../../../../../engine/workers/runner/processes/index.ts';
import {
  cutSidecar,
  formatHeader,
  measureIncompleteTail,
} from '../../../../../engine/workers/runner/processes/log.ts';
import { cutLog } from '../../../../../engine/workers/runner/processes/log-watch.ts';
import { temporaryFolder } from '../../../../support/workspaces/git.ts';

let folder: string;
let count = 0;
before(() => {
  folder = temporaryFolder();
});
after(() => rmSync(folder, { recursive: true, force: true }));

const newLog = (text: string | Buffer = ''): string => {
  count += 1;
  const file = join(folder, `log-${count}`);
  writeFileSync(file, text);
  return file;
};
const readAll = (file: string, from = 0) => readLog(file, { from, maxBytes: 1 << 26, ended: true });
/** Numbered lines of equal length, which reveal missing or reordered lines. */
const lines = (first: number, last: number): string =>
  Array.from({ length: last - first + 1 }, (_, index) => `${String(first + index).padStart(9, '0')}\n`).join(
    '',
  );

describe('reading a log', () => {
  test('a missing log is empty', () => {
    const { text, next, end } = readLog(join(folder, 'none'), { from: 0, maxBytes: 10 });
    assert.deepEqual([text, next, end], ['', 0, 0]);
    assert.equal(findTailOffset(join(folder, 'none'), 5), 0);
  });

  test('reads are consecutive and never split a character', () => {
    const whole = 'aé€😀z'.repeat(50);
    const file = newLog(whole);
    for (const maxBytes of [1, 4, 5, 6, 7, 11]) {
      let text = '';
      let from = 0;
      for (;;) {
        const part = readLog(file, { from, maxBytes });
        if (part.next === from) break;
        assert.ok(!part.text.includes('\uFFFD'), `${maxBytes} bytes at ${from}`);
        assert.equal(part.bytes.length, part.next - from);
        text += part.text;
        from = part.next;
      }
      assert.equal(text, whole);
    }
  });

  test('an unfinished character at the end waits, until the log has ended', () => {
    const file = newLog(Buffer.from('ok€').subarray(0, 4));
    assert.deepEqual(
      [readLog(file, { from: 0, maxBytes: 99 }).text, readLog(file, { from: 2, maxBytes: 99 }).next],
      ['ok', 2],
    );
    assert.equal(readAll(file).next, 4);
    appendFileSync(file, Buffer.from('€').subarray(2));
    assert.equal(readLog(file, { from: 2, maxBytes: 99 }).text, '€');
  });

  test('invalid bytes do not stop the reader', () => {
    const file = newLog(Buffer.from([0xff, 0xfe, 0x80, 0x80, 0x80, 0x80, 0xc0, 0x41]));
    assert.equal(readLog(file, { from: 0, maxBytes: 99 }).next, 8);
    assert.equal(measureIncompleteTail(Buffer.from([0x41, 0xf0, 0x9f])), 2);
    assert.equal(measureIncompleteTail(Buffer.from([0x80, 0x80, 0x80, 0x80])), 0);
  });

  test('the tail starts at a line, with or without a final newline', () => {
    const file = newLog('one\ntwo\nthree\n');
    assert.equal(readAll(file, findTailOffset(file, 2)).text, 'two\nthree\n');
    assert.equal(findTailOffset(file, 99), 0);
    assert.equal(findTailOffset(file, 0), 14);
    appendFileSync(file, 'four');
    assert.equal(readAll(file, findTailOffset(file, 2)).text, 'three\nfour');
    const long = newLog(lines(1, 40_000));
    assert.equal(readAll(long, findTailOffset(long, 20_000)).text, lines(20_001, 40_000));
  });
});

describe('a log is bounded (R9)', () => {
  test('a cut keeps the newest lines and every offset keeps its meaning', () => {
    const file = newLog(lines(1, 1000));
    cutLog(file, 2000);
    const first = readAll(file);
    assert.equal(first.end, 10_000);
    assert.equal(first.dropped, 10_000 - first.text.length);
    assert.equal(first.text, lines(1000 - first.text.length / 10 + 1, 1000));
    assert.ok(readFileSync(file, 'utf8').startsWith(formatHeader(first.dropped)));
    assert.equal(readLog(file, { from: 9_990, maxBytes: 99 }).text, lines(1000, 1000));
    assert.equal(readLog(file, { from: 9_990, maxBytes: 99 }).dropped, 0);

    appendFileSync(file, lines(1001, 2000));
    assert.equal(readAll(file, 10_000).text, lines(1001, 2000));
    cutLog(file, 3000);
    const second = readAll(file, 500);
    assert.equal(second.end, 20_000);
    assert.equal(second.dropped + 500 + second.text.length, 20_000);
    assert.ok(second.text.endsWith(lines(1900, 2000)));
    assert.equal(readAll(file, findTailOffset(file, 3)).text, lines(1998, 2000));
  });

  test('a log without newlines is cut between characters', () => {
    const file = newLog('€'.repeat(5000));
    cutLog(file, 1000);
    assert.match(readAll(file).text, /^€+$/);
    assert.equal(readAll(file).end, 15_000);
  });

  test('a host killed before the cut itself changes nothing', () => {
    const file = newLog(lines(1, 100));
    writeFileSync(cutSidecar(file), JSON.stringify({ dropped: 500, before: 0 }));
    assert.equal(readAll(file).text, lines(1, 100));
    assert.equal(readAll(file).end, 1000);
  });

  test('an agent that prints the line of a cut shifts no offsets', () => {
    const file = newLog(`${formatHeader(123)}next\n`);
    assert.equal(readAll(file).text, `${formatHeader(123)}next\n`);
  });

  test('the watch reports growth and cuts while the worker keeps writing', async () => {
    const file = newLog();
    const sizes: number[] = [];
    const watch = createLogWatch({
      file,
      limitBytes: 256 * 1024,
      keepBytes: 64 * 1024,
      intervalMs: 1,
      onGrow: (size) => sizes.push(size),
    });
    // A real writer in another process, with O_APPEND as in workers. It waits for us after every 2,500 bytes: a cut,
    // during which it gets no answer, can lose no more, and two cuts fit.
    const log = openSync(file, 'a');
    const script = `i=0
      while [ $i -lt 60000 ]; do
        i=$((i+1)); printf "%09d\\n" $i
        [ $((i % 250)) -ne 0 ] || { echo >&2; read go; }
      done`;
    const writer = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', log, 'pipe'] });
    closeSync(log);
    let largest = 0;
    writer.stderr?.on('data', () => {
      largest = Math.max(largest, statSync(file).size);
      writer.stdin?.write('\n');
    });
    await once(writer, 'close');
    watch.check();
    watch.close();
    assert.deepEqual(
      sizes,
      [...sizes].sort((one, other) => one - other),
    );
    assert.ok(largest < 600_000, 'the file never held everything');
    const { text, dropped, end } = readAll(file);
    assert.equal(dropped + text.length, end);
    assert.ok(dropped > 0);
    // Lines that arrive during a truncation may be lost; the others must stay whole and in order.
    const numbers = text.trimEnd().split('\n').map(Number);
    assert.equal(numbers.at(-1), 60_000);
    assert.ok(numbers.every((number, index) => index === 0 || number > numbers[index - 1]!));
    assert.ok(end > 600_000 - 5_000 && end <= 600_000, `${end} bytes were seen of 600000`);
  });

  test("the last change is the file's own time at first and the clock's afterwards", () => {
    const file = newLog('before\n');
    let now = statSync(file).mtimeMs + 60_000;
    const watch = createLogWatch({ file, clock: { now: () => now, monotonic: () => now } });
    assert.equal(watch.lastChangeAt(), statSync(file).mtimeMs);
    now += 1000;
    watch.check();
    assert.equal(watch.lastChangeAt(), statSync(file).mtimeMs);
    appendFileSync(file, 'more\n');
    watch.check();
    assert.equal(watch.lastChangeAt(), now);
    assert.equal(watch.size(), 12);
    watch.close();
  });
});
