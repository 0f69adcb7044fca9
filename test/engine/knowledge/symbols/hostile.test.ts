import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { findSymbol } from '../../../../engine/knowledge/symbols/query/find.ts';
import { openGraphFile } from '../../../../engine/knowledge/symbols/store/graph-file.ts';
import { createGraphRows } from '../../../../engine/knowledge/symbols/store/rows.ts';
import { gitEnvironment, temporaryFolder } from '../../../support/workspaces/git.ts';
import { listEdges, makeProject } from './graph-rig.ts';

describe('an index of hostile files', () => {
  test('indexing finishes, reads nothing outside the project, and lists what it left out', async () => {
    const outside = temporaryFolder();
    writeFileSync(join(outside, 'secret.ts'), 'export function secretOutside() {}\n');
    const project = makeProject({
      'deep.ts': `export const deep = ${'[\n'.repeat(10_000)}${']\n'.repeat(10_000)};\nexport function after() {}\n`,
      'calls.ts': `export const x = ${'f(\n'.repeat(3000)}${')\n'.repeat(3000)};\n`,
      'name.ts': `export function ${'a'.repeat(4096)}() {}\n`,
      'open.py': `${'(\n'.repeat(5000)}\ndef f():\n    pass\n`,
      'chain.java': `class Chain { void run() { a()${'\n.b()'.repeat(3000)}; } }\n`,
      'comments.go': `package a\n${'// a comment\n'.repeat(150_000)}func afterComments() {}\n`,
      'block.java': `/*${'\nwords of a comment'.repeat(100_000)}\n*/\nclass AfterBlock { void afterBlock() {} }\n`,
      'nested.java': `${'class N {\n'.repeat(2000)}${'}\n'.repeat(2000)}`,
      'table.ts': 'export const row = 1;\n'.repeat(21_000),
      'loop.ts':
        "export * from './loop2';\nexport { a as b } from './loop2';\nimport { b } from './loop2';\nb();\n",
      'loop2.ts': "export * from './loop';\nexport { b as a } from './loop';\n",
      'class.ts':
        'class A extends B {}\nclass B extends A { x() { this.y(); } }\nconst a: typeof a = a.b;\na.c();\n',
      'tsconfig.json':
        '{ "extends": "./tsconfig.json", "compilerOptions": { "paths": { "*": ["../../../*"] } } }',
    });
    writeFileSync(join(project.root, 'binary.ts'), Buffer.from([0, 1, 2, 3]));
    writeFileSync(join(project.root, 'latin.ts'), Buffer.from('export function caf\xe9() {}\n', 'latin1'));
    closeSync(openSync(join(project.root, 'large.ts'), 'w'));
    truncateSync(join(project.root, 'large.ts'), 100 * 1024 * 1024);
    symlinkSync(outside, join(project.root, 'out'));
    symlinkSync(join(outside, 'secret.ts'), join(project.root, 'link.ts'));
    mkdirSync(join(project.root, 'a'));
    symlinkSync('..', join(project.root, 'a', 'up'));
    await project.indexer.refresh();
    const { db } = project.indexer;
    const names = db.prepare("SELECT name FROM symbol WHERE kind = 'function'").pluck().all() as string[];
    const state = db.prepare("SELECT state FROM file WHERE path = 'table.ts'").pluck().get();
    assert.equal(state, 'failed', 'a file with too many symbols is skipped, and the others are read');
    assert.ok(names.includes('after'), 'symbols after deep nesting are found');
    assert.ok(names.includes('afterComments'), 'symbols after two megabytes of comments are found');
    const methods = db.prepare("SELECT name FROM symbol WHERE kind = 'method'").pluck().all();
    assert.ok(
      ['run', 'afterBlock'].every((name) => methods.includes(name)),
      'methods are found',
    );
    assert.ok(!names.some((name) => name.includes('secret')), 'a link is followed');
    assert.ok(names.every((name) => name.length <= 200));
    const skipped = project.indexer.skipped();
    assert.deepEqual([skipped.too_large, skipped.binary, skipped.link], [1, 1, 1]);
    assert.equal((await project.indexer.refresh()).read, 0, 'skipped files are not read repeatedly');
    await project.close();
    rmSync(outside, { recursive: true });
  });

  test('indexing gives up an endless reference, and no other', async () => {
    const many = (line: (at: number) => string): string =>
      Array.from({ length: 40 }, (_, at) => line(at + 1)).join('\n');
    const well = 'export function well() { fine(); }\nfunction fine() {}\n';
    const project = makeProject({
      // An object that is spread into itself.
      'spread.ts': `${well}export function update(next = { a: 1 }) { next = { ...next, b: 2 }; let more; more = { ...more, c: 3 }; more.d(); }`,
      // Each declaration refers twice to the previous one, forty levels deep.
      'locals.ts': `${well}function f() { let a0 = new Date();\n${many((at) => `const a${at} = a${at - 1}.x || a${at - 1};`)}\na40.go(); }`,
      'objects.ts': `${well}let p0 = {};\n${many((at) => `const p${at} = { ...p${at - 1}, ...p${at - 1} };`)}\np40.go();`,
      'types.ts': `${well}type T0 = { x: T0 };\n${many((at) => `type T${at} = T${at - 1} | T${at - 1}['x'];`)}\nfunction g(t: T40) { t.go(); }`,
      'results.ts': `${well}function f0() { return new Date(); }\n${many((at) => `function f${at}() { if (1) return f${at - 1}(); return f${at - 1}().x; }`)}\nf40().go();`,
      'bases.ts': `${well}interface B0 {}\n${many((at) => `interface B${at} extends B${at - 1}, B${at - 1} {}`)}\nfunction h(b: B40) { b.go(); }`,
      'chain.ts': `${well}import outside from 'outside';\noutside${'.option((x) => x)'.repeat(60)};\nclass C { m() { this${'.a.b()'.repeat(40)}; } a = new C(); }`,
    });
    const { ms } = await project.indexer.refresh();
    assert.ok(ms < 60_000, `${ms} ms`);
    const found = listEdges(project.indexer).filter((edge) => edge.includes(':well -> '));
    assert.equal(found.length, 7, found.join('\n'));
    await project.close();
  });

  test('one of hundreds of equal names is found by its file and by its class', async () => {
    const many = Array.from({ length: 450 }, (_, at) => `export class C${at} {\n  same() {}\n}`);
    const project = makeProject({
      'a.ts': `${many.join('\n')}\n`,
      'src/z.ts': 'export class Last {\n  same() {}\n}\n',
    });
    await project.indexer.refresh();
    for (const name of ['src/z.ts:same', 'z.ts:Last.same', 'Last.same', 'a.ts:C449.same']) {
      const found = findSymbol(project.indexer, name);
      assert.ok('symbol' in found, name);
      assert.equal(found.symbol.qualified, name.includes('C449') ? 'C449.same' : 'Last.same');
    }
    await project.close();
  });

  test('a damaged index, or one of another version, is rebuilt', async () => {
    const project = makeProject({ 'a.ts': 'function f() { g(); }\nfunction g() {}\n' });
    await project.indexer.refresh();
    const before = listEdges(project.indexer);
    const file = project.indexer.db.name;
    await project.close();
    mkdirSync(dirname(file));
    writeFileSync(file, 'this is no database');
    const db = openGraphFile(file, 'x');
    assert.deepEqual(createGraphRows(db).listFiles(), []);
    db.pragma('user_version = 999');
    db.close();
    const again = openGraphFile(file, 'x');
    assert.equal(again.pragma('user_version', { simple: true }) === 999, false);
    again.close();
    rmSync(dirname(file), { recursive: true });
    assert.deepEqual(before, ['a.ts:f -> a.ts:g call 1.0']);
  });

  test('the index follows a checkout of another branch', async () => {
    const project = makeProject({ 'a.ts': 'export function f() { g(); }\nfunction g() {}\n' });
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
        cwd: project.root,
        env: gitEnvironment(),
        stdio: 'ignore',
      });
    git('add', '-A');
    git('commit', '-qm', 'one');
    git('checkout', '-qb', 'other');
    project.write({
      'a.ts': "import { h } from './b';\nexport function f() { h(); }\n",
      'b.ts': 'export function h() {}\n',
    });
    git('add', '-A');
    git('commit', '-qm', 'two');
    const refreshing = project.indexer.refresh();
    git('checkout', '-q', '-');
    await refreshing;
    await project.indexer.refresh();
    assert.deepEqual(listEdges(project.indexer), ['a.ts:f -> a.ts:g call 1.0']);
    git('checkout', '-q', 'other');
    await project.indexer.refresh();
    assert.deepEqual(listEdges(project.indexer), ['a.ts:f -> b.ts:h call 1.0']);
    await project.close();
  });
});
