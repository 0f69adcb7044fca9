import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readCorpus } from '../../../support/gateway/corpus.ts';
import { until } from '../../../support/wait.ts';
import { runHere } from '../../../support/workspaces/command-line.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

// The command needs neither a workspace nor an engine, so the folder has no svc.yaml.
const cwd = temporaryFolder();
after(() => rmSync(cwd, { recursive: true }));

const run = (args: readonly string[], input: string) =>
  runHere(['context', 'crush', ...args], { cwd, env: { PATH: process.env.PATH }, input });

const noise = readCorpus('noise').find(({ name }) => name === 'go-test-verbose');
const content = readCorpus('content').find(({ name }) => name === 'windows-source');
assert.ok(noise && content);

describe('svc context crush', () => {
  it('svc context crush prints the rest of standard input or of a file, and on request the saving', async () => {
    const printed = await run(['--stats'], noise.text);
    assert.equal(printed.code, 0, printed.stderr);
    for (const fact of noise.facts) assert.ok(printed.stdout.includes(fact), fact);
    assert.ok(printed.stdout.length < noise.text.length / 4);
    assert.match(printed.stderr, /^tests: \d+ bytes, now \d+ \(\d+ % less\)$/m);
    writeFileSync(join(cwd, 'test.log'), noise.text);
    assert.equal((await run(['test.log'], '')).stdout, printed.stdout);
  });

  it('svc context crush prints content unchanged, to the last byte', async () => {
    assert.equal((await run([], content.text)).stdout, content.text);
    assert.equal((await run([], 'no newline at the end')).stdout, 'no newline at the end');
    assert.equal((await run(['--kind', 'text'], noise.text)).stdout, noise.text);
  });

  it('svc context crush reports omissions as JSON, and ends markers as configured', async () => {
    const { text, kind, bytes_in, bytes_out, omissions } = (
      await run(['--json', '--whole', 'make test'], noise.text)
    ).json<{ text: string; kind: string; bytes_in: number; bytes_out: number; omissions: unknown[] }>();
    assert.equal(kind, 'tests');
    assert.equal(bytes_in, Buffer.byteLength(noise.text));
    assert.equal(bytes_out, Buffer.byteLength(text));
    assert.equal(text.match(/; all: make test\]/g)?.length, omissions.length);
  });

  it('svc context crush refuses a missing file and an unknown kind', async () => {
    assert.equal((await run(['nowhere.log'], '')).code, 4);
    assert.notEqual((await run(['--kind', 'poem'], 'x')).code, 0);
  });
});

describe('svc context in a workspace', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
  });
  after(() => ws.close());

  it('svc context stores, finds, prints and counts texts', async () => {
    const call = async (args: readonly string[], input = '') => {
      const ran = await ws.svc(['context', ...args], { input });
      assert.equal(ran.code, 0, ran.stderr);
      return ran;
    };
    assert.match((await call(['list'])).stderr, /no text is stored/);
    const text = 'built\r\nnot \u001b[31mwell\u001b[0m\nno newline';
    const stored = await call(['put', '--exit-code', '2'], text);
    const [, id = ''] =
      /^\[svc-stored: (c-[0-9a-f]{10}), 35 bytes, 3 lines, exit code 2; /.exec(stored.stdout) ?? [];
    assert.ok(!stored.stdout.includes('\u001b'));
    assert.equal((await call(['get', id.slice(0, 6)])).stdout, text);
    assert.equal((await call(['get', id, '--lines', '1'])).stdout, 'built\r\n');
    assert.match((await call(['search', 'not', 'well'])).stdout, new RegExp(`^${id} lines 1-3\nbuilt`));
    assert.match((await call(['list'])).stdout, new RegExp(`^${id}\t35\t3\ttext\t2\t\\d+s$`, 'm'));
    const crushed = (await call(['crush', '--store'], noise.text)).stdout;
    const [, whole = ''] = /all: context_retrieve (c-\w+)\]/.exec(crushed) ?? [];
    assert.equal((await call(['get', whole])).stdout, noise.text);
    assert.match((await call(['stats'])).stdout, /^-\tcontext_crush\t1\t[\s\S]*kept out +about \d+ tokens/m);
    assert.equal((await call(['stats', '--json'])).json<{ total: { calls: number } }>().total.calls, 2);
  });

  it('the context tools can be switched off', async () => {
    const names = async () => {
      const tools = (await ws.svc(['tool', 'list', '--json'])).json<{ name: string }[]>();
      return tools.map(({ name }) => name).filter((name) => name.startsWith('context_'));
    };
    assert.deepEqual(await names(), [
      'context_crush',
      'context_externalize',
      'context_retrieve',
      'context_search',
    ]);
    assert.equal((await ws.svc(['config', 'set', 'context.guidance.mcp_tools', 'false'])).code, 0);
    await until(async () => (await names()).length === 0, 'the tools to be gone');
    assert.equal((await ws.svc(['config', 'set', 'context.guidance.mcp_tools', 'true'])).code, 0);
    await until(async () => (await names()).length === 4, 'the tools to be back');
  });

  it('svc context refuses binary input, missing texts, and contradictory flags', async () => {
    const codeOf = async (args: readonly string[], input = '') =>
      (await ws.svc(['context', ...args], { input })).code;
    assert.equal(await codeOf(['get', 'c-0123456789']), 4);
    assert.equal(await codeOf(['crush', '--store', '--kind', 'log'], 'x'), 2);
    writeFileSync(join(ws.root, 'image'), Buffer.from([0xff, 0xd8, 0xff]));
    assert.equal(await codeOf(['put', 'image']), 2);
  });
});
