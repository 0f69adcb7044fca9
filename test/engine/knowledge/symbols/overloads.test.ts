import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Files, listCalls, makeProject } from './graph-rig.ts';

/** Returns the calls with the line of the called declaration, which tells overloads apart. */
async function listChosen(files: Files): Promise<string[]> {
  const project = makeProject(files);
  try {
    await project.indexer.refresh();
    return project.indexer.db
      .prepare(
        `SELECT made.name || ' -> ' || target.name || ':' || target.line || ' ' || (confidence / 10.0) ||
            CASE candidates WHEN 1 THEN '' ELSE ' of ' || candidates END
           FROM edge JOIN symbol AS made ON made.id = from_symbol JOIN symbol AS target ON target.id = to_symbol
          WHERE edge.kind < 3 ORDER BY edge.line, target.line`,
      )
      .pluck()
      .all() as string[];
  } finally {
    await project.close();
  }
}

describe('a call among overloads', () => {
  test('Java chooses by the number of arguments, by literals, by declared types and by bases', async () => {
    const found = await listChosen({
      'A.java': [
        'class Base {}',
        'class Below extends Base {}',
        'class A {',
        '  static void f(int a) {}',
        '  static void f(int a, int b) {}',
        '  static void f(String a) {}',
        '  static void f(double[] a) {}',
        '  static void f(Base a) {}',
        '  static void f(Object... a) {}',
        '  void one() { f(1); }',
        '  void two() { f(1, 2); }',
        '  void text() { f("a" + 1); }',
        '  void list(double[] d) { f(d); }',
        '  void below(Below b) { f(b); }',
        '  void many() { f(1, 2, 3); }',
        '  void unknown() { f(other.value()); }',
        '}',
      ].join('\n'),
    });
    assert.deepEqual(found, [
      'one -> f:4 1.0',
      'two -> f:5 1.0',
      'text -> f:6 1.0',
      'list -> f:7 1.0',
      'below -> f:8 1.0',
      'many -> f:9 1.0',
      'unknown -> f:4 0.7 of 5',
    ]);
  });

  test('Java chooses constructors, and inherited overloads that the class does not have itself', async () => {
    const found = await listChosen({
      'A.java': [
        'class Base { void g(int a) {} }',
        'class A extends Base {',
        '  A(int a) {}',
        '  A(String a) { this(1); }',
        '  void g(String a, int b) {}',
        '  void h() { g(1); new A("x"); }',
        '}',
      ].join('\n'),
    });
    assert.deepEqual(found, ['constructor -> constructor:3 1.0', 'h -> g:1 1.0', 'h -> constructor:4 1.0']);
  });

  test('C# chooses by optional, listed and typed parameters', async () => {
    const found = await listChosen({
      'A.cs': [
        'class A {',
        '  void F(int a) {}',
        '  void F(string a, bool b = false) {}',
        '  void F(string a, params object[] rest) {}',
        '  void G() { F(1); }',
        '  void H() { F("a", true); }',
        '  void I() { F("a", 1, 2); }',
        '}',
      ].join('\n'),
    });
    assert.deepEqual(found, ['G -> F:2 1.0', 'H -> F:3 1.0', 'I -> F:4 1.0']);
  });

  test('Kotlin chooses with usual values, a list and a function after the brackets', async () => {
    const found = await listChosen({
      'a.kt': [
        'fun f(a: Int) {}',
        'fun f(a: String, b: Int = 1) {}',
        'fun f(a: Int, block: () -> Unit) {}',
        'fun one() { f(1) }',
        'fun text() { f("x") }',
        'fun block() { f(1) { } }',
      ].join('\n'),
    });
    assert.deepEqual(found, ['one -> f:1 1.0', 'text -> f:2 1.0', 'block -> f:3 1.0']);
  });

  test('C++ chooses among functions and among methods', async () => {
    const found = await listChosen({
      'a.cpp': [
        'void f(int a) {}',
        'void f(double a) {}',
        'void f(const char* a, int b = 0) {}',
        'void one() { f(1); }',
        'void real() { f(1.5); }',
        'void text() { f("x"); }',
        'class A { void g(int a) {} void g(int a, int b) {} void h() { g(1, 2); } };',
      ].join('\n'),
    });
    assert.deepEqual(found, ['one -> f:1 1.0', 'real -> f:2 1.0', 'text -> f:3 1.0', 'h -> g:7 1.0']);
  });

  test('Swift chooses by the number and the labels of arguments', async () => {
    const found = await listChosen({
      'a.swift': [
        'class A {',
        '  func f(_ a: Int) {}',
        '  func f(_ a: Int, with b: String) {}',
        '  func g() { f(1) }',
        '  func h() { f(1, with: "x") }',
        '  func f(_ a: Int, to b: String) {}',
        '  func i() { f(1, to: "x") }',
        '}',
      ].join('\n'),
    });
    assert.deepEqual(found, ['g -> f:2 1.0', 'h -> f:3 1.0', 'i -> f:6 1.0']);
  });

  test('Python and TypeScript have one symbol for all declarations of an implementation', async () => {
    const python = [
      'from typing import overload',
      'import typing',
      'class A:',
      '    @overload',
      '    def f(self, a: int) -> "B": ...',
      '    @typing.overload',
      '    def f(self, a: str) -> "B": ...',
      '    def f(self, a):',
      '        return g()',
      'class B:',
      '    def h(self): pass',
      'def g(): pass',
      'def use(a: A):',
      '    a.f(1).h()',
    ].join('\n');
    assert.deepEqual(await listCalls({ 'a.py': python }), [
      'a.py:A.f -> a.py:g call 1.0',
      'a.py:use -> a.py:A.f call 0.7',
      'a.py:use -> a.py:B.h call 0.7',
    ]);
    const script = [
      'export interface I { f(a: string): void; f(a: number): void }',
      'abstract class C { abstract g(a: string): void; abstract g(a: number): void }',
      'export function use(i: I, c: C) { i.f(1); c.g(1); }',
    ].join('\n');
    const project = makeProject({ 'a.py': python, 'a.ts': script });
    await project.indexer.refresh();
    const kept = project.indexer.db
      .prepare(
        "SELECT qualified || ' ' || line || '-' || end_line FROM symbol WHERE name IN ('f', 'g') ORDER BY id",
      )
      .pluck()
      .all();
    assert.deepEqual(kept.sort(), ['A.f 5-9', 'C.g 2-2', 'I.f 1-1', 'g 12-12']);
    await project.close();
  });
});
