import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listCalls } from './graph-rig.ts';

describe('calls of Python', () => {
  test('calls are resolved through imports, re-exporting packages, self, bases and annotations', async () => {
    const calls = await listCalls({
      'app/__init__.py': 'from .core import run\n',
      'app/core.py': [
        'from app.base import Base, helper as h',
        'import app.tools',
        'from . import tools as t',
        '',
        'class Engine(Base):',
        '    def __init__(self, store: "Store"):',
        '        self.store = store',
        '        self.other = Store()',
        '    def go(self):',
        '        self.start()',
        '        self.stop()',
        '        self.store.save()',
        '        self.other.save()',
        '        super().stop()',
        '        h()',
        '',
        '    def start(self):',
        '        app.tools.clean()',
        '        t.clean()',
        '        print("x")',
        '',
        'class Store:',
        '    def save(self):',
        '        pass',
        '',
        'def run():',
        '    engine = Engine(Store())',
        '    engine.go()',
        '    def save(): pass',
        '    save()',
        '',
      ].join('\n'),
      'app/base.py': 'class Base:\n    def stop(self):\n        pass\n\ndef helper():\n    pass\n',
      'app/tools.py': 'def clean():\n    pass\n',
      'main.py': 'from app import run\nimport json\n\nrun()\njson.dumps(1)\n',
    });
    assert.deepEqual(calls, [
      'app/core.py:Engine.__init__ -> app/core.py:Store new 1.0',
      'app/core.py:Engine.go -> app/base.py:Base.stop call 1.0',
      'app/core.py:Engine.go -> app/base.py:helper call 1.0',
      'app/core.py:Engine.go -> app/core.py:Engine.start call 1.0',
      'app/core.py:Engine.go -> app/core.py:Store.save call 0.7',
      'app/core.py:Engine.start -> app/tools.py:clean call 1.0',
      'app/core.py:run -> app/core.py:Engine new 1.0',
      'app/core.py:run -> app/core.py:Engine.go call 0.7',
      'app/core.py:run -> app/core.py:Store new 1.0',
      'app/core.py:run -> app/core.py:run.save call 1.0',
      'main.py -> app/core.py:run call 1.0',
    ]);
  });
});

describe('calls of Go', () => {
  test('calls are resolved through packages, method sets, embedded types and interfaces', async () => {
    const calls = await listCalls({
      'go.mod': 'module example.com/app\n',
      'main.go': [
        'package main',
        '',
        'import (',
        '\t"fmt"',
        '\t"example.com/app/store"',
        ')',
        '',
        'func main() {',
        '\ts := store.New()',
        '\ts.Save("x")',
        '\tfmt.Println(s)',
        '\thelp(s)',
        '}',
        '',
      ].join('\n'),
      'help.go': [
        'package main',
        '',
        'import "example.com/app/store"',
        '',
        'func help(s store.Saver) {',
        '\ts.Save("y")',
        '}',
        '',
      ].join('\n'),
      'store/store.go': [
        'package store',
        '',
        'type Saver interface {',
        '\tSave(name string) error',
        '}',
        '',
        'type Base struct{}',
        '',
        'type Store struct {',
        '\tBase',
        '\tinner *Inner',
        '}',
        '',
        'func New() *Store { return &Store{} }',
        '',
        'func (s *Store) Save(name string) error {',
        '\ts.log(name)',
        '\ts.inner.Do()',
        '\treturn nil',
        '}',
        '',
      ].join('\n'),
      'store/inner.go': [
        'package store',
        '',
        'type Inner struct{}',
        '',
        'func (i *Inner) Do() {}',
        '',
        'func (b Base) log(name string) {}',
        '',
      ].join('\n'),
    });
    assert.deepEqual(calls, [
      'help.go:help -> store/store.go:Saver.Save call 0.7',
      'main.go:main -> help.go:help call 1.0',
      'main.go:main -> store/store.go:New call 1.0',
      'main.go:main -> store/store.go:Store.Save call 0.7',
      'store/store.go:New -> store/store.go:Store new 1.0',
      'store/store.go:Store.Save -> store/inner.go:Base.log call 0.7',
      'store/store.go:Store.Save -> store/inner.go:Inner.Do call 0.7',
    ]);
  });
});

