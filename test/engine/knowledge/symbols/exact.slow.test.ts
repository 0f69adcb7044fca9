import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import type { ExactRun } from '../../../../engine/knowledge/symbols/exact/exact-edges.ts';
import { findTypescript } from '../../../../engine/knowledge/symbols/exact/find-typescript.ts';
import { buildCompilerStart } from '../../../../engine/knowledge/symbols/exact/start-compiler.ts';
import { runExactTier } from '../../../../engine/knowledge/symbols/exact-tier.ts';
import { until } from '../../../support/wait.ts';
import { gitEnvironment } from '../../../support/workspaces/git.ts';
import { type Files, type IndexedProject, listEdges, makeProject, openGraph } from './graph-rig.ts';

const require = createRequire(import.meta.url);
const packages = join(dirname(require.resolve('typescript/package.json')), '..');

/** Adds this repository's own compiler to a project. */
function installTypescript(root: string): void {
  const to = join(root, 'node_modules');
  cpSync(join(packages, 'typescript'), join(to, 'typescript'), { recursive: true });
  cpSync(join(packages, '@typescript'), join(to, '@typescript'), { recursive: true });
}

/** Adds a package called typescript. */
function installOther(root: string, code: string, version = '5.9.3'): void {
  const folder = join(root, 'node_modules', 'typescript');
  mkdirSync(join(folder, 'lib'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'typescript', version }));
  writeFileSync(join(folder, 'lib', 'typescript.js'), code);
}

const LIMITS = { wallMs: 120_000, memoryMb: 3000 };

async function compile(
  { root, indexer }: IndexedProject,
  limits = LIMITS,
  signal = new AbortController().signal,
): Promise<ExactRun> {
  const start = await buildCompilerStart(
    {
      folder: indexer.root,
      without: [join(root, 'hidden'), join(root, 'hidden', 'deeper')],
      mustConfine: false,
    },
    gitEnvironment(),
  );
  return runExactTier(indexer, start, limits, { signal, progress: () => undefined });
}

const FILES: Files = {
  '.gitignore': 'node_modules\n',
  'tsconfig.json': '{ "compilerOptions": { "strict": true, "paths": { "@/*": ["./src/*"] } } }\n',
  'src/store.ts': [
    'export interface Item { use(): void }',
    'export class Store { load() { return this.wrap({ use() {} } as Item); } wrap<T>(item: T) { return { item }; } }',
    'export const pick = <T, K extends keyof T>(from: T, name: K): T[K] => from[name];',
  ].join('\n'),
  'src/app.ts': [
    "import { pick, Store } from '@/store';",
    'export function run(store: Store) {',
    "  pick(store, 'load')();",
    '  store.load().item.use();',
    '}',
    'export class App extends Store { start = () => run(this); }',
  ].join('\n'),
  'src/main.ts':
    "import { App } from './app';\nexport const main = () => new App().start();\nexport const it = { [Symbol.iterator]() { main(); } };\n",
};

