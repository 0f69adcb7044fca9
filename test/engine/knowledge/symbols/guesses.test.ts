import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listCalls } from './graph-rig.ts';

describe('a member of an unknown value', () => {
  test('is not bound by its name if its chain starts outside of the project', async () => {
    const calls = await listCalls({
      'a.go': [
        'package a',
        'import "sync"',
        'type Program struct{}',
        'func (p *Program) Wait() {}',
        'func use() { var group sync.WaitGroup; group.Wait() }',
        'func pass(list []any) { for _, each := range list { each.(sync.Locker).Wait() } }',
      ].join('\n'),
      'A.java': [
        'import java.util.Map;',
        'class A { String getLabel() { return ""; } }',
        'class Use { void f(Map.Entry<String, String> e) { e.getLabel(); System.out.getLabel(); } }',
      ].join('\n'),
      'src/lib.rs': [
        'struct Ranges {}',
        'impl Ranges { fn covers(&self) {} }',
        'fn use_it() { std::env::args().filter(|a| a.covers()); }',
      ].join('\n'),
      'a.js': "import fs from 'node:fs';\nfs.read((file) => file.checkAll());\nclass A { checkAll() {} }\n",
    });
    assert.deepEqual(calls, []);
  });

  test('is bound by its name if the value comes from the project', async () => {
    const calls = await listCalls({
      'a.js': 'class A { checkAll() {} }\nexport function use(it) { it.checkAll(); }\n',
      'src/lib.rs': [
        'struct Ranges { all: Vec<Range> }',
        'struct Range {}',
        'impl Range { fn covers(&self) {} }',
        'impl Ranges { fn run(&self) { self.all.iter().filter(|a| a.covers()); } }',
      ].join('\n'),
    });
    assert.deepEqual(calls, [
      'a.js:use -> a.js:A.checkAll call 0.4',
      'src/lib.rs:Ranges.run -> src/lib.rs:Range.covers call 0.7',
    ]);
  });
});

describe('a package of Python', () => {
  test('has its modules, also those that it imports itself', async () => {
    const calls = await listCalls({
      'src/pkg/__init__.py': 'from . import fields\nfrom pkg.schema import Schema\n',
      'src/pkg/fields.py': 'class Int: pass\n',
      'src/pkg/schema.py': 'class Schema: pass\n',
      'examples/a.py': 'from pkg import fields, Schema\nfields.Int()\nSchema()\n',
    });
    assert.deepEqual(calls, [
      'examples/a.py -> src/pkg/fields.py:Int call 1.0',
      'examples/a.py -> src/pkg/schema.py:Schema call 1.0',
    ]);
  });
});
