import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const MODULE = fileURLToPath(new URL('../../../../engine/core/platform/index.js', import.meta.url));

// Small blocks, each freed between two that are in use: none of the freed memory is at the end of the heap.
const PROGRAM = `
const { platform } = await import(${JSON.stringify(MODULE)});
const blocks = Array.from({ length: 1500 }, () => Buffer.allocUnsafeSlow(100 * 1024).fill(1));
const kept = blocks.filter((_, at) => at % 10 === 0);
blocks.length = 0;
await new Promise((next) => setTimeout(next));
gc();
const before = process.memoryUsage.rss();
await platform.trimAllocator();
console.log(JSON.stringify([before, process.memoryUsage.rss(), kept.length]));
`;

const isGlibc =
  (process.report.getReport() as { header: { glibcVersionRuntime?: string } }).header.glibcVersionRuntime !==
  undefined;

/** Node reads it from there. */
const isMemoryKnown = existsSync('/proc/self/stat');

test('memory between used blocks returns to the system', {
  skip: isGlibc && isMemoryKnown ? false : 'only glibc has the call, and the memory must be known',
}, () => {
  const said = execFileSync(process.execPath, [
    '--expose-gc',
    '--input-type=module',
    '-e',
    PROGRAM,
  ]).toString();
  const [before, after] = JSON.parse(said) as [number, number, number];
  // The program has freed 135 MB.
  assert.ok(before - after > 40 * 1024 ** 2, `${before} bytes became ${after}`);
});
