import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listCalls } from './graph-rig.ts';

describe('a call of a member', () => {
  test('Rust calls the method, whose name a field has too', async () => {
    const calls = await listCalls({
      'src/lib.rs': [
        'struct Ride { fare: u8, next: Box<Ride>, run: fn() }',
        'impl Ride {',
        '  fn fare(&self) -> u8 { self.fare }',
        '  fn go(&self) { self.fare(); self.next.fare(); (self.run)(); }',
        '}',
        'fn use_it(r: Ride) { r.fare(); Ride::fare(&r); }',
      ].join('\n'),
    });
    assert.deepEqual(calls, [
      'src/lib.rs:Ride.go -> src/lib.rs:Ride.fare call 1.0',
      'src/lib.rs:use_it -> src/lib.rs:Ride.fare call 1.0',
    ]);
  });

  test('Java calls the inherited method, whose name a field of the class has', async () => {
    const calls = await listCalls({
      'A.java': [
        'class Base { int size() { return 1; } }',
        'class A extends Base { B size; void f() { size(); size.g(); this.size.g(); } }',
        'class B { void g() {} }',
      ].join('\n'),
    });
    assert.deepEqual(calls, ['A.java:A.f -> A.java:B.g call 0.7', 'A.java:A.f -> A.java:Base.size call 0.7']);
  });

  test('Swift calls the method of an extension, never the property', async () => {
    const calls = await listCalls({
      'a.swift': [
        'struct Ride {',
        '  var fare: Int',
        '  var next: Next',
        '  func go() { next.run(); fare() }',
        '}',
        'extension Ride {',
        '  func fare() -> Int { return 1 }',
        '}',
        'struct Next { func run() {} }',
        'func use(r: Ride) { r.fare() }',
      ].join('\n'),
    });
    assert.deepEqual(calls, [
      'a.swift:Ride.go -> a.swift:Next.run call 0.7',
      'a.swift:Ride.go -> a.swift:Ride.fare call 1.0',
      'a.swift:use -> a.swift:Ride.fare call 0.7',
    ]);
  });

  test('Kotlin calls extension functions that are in sight and fit the receiver', async () => {
    const calls = await listCalls({
      'a/Ride.kt': 'package a\n\nclass Ride(val fare: Int, val next: Next)\nclass Next\n',
      'b/Extras.kt': [
        'package b',
        'import a.Ride',
        'import a.Next',
        'fun Ride.fare(): Int = next.run()',
        'fun Next.run(): Int = 1',
        'fun String.run(): Int = 2',
        '',
      ].join('\n'),
      'c/Use.kt': 'package c\nimport a.Ride\nimport b.fare\nfun use(r: Ride) { r.fare(); r.next.run() }\n',
    });
    assert.deepEqual(calls, [
      'b/Extras.kt:fare -> b/Extras.kt:run call 0.7',
      'c/Use.kt:use -> b/Extras.kt:fare call 0.7',
    ]);
  });

  test('C# calls extension methods on objects and through their class, and members of this and base', async () => {
    const calls = await listCalls({
      'A.cs': [
        'namespace N {',
        'class Base { public void Save() {} }',
        'class A : Base { public int Fare { get; set; } void G() { this.Fare(1); base.Save(); } }',
        'static class X {',
        '  public static int Fare(this A a, int b) { return b; }',
        '  public static int Fare(this Other a, int b) { return b; }',
        '}',
        'class Other {}',
        'class Use { void F(A a) { a.Fare(1); X.Fare(a, 1); a?.Fare(2); } }',
        '}',
      ].join('\n'),
    });
    assert.deepEqual(calls, [
      'A.cs:A.G -> A.cs:Base.Save call 1.0',
      'A.cs:A.G -> A.cs:X.Fare call 0.7',
      'A.cs:Use.F -> A.cs:X.Fare call 1.0',
    ]);
  });
});