describe('calls of Rust', () => {
  test('calls are resolved through use, modules, impl blocks and traits', async () => {
    const calls = await listCalls({
      'Cargo.toml': '[package]\nname = "app"\n',
      'src/main.rs': [
        'mod store;',
        'mod util;',
        'use crate::store::{Store, Saver};',
        'use util::*;',
        '',
        'fn main() {',
        '    let s = Store::new();',
        '    s.save();',
        '    store::free();',
        '    helper();',
        '    println!("{}", local());',
        '}',
        '',
        'fn local() -> u8 { 1 }',
        '',
      ].join('\n'),
      'src/util.rs': 'pub fn helper() { crate::store::free(); super::local(); }\n',
      'src/store.rs': [
        'pub struct Store { inner: Inner }',
        'pub struct Inner;',
        '',
        'impl Store {',
        '    pub fn new() -> Self { Store { inner: Inner } }',
        '    fn flush(&self) { self.inner.close(); }',
        '}',
        '',
        'pub trait Saver { fn save(&self); }',
        '',
        'impl Saver for Store {',
        '    fn save(&self) { self.flush(); }',
        '}',
        '',
        'impl Inner { fn close(&self) {} }',
        '',
        'pub fn free() {}',
        '',
      ].join('\n'),
    });
    assert.deepEqual(calls, [
      'src/main.rs:main -> src/main.rs:local call 1.0',
      'src/main.rs:main -> src/store.rs:Store.new call 1.0',
      'src/main.rs:main -> src/store.rs:Store.save call 0.7',
      'src/main.rs:main -> src/store.rs:free call 1.0',
      'src/main.rs:main -> src/util.rs:helper call 1.0',
      'src/store.rs:Store.flush -> src/store.rs:Inner.close call 0.7',
      'src/store.rs:Store.new -> src/store.rs:Store new 1.0',
      'src/store.rs:Store.save -> src/store.rs:Store.flush call 1.0',
      'src/util.rs:helper -> src/main.rs:local call 1.0',
      'src/util.rs:helper -> src/store.rs:free call 1.0',
    ]);
  });
});

describe('calls of Java and C#', () => {
  test('calls are resolved through packages, imports, fields, bases and bare names', async () => {
    const calls = await listCalls({
      'src/a/Main.java': [
        'package a;',
        '',
        'import b.Store;',
        'import b.util.*;',
        '',
        'public class Main extends Base {',
        '  private final Store store = new Store();',
        '  void run(Store other) {',
        '    store.save();',
        '    other.save();',
        '    helper();',
        '    inherited();',
        '    Tools.clean();',
        '    System.out.println("x");',
        '    Store made = Store.create();',
        '    made.save();',
        '  }',
        '  private void helper() {}',
        '}',
        '',
      ].join('\n'),
      'src/a/Base.java': 'package a;\n\nclass Base {\n  void inherited() {}\n}\n',
      'src/b/Store.java':
        'package b;\n\npublic class Store {\n  public void save() {}\n  public static Store create() { return new Store(); }\n}\n',
      'src/b/util/Tools.java':
        'package b.util;\n\npublic class Tools {\n  public static void clean() {}\n}\n',
    });
    assert.deepEqual(calls, [
      'src/a/Main.java:Main -> src/b/Store.java:Store new 1.0',
      'src/a/Main.java:Main.run -> src/a/Base.java:Base.inherited call 0.7',
      'src/a/Main.java:Main.run -> src/a/Main.java:Main.helper call 1.0',
      'src/a/Main.java:Main.run -> src/b/Store.java:Store.create call 1.0',
      'src/a/Main.java:Main.run -> src/b/Store.java:Store.save call 0.7',
      'src/a/Main.java:Main.run -> src/b/util/Tools.java:Tools.clean call 1.0',
      'src/b/Store.java:Store.create -> src/b/Store.java:Store new 1.0',
    ]);
    const sharp = await listCalls({
      'Main.cs': [
        'using App.Data;',
        'namespace App',
        '{',
        '  public class Main : Base',
        '  {',
        '    private readonly Store store = new Store();',
        '    public void Run(Store other)',
        '    {',
        '      store.Save();',
        '      other.Save();',
        '      Helper();',
        '      Inherited();',
        '      var made = new Store();',
        '      made.Save();',
        '      Console.WriteLine(1);',
        '    }',
        '    private void Helper() {}',
        '  }',
        '}',
        '',
      ].join('\n'),
      'Base.cs': 'namespace App;\n\npublic class Base\n{\n  protected void Inherited() {}\n}\n',
      'Store.cs': 'namespace App.Data;\n\npublic class Store\n{\n  public void Save() {}\n}\n',
    });
    assert.deepEqual(sharp, [
      'Main.cs:Main -> Store.cs:Store new 1.0',
      'Main.cs:Main.Run -> Base.cs:Base.Inherited call 0.7',
      'Main.cs:Main.Run -> Main.cs:Main.Helper call 1.0',
      'Main.cs:Main.Run -> Store.cs:Store new 1.0',
      'Main.cs:Main.Run -> Store.cs:Store.Save call 0.7',
    ]);
  });
});
