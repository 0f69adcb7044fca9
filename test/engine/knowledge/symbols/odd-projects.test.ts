import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listCalls, listEdges, makeProject } from './graph-rig.ts';

describe('calls of Go', () => {
  test('generics with given types, methods of named types and recursion are found', async () => {
    const calls = await listCalls({
      'go.mod': 'module example.com/a\n',
      'a.go': [
        'package a',
        'import "example.com/a/far"',
        'type List []Item',
        'func (l List) Sum() int { return 1 }',
        'type Item struct{}',
        'func (i Item) Run() {}',
        'type Box struct { list List }',
        'func (b *Box) Go(n int) {',
        '\tb.list.Sum()',
        '\tb.list[0].Run()',
        '\tfor _, each := range b.list { each.Run() }',
        '\tgetTyped[int]("a")',
        '\tgetPair[int, string](1, "a")',
        '\tfar.Get[int](1)',
        '\tb.Go(n - 1)',
        '}',
        'type Other = Box',
        'func use(o *Other) { o.Go(1) }',
      ].join('\n'),
      'b.go': [
        'package a',
        'func getTyped[T any](k string) T { return getTyped[T](k) }',
        'func getPair[K, V any](k K, v V) {}',
      ].join('\n'),
      'far/c.go': 'package far\nfunc Get[T any](n int) {}\n',
    });
    assert.deepEqual(calls, [
      'a.go:Box.Go -> a.go:Box.Go call 0.7',
      'a.go:Box.Go -> a.go:Item.Run call 0.7',
      'a.go:Box.Go -> a.go:List.Sum call 0.7',
      'a.go:Box.Go -> b.go:getPair call 1.0',
      'a.go:Box.Go -> b.go:getTyped call 1.0',
      'a.go:Box.Go -> far/c.go:Get call 1.0',
      'a.go:use -> a.go:Box.Go call 0.7',
      'b.go:getTyped -> b.go:getTyped call 1.0',
    ]);
  });
});

describe('calls of Java', () => {
  test('classes of the default package are found in their own folder only', async () => {
    const files = {
      'A.java': 'class A { void f() { B.g(); } }\n',
      'B.java': 'class B { static void g() {} }\n',
    };
    const other = { 'other/C.java': 'class C { void f() { B.g(); } }\n' };
    assert.deepEqual(await listCalls({ ...files, ...other }), ['A.java:A.f -> B.java:B.g call 1.0']);
  });
});

describe('functions in hooks', () => {
  test('a function that useCallback keeps is a symbol with callers and callees', async () => {
    const calls = await listCalls({
      'a.tsx': [
        "import { useCallback } from 'react';",
        'const load = (id: string) => id;',
        'export function Page() {',
        '  const open = useCallback((id: string) => { load(id); }, [load]);',
        "  return <a onClick={() => open('x')} />;",
        '}',
      ].join('\n'),
    });
    assert.deepEqual(calls, [
      'a.tsx:Page -> a.tsx:Page.open call 1.0',
      'a.tsx:Page.open -> a.tsx:load call 1.0',
    ]);
  });
});

describe('the files of a project', () => {
  test('its own vendor folder, UTF-16 with a mark, and submodules are recognised', async () => {
    const project = makeProject({
      'src/vendor/payments.ts': 'export function pay() {}\n',
      'src/use.ts': "import { pay } from './vendor/payments';\nexport const use = () => pay();\n",
      'vendor/lib.ts': 'export function left() {}\n',
      'go/go.mod': 'module a\n',
      'go/vendor/b/b.go': 'package b\nfunc B() {}\n',
      '.gitmodules': '[submodule "x"]\n\tpath = libs/x\n\turl = ../x\n',
    });
    const { writeFileSync } = await import('node:fs');
    const text = 'export function wide() { narrow(); }\nfunction narrow() {}\n';
    writeFileSync(`${project.root}/wide.ts`, Buffer.from(`\ufeff${text}`, 'utf16le'));
    await project.indexer.refresh();
    assert.deepEqual(project.indexer.listPaths().sort(), ['src/use.ts', 'src/vendor/payments.ts', 'wide.ts']);
    assert.deepEqual(project.indexer.skipped(), { submodule: 1, vendored: 2 });
    assert.deepEqual(listEdges(project.indexer, ['call']), [
      'src/use.ts:use -> src/vendor/payments.ts:pay call 1.0',
      'wide.ts:wide -> wide.ts:narrow call 1.0',
    ]);
    await project.close();
  });
});