describe("the edges of the project's own compiler", () => {
  test("the compiler's edges are more certain than svc's, more numerous, and current", async () => {
    const project = makeProject(FILES);
    const { indexer } = project;
    installTypescript(project.root);
    await indexer.refresh();
    const before = listEdges(indexer, ['call', 'new']);
    assert.ok(before.includes('src/main.ts:main -> src/app.ts:App.start call 0.7'));
    assert.deepEqual(indexer.exact.count(), { files: 3, lacking: 3 });
    const run = await compile(project);
    assert.equal(run.failed, null);
    assert.match(run.version, /^7\./);
    assert.ok(run.raised >= 1 && run.added >= 1 && run.ms > 0);
    const after = listEdges(indexer, ['call', 'new']);
    assert.ok(after.includes('src/main.ts:main -> src/app.ts:App.start call 1.0'), after.join('\n'));
    assert.ok(after.includes('src/app.ts:run -> src/store.ts:Store.load call 1.0'), after.join('\n'));
    assert.ok(after.includes('src/app.ts:run -> src/store.ts:Item.use call 1.0'), after.join('\n'));
    assert.deepEqual(indexer.exact.count(), { files: 3, lacking: 0 });
    assert.ok(
      after.includes('src/main.ts:it.[Symbol.iterator] -> src/main.ts:main call 1.0'),
      after.join('\n'),
    );
    assert.ok(!after.some((edge) => edge.startsWith('src/main.ts ->')), after.join('\n'));
    assert.ok(!listEdges(indexer).some((edge) => /^(.*) -> \1 /.test(edge)), 'no function here calls itself');

    // Files that import a changed file, directly or not, fall back to svc's own analysis.
    project.write({ 'src/app.ts': FILES['src/app.ts']!.replace('store.load().item.use();', '') });
    await indexer.refresh();
    assert.deepEqual(indexer.exact.count(), { files: 3, lacking: 2 });
    assert.ok(listEdges(indexer).includes('src/main.ts:main -> src/app.ts:App.start call 0.7'));
    const again = await compile(project);
    assert.equal(again.failed, null);
    assert.deepEqual(indexer.exact.count(), { files: 3, lacking: 0 });
    const other = { ...project, indexer: project.fresh() };
    await other.indexer.refresh();
    await compile(other);
    assert.deepEqual(
      listEdges(other.indexer),
      listEdges(indexer),
      'incremental and full compilation give the same edges',
    );
    await other.indexer.close();

    project.remove('src/store.ts');
    await indexer.refresh();
    assert.deepEqual(indexer.exact.count(), { files: 2, lacking: 2 });
    await project.close();
  });

  test('the edges are rebuilt by themselves, after an answer that lacked them', async () => {
    const project = makeProject(FILES);
    installTypescript(project.root);
    const graph = openGraph(project, { isExact: true, leastPauseMs: 0 });
    const readCallers = async (symbol: string) => {
      const asked = await graph.ask(
        { project: null },
        { ask: 'trace', symbol, depth: 1, direction: 'callers' },
        { freshMs: 0 },
      );
      assert.ok('trace' in asked.answer);
      const { steps, symbols } = asked.answer.trace;
      const callers = steps.map(
        ({ fromSymbol, confidence, strategy }) =>
          `${symbols.get(fromSymbol)?.name} ${confidence} ${strategy}`,
      );
      return { callers, exact: asked.exact };
    };
    try {
      assert.deepEqual(await readCallers('Item.use'), { callers: [], exact: 'not made yet' });
      await until(async () => (await readCallers('Item.use')).exact === null, 'the compiler', 120_000);
      assert.deepEqual((await readCallers('Item.use')).callers, ['run 1 exact']);
      project.write({ 'src/app.ts': FILES['src/app.ts']!.replaceAll('run(', 'walk(') });
      const changed = await readCallers('Item.use');
      assert.deepEqual(changed, { callers: [], exact: 'stale: 2 of 3 files' });
      await until(async () => (await readCallers('Item.use')).exact === null, 'the compiler', 120_000);
      assert.deepEqual((await readCallers('Item.use')).callers, ['walk 1 exact']);
    } finally {
      await graph.close();
      await project.close();
    }
  });

  test("the edges need the project's own typescript", async () => {
    const project = makeProject({ 'a.ts': 'export function f() {}\n', 'pkg/package.json': '{}\n' });
    await project.indexer.refresh();
    const { root } = project.indexer;
    assert.equal((await compile(project)).failed, 'no typescript in node_modules');
    mkdirSync(join(root, 'node_modules'));
    symlinkSync(join(packages, 'typescript'), join(root, 'node_modules', 'typescript'));
    assert.equal(findTypescript(root, []), 'typescript is linked from outside the project');
    installOther(join(root, 'pkg'), '', '3.9.0');
    assert.equal(findTypescript(root, ['pkg/package.json']), 'typescript 3.9.0 is too old');
    installOther(join(root, 'pkg'), '', '5.0.0');
    assert.deepEqual(findTypescript(root, ['pkg/package.json']), {
      folder: join(root, 'pkg/node_modules/typescript'),
      version: '5.0.0',
    });
    await project.close();
  });

  test('the edges come from a process that can do nothing else, and whose claims are checked', async (t) => {
    const project = makeProject({
      'a.ts': 'export function f() {}\n',
      'b.ts': 'export function g() {}\n',
      'hidden/secret.txt': 'secret',
      'hidden/deeper/secret.txt': 'secret',
    });
    const { indexer } = project;
    const tries = `
      const fs = require('node:fs'), cp = require('node:child_process');
      const can = (work) => { try { work(); return true; } catch { return false; } };
      exports.SyntaxKind = {};
      throw new Error(JSON.stringify({
        write: can(() => fs.writeFileSync('pwned', 'x')),
        temporary: can(() => fs.writeFileSync('/tmp/pwned', 'x')),
        hidden: can(() => fs.readFileSync('hidden/secret.txt')),
        outside: can(() => fs.readFileSync(${JSON.stringify(import.meta.filename)})),
        others: fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).length > 9,
        network: Object.values(require('node:os').networkInterfaces()).flat().some((each) => !each.internal),
        env: Object.keys(process.env).filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_', 'GOMEMLIMIT'].includes(name)),
      }));`;
    installOther(project.root, tries);
    await indexer.refresh();
    const run = await compile(project);
    if (run.unconfined !== null) {
      await project.close();
      return t.skip(run.unconfined);
    }
    assert.deepEqual(JSON.parse(run.failed!), {
      ...{ write: false, temporary: false, hidden: false, outside: false, others: false, network: false },
      env: [],
    });
    assert.ok(!existsSync(join(project.root, 'pwned')));
    assert.deepEqual(indexer.exact.count(), { files: 2, lacking: 2 });

    // Answers about other files or invalid positions are ignored.
    installOther(
      project.root,
      `const fs = require('node:fs');
       const file = { path: process.cwd() + '/a.ts', imports: [], references: [
         ['call', 1, [17, 'f'], [[process.cwd() + '/b.ts', 17, 'g']]],
         ['call', 1, [17, 'f'], [['/etc/passwd', 17, 'root']]],
         ['call', 1, [9999, 'f'], [[process.cwd() + '/b.ts', 17, 'nobody']]] ] };
       fs.writeSync(3, JSON.stringify({ file }) + '\\n');
       fs.writeSync(3, JSON.stringify({ file: { ...file, path: '/etc/passwd' } }) + '\\n');
       fs.writeSync(3, '{"file":{"path":1}}\\n');
       setInterval(() => {}, 1000);`,
    );
    const lied = await compile(project);
    assert.equal(lied.failed, 'its output is invalid');
    assert.deepEqual(listEdges(indexer), ['a.ts:f -> b.ts:g call 1.0']);

    // A compiler that never ends is killed with its child processes.
    const mark = `svc-exact-${process.pid}`;
    const starts = `require('node:child_process').spawn('sleep', ['${process.pid}00'], { detached: true });
      require('node:fs').writeSync(3, '{"done":0}\\n');
      process.title = '${mark}';`;
    const running = (): string[] =>
      readdirSync('/proc').filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`sleep\0${process.pid}00`);
        } catch {
          return false;
        }
      });
    installOther(project.root, `${starts} for (;;);`);
    const late = await compile(project, { ...LIMITS, wallMs: 3000 });
    assert.equal(late.failed, 'it took longer than 3 s');
    assert.deepEqual(running(), []);
    installOther(project.root, `${starts} const all = []; for (;;) all.push(Buffer.alloc(1e7, 1));`);
    const large = await compile(project, { ...LIMITS, memoryMb: 300 });
    assert.match(large.failed!, /^it took more than 300 MB$|^it ran out of memory$/);
    const end = new AbortController();
    installOther(project.root, `${starts} for (;;);`);
    const broken = compile(project, LIMITS, end.signal);
    await until(() => running().length > 0);
    end.abort();
    assert.equal((await broken).failed, 'it was stopped');
    assert.deepEqual(running(), []);
    await project.close();
  });
});
