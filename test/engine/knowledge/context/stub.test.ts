import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countLines, cutChunks, takeLines } from '../../../../engine/knowledge/context/chunks.ts';
import { composeStub, findExitCode } from '../../../../engine/knowledge/context/stub.ts';

test('the exit code is the last one in the end of an output', () => {
  const cases: [string, number | null][] = [
    ['##[error]Process completed with exit code 1.\n', 1],
    ['Process exited with code 137\n', 137],
    ['exit status 2\n', 2],
    ['child exited (3)\n', 3],
    ['Exit code: 0\n', 0],
    ['make[1]: *** [Makefile:12: all] Error 2\n', 2],
    ['The command returned a non-zero code: 127\n', 127],
    ['tried, exit code 1\ntried again, exit code 0\n', 0],
    [`exit code 1\n${'and then much more was said\n'.repeat(200)}`, null],
    ['please exit through door 12', null],
    ['exit code 999', null],
    ['status 200 for /exit', null],
    ['', null],
  ];
  for (const [text, code] of cases) assert.equal(findExitCode(text), code, text.slice(0, 60));
});

test('chunks are the whole text, at existing line ends', () => {
  const texts = [
    '',
    '\n\n\n',
    'one line',
    Array.from({ length: 500 }, (_, at) => `line ${at}`).join('\n'),
    `${'🦊'.repeat(3000)}\nshort\n${'x'.repeat(5000)}`,
    'a\r\nb\r\n'.repeat(100),
  ];
  for (const text of texts) {
    const chunks = [...cutChunks(text)];
    assert.equal(chunks.map((each) => each.text).join(''), text);
    const bytes = Buffer.from(text);
    let line = 1;
    for (const each of chunks) {
      assert.equal(bytes.toString('utf8', each.begins, each.ends), each.text);
      assert.ok(each.text.isWellFormed() && each.text.length <= 1200);
      assert.equal(each.firstLine, line);
      assert.ok(takeLines(text, each.firstLine, each.lastLine).includes(each.text));
      line = each.lastLine + (each.text.endsWith('\n') ? 1 : 0);
    }
  }
  assert.deepEqual(['', 'a', 'a\n', 'a\nb', '\n'].map(countLines), [0, 1, 1, 2, 1]);
});

test('a stub is short for every text', () => {
  const facts = { id: 'c-0123456789', bytes: 1, lines: 1, kind: 'text', exitCode: null, idleMs: 0 };
  for (const shown of ['', 'x'.repeat(1_000_000), 'y\n'.repeat(100_000), '🦊'.repeat(10_000)]) {
    const stub = composeStub(facts, shown);
    assert.ok(stub.length < 1800, `${stub.length}`);
    assert.ok(stub.isWellFormed());
    assert.equal(composeStub(facts, shown), stub);
  }
  assert.equal(
    composeStub(facts, 'all of it\nis shown\n'),
    '[svc-stored: c-0123456789, 1 bytes, 1 line; all: context_retrieve c-0123456789]\nall of it\nis shown',
  );
});
