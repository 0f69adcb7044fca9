import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { runHere } from '../support/command-line.ts';
import { readCorpus } from '../support/corpus.ts';
import { temporaryFolder } from '../support/git.ts';

// In a folder without svc.yaml: the command needs no workspace and no engine.
const cwd = temporaryFolder();
after(() => rmSync(cwd, { recursive: true }));

const run = (args: readonly string[], input: string) =>
  runHere(['context', 'crush', ...args], { cwd, env: { PATH: process.env.PATH }, input });

const noise = readCorpus('noise').find(({ name }) => name === 'go-test-verbose');
const content = readCorpus('content').find(({ name }) => name === 'windows-source');
assert.ok(noise && content);

describe('svc context crush', () => {
  it('prints what is left of standard input, or of a file, and on request what was saved', async () => {
    const printed = await run(['--stats'], noise.text);
    assert.equal(printed.code, 0, printed.stderr);
    for (const fact of noise.facts) assert.ok(printed.stdout.includes(fact), fact);
    assert.ok(printed.stdout.length < noise.text.length / 4);
    assert.match(printed.stderr, /^tests: \d+ bytes, now \d+ \(\d+ % less\)$/m);
    writeFileSync(join(cwd, 'test.log'), noise.text);
    assert.equal((await run(['test.log'], '')).stdout, printed.stdout);
  });

  it('prints content as it came, to the last byte', async () => {
    assert.equal((await run([], content.text)).stdout, content.text);
    assert.equal((await run([], 'no newline at the end')).stdout, 'no newline at the end');
    assert.equal((await run(['--kind', 'text'], noise.text)).stdout, noise.text);
  });

  it('says as JSON what was left out, and ends markers as it is told', async () => {
    const { text, kind, bytes_in, bytes_out, omissions } = (
      await run(['--json', '--whole', 'make test'], noise.text)
    ).json<{ text: string; kind: string; bytes_in: number; bytes_out: number; omissions: unknown[] }>();
    assert.equal(kind, 'tests');
    assert.equal(bytes_in, Buffer.byteLength(noise.text));
    assert.equal(bytes_out, Buffer.byteLength(text));
    assert.equal(text.match(/; all: make test\]/g)?.length, omissions.length);
  });

  it('refuses a file that is not there, and a kind that it does not know', async () => {
    assert.equal((await run(['nowhere.log'], '')).code, 4);
    assert.notEqual((await run(['--kind', 'poem'], 'x')).code, 0);
  });
});
