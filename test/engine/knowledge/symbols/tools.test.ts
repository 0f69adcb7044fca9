import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createOperations } from '../../../../engine/core/api/dispatcher.ts';
import type { ApiOf, OperationsOf } from '../../../../engine/core/api/operation.ts';
import { createGraph, placeShared } from '../../../../engine/knowledge/symbols/index.ts';
import { graphOperations } from '../../../../engine/knowledge/symbols/operations.ts';
import { createImpactReader } from '../../../../engine/knowledge/symbols/read-impact.ts';
import { fakeClock } from '../../../support/clock.ts';
import { gitEnvironment, temporaryFolder } from '../../../support/workspaces/git.ts';
import { openSpine } from '../../../support/workspaces/spine.ts';
import { makeProject, openGraph } from './graph-rig.ts';

type GraphApi = ApiOf<OperationsOf<typeof graphOperations>>;

const write = (root: string, files: Record<string, string>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
  }
};

describe('the tools of the code graph', () => {
  const folder = temporaryFolder('svc-graph-');
  const root = join(folder, 'workspace');
  const other = join(folder, 'other');
  const worktree = join(folder, 'worktree');
  const files = {
    'src/a.ts':
      "import { helper } from './shared/tools';\n/** Begins. */\nexport function begin() {\n  helper();\n}\n",
    'src/b.ts': "import { begin } from './a';\nexport const second = () => begin();\n",
    'src/shared/tools.ts': 'export function helper() {}\nexport function lonely() {}\n',
    'test/a.test.ts': "import { begin } from '../src/a';\nbegin();\n",
    'src/same.ts': 'export function twice() {}\n',
    'lib/same.ts': 'export function twice() {}\n',
    'notes.md': '# none\n',
    'src/gen.ts': '// @generated\nexport function made() {}\n',
    'src/kept.ts': [
      'export class Base { save() {} }',
      'export class Kept extends Base { look() {} save() {} }',
      'export class Other { look() {} }',
      '',
    ].join('\n'),
    'src/use.ts': [
      "import { type Base, Kept } from './kept';",
      'export const use = (it: any, base: Base) => [it.look(), base.save(), Kept];',
      '',
    ].join('\n'),
    'go/open_unix.go': '//go:build unix\n\npackage files\n\nfunc open() {}\n',
    'go/open_windows.go': 'package files\n\nfunc open() {}\n',
    'go/use.go': 'package files\n\nfunc use() { open() }\n',
    'java/Bag.java':
      'class Bag {\n  void put(int a) {}\n  void put(String a) {}\n  void put(int a, int b) {}\n  void use() { put(other()); put(1, 2); }\n}\n',
  };
  let usesCompiler = false;
  const graph = createGraph({
    data: join(folder, 'data'),
    git: { env: gitEnvironment(), agentsDir: null },
    settings: () => ({
      parsers: {},
      without: [],
      exact: { isOn: usesCompiler, mustConfine: false },
      shared: placeShared(root, ['src/shared', join(other, 'lib')], [{ id: 'other', folder: other }]),
    }),
    folder: (project) => (project === 'other' ? other : root),
    sessionOf: (id) => (id === 's-1' ? { project: null, cwd: worktree } : null),
  });
  const clock = fakeClock();
  const spine = openSpine(join(folder, 'svc.db'), clock);
  const operations = createOperations(
    graphOperations({
      graph,
      projects: () => ['other'],
      projectId: (id) => id,
      readImpact: createImpactReader(graph, async () => null),
    }),
    { calls: spine.storage.calls, policy: () => ({ mode: 'solo', actors: [] }) },
  );
  const call = <K extends keyof GraphApi>(
    name: K,
    input: GraphApi[K]['input'],
  ): Promise<GraphApi[K]['output']> =>
    operations.call(name, input, {
      seat: 'chair',
      actor: 'ada',
      via: 'tool',
      sessionId: null,
      project: null,
      env: {},
    }) as Promise<never>;

  before(() => {
    mkdirSync(join(folder, 'data'), { mode: 0o700 });
    write(root, files);
    write(worktree, { ...files, 'src/b.ts': 'export const second = () => {};\n' });
    write(other, {
      'lib/x.ts': 'export function helperElsewhere() {}\n',
      'app.ts': 'export function hidden() {}\n',
    });
  });
  after(async () => {
    await graph.close();
    await spine.storage.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('trace_path returns callers and callees with lines, and says when there are none', async () => {
    const trace = await call('trace.path', { symbol: 'begin' });
    const label = (id: number): string => (trace.symbols as Record<number, string>)[id]!;
    assert.deepEqual(
      trace.edges.map(({ from, to, kind, line, confidence, hop }) =>
        [label(from), label(to), kind, line, confidence, hop].join(' '),
      ),
      [
        'second src/b.ts:2 begin src/a.ts:3 call 2 1 1',
        'test/a.test.ts begin src/a.ts:3 call 2 1 1',
        'begin src/a.ts:3 helper src/shared/tools.ts:1 call 4 1 1',
      ],
    );
    const lonely = await call('trace.path', { symbol: 'lonely', direction: 'callers' });
    assert.equal(lonely.empty, 'no_callers');
  });

  test('there are no callers only if no mention of the name may be one', async () => {
    const look = await call('trace.path', { symbol: 'Kept.look', direction: 'callers' });
    const said = '1 mention of the name in 1 file could not be resolved and may be callers';
    assert.deepEqual(
      [look.empty, look.note],
      ['unsure_callers', `look is indexed, but no edge was found: ${said}`],
    );
    const save = await call('trace.path', { symbol: 'Kept.save', direction: 'callers' });
    assert.equal(save.empty, 'unsure_callers');
    assert.match(save.note ?? '', /it may be called through Base\.save src\/kept\.ts:1$/);
    const changed = await call('impact', { paths: ['src/same.ts'] });
    assert.equal(changed.empty, 'no_callers');
  });

  test('overloads have their signatures, and share the calls that may mean each', async () => {
    const { empty, candidates } = await call('trace.path', { symbol: 'Bag.put' });
    assert.equal(empty, 'ambiguous');
    assert.deepEqual(
      candidates.map((each) => each.replace(/^#\d+ /, '')),
      [
        'method Bag.put java/Bag.java:2 void put(int a)',
        'method Bag.put java/Bag.java:3 void put(String a)',
        'method Bag.put java/Bag.java:4 void put(int a, int b)',
      ],
    );
    const callers = async (symbol: string) => {
      const { edges, note } = await call('trace.path', { symbol, direction: 'callers' });
      return [edges.map(({ confidence }) => confidence), note];
    };
    const shared = '2 overloads share some of these callers';
    assert.deepEqual(await callers('Bag.put(int)'), [[0.7], shared]);
    assert.deepEqual(await callers('Bag.put(String)'), [[0.7], shared]);
    assert.deepEqual(await callers('Bag.put(int, int)'), [[1], null]);
  });

  test('declarations for different builds share their callers', async () => {
    for (const file of ['unix', 'windows']) {
      const symbol = `go/open_${file}.go:open`;
      const { edges, note } = await call('trace.path', { symbol, direction: 'callers' });
      assert.equal(edges.length, 1);
      assert.equal(note, '2 files declare it for different builds; the callers are those of any');
    }
  });

  test("an answer without the compiler's edges gives the reason", async () => {
    const lacks = async (): Promise<unknown[]> => [
      (await call('trace.path', { symbol: 'begin' })).exact,
      (await call('impact', { paths: ['src/a.ts'] })).exact,
      (await call('architecture', {})).exact,
      (await call('inspect.symbol', { name: 'helper' })).exact,
      (await call('graph.status', {})).exact.lack,
    ];
    assert.deepEqual(new Set(await lacks()), new Set(['off']));
    await assert.rejects(call('graph.index', { exact: true }), { code: 'config_invalid' });
    usesCompiler = true;
    const { exact } = await call('graph.index', { exact: true });
    assert.deepEqual([exact?.failed, exact?.typescript], ['no typescript in node_modules', null]);
    assert.deepEqual(new Set(await lacks()), new Set(['no typescript in node_modules']));
    await assert.rejects(call('graph.index', { exact: true, session: 's-1' }), /never a worktree/);
    usesCompiler = false;
  });

  test('an empty answer names its kind', async () => {
    const kinds = await Promise.all(
      ['nobody', 'twice', 'notes.md:x', 'src/a.txt:x', 'src/gen.ts:made', 'src/none.ts:x'].map(
        async (symbol) => {
          const { empty, note, candidates } = await call('code.snippet', { symbol });
          assert.ok(note, symbol);
          return [symbol, empty, candidates.length];
        },
      ),
    );
    assert.deepEqual(kinds, [
      ['nobody', 'not_found', 0],
      ['twice', 'ambiguous', 2],
      ['notes.md:x', 'unsupported_language', 0],
      ['src/a.txt:x', 'unsupported_language', 0],
      ['src/gen.ts:made', 'not_indexed', 0],
      ['src/none.ts:x', 'not_indexed', 0],
    ]);
  });

  test('an unknown name lists names that differ by a few letters', async () => {
    for (const [symbol, similar] of [
      ['begni', 'begin'],
      ['helpr', 'helper'],
      ['src/b.ts:secnod', 'second'],
      ['Kept.lok', 'Kept.look'],
    ] as const) {
      const { empty, candidates } = await call('trace.path', { symbol });
      assert.equal(empty, 'not_found', symbol);
      assert.ok(
        candidates.some((each) => each.includes(` ${similar} `)),
        `${symbol}: ${candidates.join('; ')}`,
      );
    }
  });

  test('a session that does not exist is not answered from the main tree', async () => {
    const session = 's-99';
    for (const asked of [
      call('trace.path', { symbol: 'begin', session }),
      call('impact', { paths: ['src/a.ts'], session }),
      call('impact', { session }),
      call('architecture', { session }),
      call('code.snippet', { symbol: 'begin', session }),
      call('graph.symbol', { query: 'begin', session }),
      call('graph.status', { session }),
      call('graph.index', { session }),
    ])
      await assert.rejects(asked, { code: 'not_found' });
  });

  test('the next answer builds the index again after its folder was deleted', async () => {
    for (let times = 0; times < 2; times += 1) {
      rmSync(join(folder, 'data', 'graph'), { recursive: true });
      const trace = await call('trace.path', { symbol: 'begin', direction: 'callers' });
      assert.deepEqual([trace.edges.length, trace.note], [2, null]);
      assert.ok(existsSync(join(folder, 'data', 'graph', 'workspace.db')));
    }
  });

  test('code_snippet reads the current lines, and of another project only shared symbols', async () => {
    const found = await call('code.snippet', { symbol: 'src/a.ts:begin' });
    assert.equal(found.text, 'export function begin() {\n  helper();\n}');
    write(root, { 'src/a.ts': `\n\n${files['src/a.ts']}` });
    const moved = await call('code.snippet', { symbol: 'begin' });
    assert.deepEqual([moved.line, moved.text], [5, found.text]);
    const shared = await call('code.snippet', { symbol: 'helperElsewhere', project: 'other' });
    assert.equal(shared.path, 'lib/x.ts');
    await assert.rejects(call('code.snippet', { symbol: 'hidden', project: 'other' }), {
      code: 'path_outside',
    });
  });

  test('impact reaches callers over two steps and the tests', async () => {
    const found = await call('impact', { paths: ['src/shared/tools.ts'] });
    assert.deepEqual(
      found.reached.map(({ symbol, hop, test: isTest }) => [symbol.split(' ')[0], hop, isTest]),
      [
        ['begin', 1, false],
        ['second', 2, false],
        ['test/a.test.ts', 2, true],
      ],
    );
    assert.deepEqual(found.tests, ['test/a.test.ts']);
    assert.equal((await call('impact', { paths: ['none'] })).empty, 'not_indexed');
  });

  test("a session's question is answered from its worktree", async () => {
    const base = await call('trace.path', { symbol: 'begin', direction: 'callers' });
    const own = await call('trace.path', { symbol: 'begin', direction: 'callers', session: 's-1' });
    assert.deepEqual([base.edges.length, own.edges.length], [2, 1]);
  });

  test('symbols are found in the shared paths of all projects, then in the own project', async () => {
    const { symbols } = await call('search.shared_symbols', { query: 'help' });
    assert.deepEqual(
      symbols.map(({ name, project }) => [name, project]),
      [
        ['helper', null],
        ['helperElsewhere', 'other'],
      ],
    );
    const own = await call('search.shared_symbols', { query: 'Kept' });
    assert.deepEqual(
      own.symbols.map(({ name, path }) => [name, path]),
      [['Kept', 'src/kept.ts']],
    );
    const { symbol } = await call('inspect.symbol', { name: 'begin' });
    assert.equal((symbol as { path: string }).path, 'src/a.ts');
    assert.equal((await call('search.shared_symbols', { query: 'nobody' })).empty, 'not_found');
    const other = await call('search.shared_symbols', { query: 'help', project: 'other' });
    assert.deepEqual(
      other.symbols.map(({ name }) => name),
      ['helperElsewhere'],
    );
    assert.deepEqual((await call('inspect.symbol', { name: 'helper' })).references, { call: 1 });
    assert.deepEqual(await graph.locateShared('helper', null), { path: 'src/shared/tools.ts', line: 1 });
    assert.match((await graph.locateShared('begin', null)) as string, /no symbol of the shared paths/);
  });

  test('architecture and status count the contents', async () => {
    const map = await call('architecture', {});
    assert.deepEqual(
      map.folders.map(({ folder: name, files: count }) => [name, count]),
      [
        ['go', 3],
        ['java', 1],
        ['lib', 1],
        ['src', 5],
        ['src/shared', 1],
        ['test', 1],
      ],
    );
    const { files: count, skipped } = await call('graph.status', {});
    assert.deepEqual([count, skipped], [12, { generated: 1 }]);
  });

  test('architecture shows the packages of a Java project', async () => {
    const top = 'src/main/java/org/example';
    const packages = ['parser', 'nodes', 'safety'];
    const java = makeProject({
      ...Object.fromEntries(
        packages.flatMap((name) =>
          Array.from({ length: 10 }, (_, at) => [`${top}/${name}/C${at}.java`, `class C${at} {}`]),
        ),
      ),
      [`${top}/Main.java`]: 'class Main {}',
    });
    const javaGraph = openGraph(java);
    try {
      const { answer } = await javaGraph.ask({ project: null }, { ask: 'architecture' });
      assert.ok('architecture' in answer);
      assert.deepEqual(
        answer.architecture.folders.map(({ folder, files }) => [folder, files]),
        [[top, 1], ...packages.toSorted().map((name) => [`${top}/${name}`, 10])],
      );
    } finally {
      await javaGraph.close();
      await java.close();
    }
  });
});
