import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { until } from '../support/wait.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../support/workspaces/workspace.ts';

// A start costs as much as it loads. Each test guards a shortcut whose code is justified only while it works.

const REPORTER = new URL('../support/processes/report-loaded.js', import.meta.url).href;
const PACKAGE = /(?:^|\/)node_modules\/(?:.*\/node_modules\/)?((?:@[^/]+\/)?[^/]+)\//;
/** The build names each source in the file that contains it. */
const SOURCE = /^\/\/ (\S+\.[cm]?[jt]sx?)$/gm;

function listSources(url: string): string[] {
  if (!url.startsWith('file:')) return [url];
  const path = fileURLToPath(url);
  return [path, ...[...readFileSync(path, 'utf8').matchAll(SOURCE)].map(([, source = '']) => source)];
}

/** Node modules that few commands need, and that take milliseconds to load. */
const RARE = ['NativeModule crypto', 'NativeModule child_process'];

/** The detector of languages, with its lists of words. */
const DETECTOR = ['detect.ts', 'function-words.ts', 'trade-words.ts'].map(
  (file) => `engine/knowledge/guard/language/${file}`,
);

interface Loaded {
  /** The sources in its files, and Node modules. */
  parts: string[];
  packages: Set<string>;
  stdout: string;
}

describe('files loaded at start', () => {
  let ws: TestWorkspace;
  let reports = 0;
  const children = new Set<ChildProcess>();
  before(async () => {
    ws = await makeWorkspace();
  });
  after(async () => {
    // An engine left by a failed test would keep this file from ending.
    for (const child of children) child.kill('SIGKILL');
    await ws.close();
  });

  /** Runs Node with these arguments; returns everything that it has loaded when it exits. */
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
    const written: Buffer[] = [];
    child.stdout.on('data', (part: Buffer) => written.push(part));
    return new Promise((resolve) =>
      child.on('close', () => {
        children.delete(child);
        const parts = readFileSync(file, 'utf8').split('\n').flatMap(listSources);
        const packages = new Set(parts.flatMap((part) => PACKAGE.exec(part)?.[1] ?? []));
        resolve({ parts, packages, stdout: Buffer.concat(written).toString('utf8') });
      }),
    );
  }

  /** Reports whether a Node module, or a source, which must exist, was loaded. */
  function isLoaded({ parts }: Loaded, part: string): boolean {
    if (part.endsWith('.ts')) assert.ok(existsSync(part), part);
    return parts.includes(part);
  }

  /** Lists the classes of Intl that it used. */
  const listIntl = ({ parts }: Loaded): string[] => parts.filter((part) => part.startsWith('Intl.'));

  test('a hook loads no package, no usual client and no module that it does not need', async () => {
    await ws.svc(['up']);
    const bob = { env: { SVC_SESSION: 'bob' } };
    const locked = await ws.svc(['lock', 'acquire', 'held.txt'], bob);
    assert.equal(locked.code, 0, locked.stderr);
    const call = { tool_name: 'Write', tool_input: { file_path: 'held.txt' }, cwd: ws.root };
    const loaded = await runNode([SVC, 'hook', 'pre-write', '--agent', 'claude'], JSON.stringify(call));
    assert.match(loaded.stdout, /bob/, 'it has called the engine');
    assert.deepEqual([...loaded.packages], []);
    for (const part of [
      'engine/index.ts',
      'engine/daemon/client.ts',
      'engine/core/base/error-meanings.ts',
      ...RARE,
    ])
      assert.ok(!isLoaded(loaded, part), part);
  });

  test('a command that calls the engine loads only the client of its socket', async () => {
    const loaded = await runNode([SVC, 'task', 'list', '--json', '--limit', '5', '-s', 'open']);
    assert.deepEqual(JSON.parse(loaded.stdout), []);
    assert.deepEqual([...loaded.packages], ['json-rpc-2.0']);
    for (const part of ['engine/config/index.ts', 'engine/core/base/error-meanings.ts', ...DETECTOR, ...RARE])
      assert.ok(!isLoaded(loaded, part), part);
    assert.deepEqual(listIntl(loaded), []);
  });

  test('meow reads the options of a command that are written in another way', async () => {
    const loaded = await runNode([SVC, 'task', 'list', '--json=true', '--limit=5']);
    assert.deepEqual(JSON.parse(loaded.stdout), []);
    assert.ok(loaded.packages.has('meow'));
  });

  test('an engine with its receiver loads neither the client behind fetch, nor HTTP 2, nor the modules of knowledge', async () => {
    await ws.svc(['down']);
    const running = runNode([SVC, 'daemon']);
    // Only connects: a client that starts an engine would race with it.
    await until(async () => {
      const status = await ws.svc(['status', '--json']);
      return status.code === 0 && status.json<{ receivers: unknown[] }>().receivers.length > 0;
    }, 'the receiver');
    const down = await ws.svc(['down']);
    assert.equal(down.code, 0, down.stderr);
    const loaded = await running;
    assert.ok(isLoaded(loaded, 'NativeModule http'), 'it serves HTTP');
    for (const part of ['NativeModule internal/deps/undici/undici', 'NativeModule http2', ...DETECTOR])
      assert.ok(!isLoaded(loaded, part), part);
    assert.deepEqual(listIntl(loaded), []);
    // The knowledge module loads only its operation declarations until one is used.
    const knowledge = ['memory/store.ts', 'search/index.ts', 'context/crush/index.ts'];
    for (const part of [...knowledge, 'context/store.ts', 'context/find.ts', 'context/text-files.ts'])
      assert.ok(!isLoaded(loaded, `engine/knowledge/${part}`), part);
  });

  test('the dashboard loads one function of es-toolkit, not all of them, and caches widths', async () => {
    const screen = JSON.stringify(pathToFileURL(join(SVC, '../open-screen.js')).href);
    const loaded = await runNode(['--input-type=module', '-e', `await import(${screen})`]);
    assert.ok(loaded.packages.has('ink'));
    const parts = loaded.parts.filter((part) => PACKAGE.exec(part)?.[1] === 'es-toolkit');
    assert.ok(parts.some((part) => /throttle/.test(part)));
    assert.ok(parts.length < 40, `${parts.length} files of es-toolkit`);
    for (const part of ['tui/text/widths.ts', 'tui/text/line-widths.ts'])
      assert.ok(isLoaded(loaded, part), part);
    assert.ok(!loaded.parts.some((part) => part.endsWith('.development.js')), 'production build of React');
  });
});
