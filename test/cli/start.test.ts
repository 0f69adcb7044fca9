import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { until } from '../support/wait.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspace.ts';

// What a start costs is what it loads. Each test guards a shortcut that is worth its lines only while it holds.

const REPORTER = new URL('../support/report-loaded.js', import.meta.url).href;
const PACKAGE = /\/node_modules\/(?:.*\/node_modules\/)?((?:@[^/]+\/)?[^/]+)\//;

/** Modules of Node that few commands need, and that take milliseconds to load. */
const RARE = ['NativeModule crypto', 'NativeModule child_process'];

interface Loaded {
  urls: string[];
  packages: Set<string>;
  stdout: string;
}

describe('a start', () => {
  let ws: TestWorkspace;
  let reports = 0;
  const children = new Set<ChildProcess>();
  before(async () => {
    ws = await makeWorkspace();
  });
  after(async () => {
    // One that a failed test has left would hold this file open.
    for (const child of children) child.kill('SIGKILL');
    await ws.close();
  });

  /** Runs Node with these arguments, and reads what it has loaded by its end. */
  function runNode(args: readonly string[], input = ''): Promise<Loaded> {
    reports += 1;
    const file = join(ws.repository.folder, `loaded-${reports}`);
    const child = spawn(process.execPath, ['--import', REPORTER, ...args], {
      cwd: ws.root,
      env: { ...ws.env, SVC_TEST_LOADED: file },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    children.add(child);
    child.stdin.end(input);
    const parts: Buffer[] = [];
    child.stdout.on('data', (part: Buffer) => parts.push(part));
    return new Promise((resolve) =>
      child.on('close', () => {
        children.delete(child);
        const urls = readFileSync(file, 'utf8').split('\n');
        const packages = new Set(urls.flatMap((url) => PACKAGE.exec(url)?.[1] ?? []));
        resolve({ urls, packages, stdout: Buffer.concat(parts).toString('utf8') });
      }),
    );
  }

  const isLoaded = ({ urls }: Loaded, part: string): boolean => urls.some((url) => url.endsWith(part));

  test('of a hook loads no package, no usual client and no module that it does not need', async () => {
    await ws.svc(['up']);
    const bob = { env: { SVC_SESSION: 'bob' } };
    const locked = await ws.svc(['lock', 'acquire', 'held.txt'], bob);
    assert.equal(locked.code, 0, locked.stderr);
    const call = { tool_name: 'Write', tool_input: { file_path: 'held.txt' }, cwd: ws.root };
    const loaded = await runNode([SVC, 'hook', 'pre-write', '--agent', 'claude'], JSON.stringify(call));
    assert.match(loaded.stdout, /bob/, 'it has asked the engine');
    assert.deepEqual([...loaded.packages], []);
    for (const part of ['engine/index.js', 'daemon/client.js', 'error-meanings.js', ...RARE])
      assert.ok(!isLoaded(loaded, part), part);
  });

  test('of a command that asks the engine loads the client of its socket alone', async () => {
    const loaded = await runNode([SVC, 'task', 'list', '--json', '--limit', '5', '-s', 'open']);
    assert.deepEqual(JSON.parse(loaded.stdout), []);
    assert.deepEqual([...loaded.packages], ['json-rpc-2.0']);
    for (const part of ['config/index.js', 'error-meanings.js', ...RARE])
      assert.ok(!isLoaded(loaded, part), part);
  });

  test('of a command whose options are written in another way has them read by meow', async () => {
    const loaded = await runNode([SVC, 'task', 'list', '--json=true', '--limit=5']);
    assert.deepEqual(JSON.parse(loaded.stdout), []);
    assert.ok(loaded.packages.has('meow'));
  });

  test('of an engine with its receiver loads neither the client behind fetch, nor HTTP 2, nor what knowledge is made of', async () => {
    await ws.svc(['down']);
    const running = runNode([SVC, 'daemon']);
    // Asks only: a client that starts one would race with it.
    await until(async () => {
      const status = await ws.svc(['status', '--json']);
      return status.code === 0 && status.json<{ receivers: unknown[] }>().receivers.length > 0;
    }, 'the receiver');
    const down = await ws.svc(['down']);
    assert.equal(down.code, 0, down.stderr);
    const loaded = await running;
    assert.ok(isLoaded(loaded, 'NativeModule http'), 'it serves HTTP');
    for (const part of ['NativeModule internal/deps/undici/undici', 'NativeModule http2'])
      assert.ok(!isLoaded(loaded, part), part);
    // Of the knowledge what declares its operations only, until one is used.
    const knowledge = ['memory/store.js', 'memory/redact.js', 'search/index.js', 'context/crush/index.js'];
    for (const part of [...knowledge, 'context/store.js', 'context/find.js', 'context/text-files.js'])
      assert.ok(!isLoaded(loaded, `engine/knowledge/${part}`), part);
  });

  test('of the dashboard loads one function of es-toolkit, not all of them', async () => {
    const at = (path: string): string => JSON.stringify(pathToFileURL(join(SVC, '../..', path)).href);
    const loaded = await runNode([
      '--input-type=module',
      '-e',
      `(await import(${at('tui/text/lean-ink.js')})).loadInkLean(); await import(${at('tui/open-screen.js')})`,
    ]);
    assert.ok(loaded.packages.has('ink'));
    const parts = loaded.urls.filter((url) => PACKAGE.exec(url)?.[1] === 'es-toolkit');
    assert.ok(parts.some((url) => /throttle/.test(url)));
    assert.ok(parts.length < 40, `${parts.length} files of es-toolkit`);
  });
});
