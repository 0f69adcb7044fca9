import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listCalls, listEdges, makeProject } from './graph-rig.ts';

describe('calls through CommonJS and aliases', () => {
  test('a call of a required module ends at what it exports, not at the variable', async () => {
    const calls = await listCalls({
      'view.js': [
        'module.exports = View;',
        'function View(name) {}',
        'View.prototype.look = function look() { this.find(); };',
        'View.prototype.find = function () {};',
        'View.open = function open() {};',
      ].join('\n'),
      'make.js': 'module.exports = function make() {};\n',
      'parts.js': 'exports.one = function one() {};\nmodule.exports.two = () => {};\n',
      'base.js': 'class Base { run() {} }\nmodule.exports = Base;\n',
      'use.js': [
        "const View = require('./view');",
        "const make = require('./make');",
        "const parts = require('./parts');",
        "const { two } = require('./parts');",
        "const one = require('./parts').one;",
        "const Base = require('./base');",
        'class Below extends Base { go() { this.run(); } }',
        'function all() { new View("a").look(); View.open(); make(); parts.one(); two(); one(); }',
      ].join('\n'),
    });
    assert.deepEqual(calls, [
      'use.js:Below.go -> base.js:Base.run call 0.7',
      'use.js:all -> make.js:make call 1.0',
      'use.js:all -> parts.js:one call 1.0',
      'use.js:all -> parts.js:two call 1.0',
      'use.js:all -> view.js:View new 1.0',
      'use.js:all -> view.js:View.look call 0.7',
      'use.js:all -> view.js:View.open call 1.0',
      'view.js:View.look -> view.js:View.find call 1.0',
    ]);
  });

  test('exports that are assigned together, and members that are added to them, are found', async () => {
    const calls = await listCalls({
      'index.js': "module.exports = require('./lib/main');\n",
      'lib/main.js': [
        "const proto = require('./proto');",
        'exports = module.exports = createMain;',
        'function createMain() { proto.handle(); }',
        'exports.Route = require("./route");',
        'exports.again = createMain;',
      ].join('\n'),
      'lib/route.js': 'var app = exports = module.exports = Route;\nfunction Route() {}\n',
      'lib/proto.js': [
        'var app = exports = module.exports = {};',
        'app.init = function init() { this.handle(); };',
        'app.handle = app.serve = function serve() {};',
      ].join('\n'),
      'use.js': [
        "const main = require('./index');",
        'const alias = main;',
        'function use() { main(); new main.Route(); main.again(); }',
        'function other() { alias(); }',
      ].join('\n'),
    });
    assert.deepEqual(calls, [
      'lib/main.js:createMain -> lib/proto.js:app.serve call 1.0',
      'lib/proto.js:app.init -> lib/proto.js:app.serve call 0.7',
      'use.js:other -> lib/main.js:createMain call 1.0',
      'use.js:other -> use.js:alias call 1.0',
      'use.js:use -> lib/main.js:createMain call 1.0',
      'use.js:use -> lib/route.js:Route new 1.0',
    ]);
  });

  test('the folder of a package is its main file, and a program comes before its written declarations', async () => {
    const calls = await listCalls({
      'package.json': JSON.stringify({
        name: 'a',
        main: 'lib/a.js',
        types: 'lib/a.d.ts',
        exports: { import: './lib/a.mjs' },
      }),
      'lib/a.js': 'module.exports = function run() {};\n',
      'lib/a.mjs': 'export function run() {}\n',
      'lib/a.d.ts': 'declare function run(): void;\nexport = run;\n',
      'test/use.js': "const run = require('..');\nconst other = require('other');\nrun();\nother();\n",
    });
    assert.deepEqual(calls, ['test/use.js -> lib/a.js:run call 1.0']);
  });

  test('an alias leads to its function in every language, and stays a target itself', async () => {
    const calls = await listCalls({
      'a.ts': 'function impl() {}\nexport const alias = impl;\nexport const use = () => alias();\n',
      'b.ts': "import { alias } from './a';\nexport const far = () => alias();\n",
      'c.py': 'def impl(): pass\nalias = impl\ndef use(): alias()\n',
    });
    assert.deepEqual(calls, [
      'a.ts:use -> a.ts:alias call 1.0',
      'a.ts:use -> a.ts:impl call 1.0',
      'b.ts:far -> a.ts:alias call 1.0',
      'b.ts:far -> a.ts:impl call 1.0',
      'c.py:use -> c.py:alias call 1.0',
      'c.py:use -> c.py:impl call 1.0',
    ]);
  });

  test('a required function that is passed on as a value has a reference', async () => {
    const project = makeProject({
      'handler.js': 'module.exports = function handler() {};\n',
      'use.js': "const handler = require('./handler');\nfunction use(app) { app.on(handler); }\n",
    });
    await project.indexer.refresh();
    assert.deepEqual(listEdges(project.indexer, ['value']), ['use.js:use -> handler.js:handler value 1.0']);
    await project.close();
  });
});
