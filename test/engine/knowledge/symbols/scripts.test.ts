import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listCalls, listEdges, makeProject } from './graph-rig.ts';

describe('calls of TypeScript and JavaScript', () => {
  test('calls are resolved through barrels, default and namespace imports, paths, package exports and workspaces', async () => {
    const calls = await listCalls({
      'package.json': '{ "name": "root", "workspaces": ["packages/*"] }',
      'tsconfig.base.json': '{ // shared\n "compilerOptions": { "paths": { "@lib/*": ["./src/lib/*"] } } }',
      'tsconfig.json': '{ "extends": "./tsconfig.base.json" }',
      'packages/kit/package.json':
        '{ "name": "@x/kit", "exports": { ".": { "types": "./dist/index.d.ts", "default": "./dist/index.js" }, "./deep/*": "./dist/deep/*.js" } }',
      'packages/kit/src/index.ts': "export * from './one.js';\nexport { two as second } from './two';\n",
      'packages/kit/src/one.ts': 'export function one() {}\n',
      'packages/kit/src/two.ts': 'export const two = () => {};\n',
      'packages/kit/src/deep/three.ts': 'export default function three() {}\n',
      'src/lib/tool.ts': 'export class Tool { static make() { return new Tool(); } use() {} }\n',
      'src/old.cjs': 'function hidden() {}\nmodule.exports = { shown() { hidden(); } };\n',
      'src/main.ts': [
        "import { one, second } from '@x/kit';",
        "import three from '@x/kit/deep/three';",
        "import * as tools from '@lib/tool';",
        "import { readFile } from 'node:fs';",
        "const old = require('./old.cjs');",
        'export function main() {',
        '  one();',
        '  second();',
        '  three();',
        '  tools.Tool.make().use();',
        '  old.shown();',
        '  readFile();',
        '}',
      ].join('\n'),
    });
    assert.deepEqual(calls, [
      'src/lib/tool.ts:Tool.make -> src/lib/tool.ts:Tool new 1.0',
      'src/main.ts:main -> packages/kit/src/deep/three.ts:three call 1.0',
      'src/main.ts:main -> packages/kit/src/one.ts:one call 1.0',
      'src/main.ts:main -> packages/kit/src/two.ts:two call 1.0',
      'src/main.ts:main -> src/lib/tool.ts:Tool.make call 1.0',
      'src/main.ts:main -> src/lib/tool.ts:Tool.use call 0.7',
      'src/main.ts:main -> src/old.cjs:shown call 1.0',
      'src/old.cjs:shown -> src/old.cjs:hidden call 1.0',
    ]);
  });

  test('calls are not invented: shadowed names, parameters, globals, outside imports and other kinds have no edge', async () => {
    const calls = await listCalls({
      'a.ts': [
        "import { save } from 'some-package';",
        'export function fetch() {}',
        'export class Box {',
        '  #open() {}',
        '  open() { this.#open(); }',
        '  inner: unknown;',
        '  run() { this.inner.run(); }',
        '  log() { console.log(1); }',
        '}',
        'export function close() {}',
        'export function work(close: () => void) {',
        '  close();',
        '  save();',
        '  const fetch = () => {};',
        '  fetch();',
        '}',
      ].join('\n'),
      'b.ts':
        'export function use(x) {\n  fetch();\n  setTimeout(() => close(), 1);\n  x.save();\n}\nexport function save() {}\n',
    });
    assert.deepEqual(calls, [
      'a.ts:Box.open -> a.ts:Box.#open call 1.0',
      'a.ts:work -> a.ts:work.fetch call 1.0',
    ]);
  });

  test('receivers are known by annotations, new, fields, results, destructuring, callbacks, JSX, decorators and super', async () => {
    const calls = await listCalls({
      'a.tsx': [
        'function mark(target: unknown) { return target; }',
        'class Base { start() {} }',
        'interface Store { load(key: string): Item }',
        'class Item { use() {} }',
        '@mark',
        'class App extends Base {',
        '  constructor(private store: Store, readonly items: Item[]) { super(); }',
        '  start() {',
        '    super.start();',
        "    this.store.load('x').use();",
        '    for (const each of this.items) each.use();',
        '    this.items.forEach((item) => item.use());',
        '  }',
        '}',
        'function View({ item }: { item: Item }) { item.use(); return <div />; }',
        'const make = async (): Promise<App> => new App(null!, []);',
        'export async function page() {',
        '  const app = await make();',
        '  app.start();',
        '  const { items: [first] } = app;',
        '  first.use();',
        '  return <View item={first} />;',
        '}',
      ].join('\n'),
    });
    assert.deepEqual(calls, [
      'a.tsx -> a.tsx:mark call 1.0',
      'a.tsx:App.constructor -> a.tsx:Base call 1.0',
      'a.tsx:App.start -> a.tsx:Base.start call 1.0',
      'a.tsx:App.start -> a.tsx:Item.use call 0.7',
      'a.tsx:App.start -> a.tsx:Store.load call 0.7',
      'a.tsx:View -> a.tsx:Item.use call 0.7',
      'a.tsx:make -> a.tsx:App new 1.0',
      'a.tsx:page -> a.tsx:App.start call 0.7',
      'a.tsx:page -> a.tsx:Item.use call 0.7',
      'a.tsx:page -> a.tsx:View jsx 1.0',
      'a.tsx:page -> a.tsx:make call 1.0',
    ]);
  });

  test('members that a namespace adds to a function, a class or a variable are found', async () => {
    const calls = await listCalls({
      'a.ts': [
        'export function send() { send.inner(); }',
        'export namespace send { export function inner() {} }',
        'export class Box {}',
        'export namespace Box { export function make() {} }',
        'export const limit = 1;',
        'export declare namespace limit { function raise(): void }',
      ].join('\n'),
      'b.ts':
        "import * as all from './a';\nexport function run() { all.send.inner(); all.Box.make(); all.limit.raise(); }\n",
    });
    assert.deepEqual(calls, [
      'a.ts:send -> a.ts:send.inner call 1.0',
      'b.ts:run -> a.ts:Box.make call 1.0',
      'b.ts:run -> a.ts:limit.raise call 0.7',
      'b.ts:run -> a.ts:send.inner call 1.0',
    ]);
  });

  test("`this` is known by the function's declaration, and in an object literal by its type, else by the literal", async () => {
    const calls = await listCalls({
      'a.ts': [
        'export class Reader { peek() {} }',
        'export class Writer { put(this: Both, at: Reader) { this.peek(); at.peek(); [1].map(() => this.peek()); } }',
        'export type Both = Reader & Writer;',
        'export function free(this: Reader, other: Writer) { this.peek(); function inner(this: unknown) { this.peek(); } }',
        'export const api = { run() { this.help(); }, help() {}, arrow: () => this.help() };',
        'interface Shape { area(): number; draw(): void }',
        'export const square: Shape = { area() { return 1; }, draw() { this.area(); } };',
        'export function use(f: (this: Writer, r: Reader) => void) { f((r) => 1); }',
        'export function pass() { use((r) => r.peek()); }',
      ].join('\n'),
    });
    assert.deepEqual(calls, [
      'a.ts:Writer.put -> a.ts:Reader.peek call 0.7',
      'a.ts:api.run -> a.ts:api.help call 0.7',
      'a.ts:free -> a.ts:Reader.peek call 0.7',
      'a.ts:pass -> a.ts:Reader.peek call 0.7',
      'a.ts:pass -> a.ts:use call 1.0',
      'a.ts:square.draw -> a.ts:Shape.area call 0.7',
    ]);
  });

  test('values of records are known, and what Object and Array make of them', async () => {
    const calls = await listCalls({
      'a.ts': [
        'class One { go() {} }',
        'class Two { go() {} }',
        'declare const all: Record<string, One>;',
        'declare const sig: { [key: string]: Two };',
        'export function byKey(k: string) { all[k]!.go(); all.x.go(); all["y"].go(); }',
        'export function bySignature(k: string) { sig[k].go(); }',
        'export function values() { Object.values(all).forEach((one) => one.go()); }',
        'export function entries() { for (const [k, two] of Object.entries(sig)) two.go(); }',
        'export function from(map: Map<string, Two>) { for (const two of Array.from(map.values())) two.go(); }',
        'export function frozen() { Object.freeze(new One()).go(); }',
        'export function shadowed(Object: { values(x: unknown): Two[] }) { Object.values(all)[0].go(); }',
      ].join('\n'),
    });
    assert.deepEqual(
      calls.filter((call) => call.includes('.go ')),
      [
        'a.ts:byKey -> a.ts:One.go call 0.7',
        'a.ts:bySignature -> a.ts:Two.go call 0.7',
        'a.ts:entries -> a.ts:Two.go call 0.7',
        'a.ts:from -> a.ts:Two.go call 0.7',
        'a.ts:frozen -> a.ts:One.go call 0.7',
        'a.ts:shadowed -> a.ts:Two.go call 0.7',
        'a.ts:values -> a.ts:One.go call 0.7',
      ],
    );
  });

  test('a member of an unknown receiver is bound by its name only where one symbol has it', async () => {
    const project = makeProject({
      'a.js': 'class A { renderRow() {} paint() {} }\nclass B { paint() {} }\n',
      'b.js': 'export function use(x) { x.renderRow(); x.paint(); x.push(); }\n',
      'c.py': 'def use(x):\n    x.renderRow()\n',
    });
    await project.indexer.refresh();
    assert.deepEqual(listEdges(project.indexer), ['b.js:use -> a.js:A.renderRow call 0.4']);
    await project.close();
  });
});
