import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listEdges, makeProject } from './graph-rig.ts';

/** Returns the same numbers for the same seed. */
function createRandom(seed: number): (below: number) => number {
  let state = seed * 2654435761 + 1;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const NAMES = ['alpha', 'beta', 'gamma', 'delta', 'omega'];
const CLASSES = ['One', 'Two', 'Three'];
const PATHS = ['src/a.ts', 'src/b.ts', 'src/c/index.ts', 'src/c/d.ts', 'src/e.ts', 'lib/f.ts', 'src/b.js'];
const PYTHON = ['pkg/__init__.py', 'pkg/m.py', 'pkg/n.py', 'main.py'];
const GO = ['go/a.go', 'go/b.go', 'go/sub/c.go'];

/** Returns a TypeScript file that refers to others at random; it does not have to make sense. */
function composeScript(random: (below: number) => number, path: string): string {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const depth = path.split('/').length - 1;
  const to = (target: string): string =>
    `${'../'.repeat(depth) || './'}${target.replace(/(?:\/index)?\.[tj]s$/, random(2) === 0 ? '' : target.endsWith('.js') ? '.js' : '')}`;
  const lines: string[] = [];
  for (let n = random(4); n > 0; n -= 1) {
    const from = to(pick(PATHS));
    const kind = random(6);
    if (kind === 0) lines.push(`export * from '${from}';`);
    else if (kind === 1) lines.push(`export { ${pick(NAMES)} as ${pick(NAMES)} } from '${from}';`);
    else if (kind === 2) lines.push(`import * as space from '${from}';`, `space.${pick(NAMES)}();`);
    else if (kind === 3) lines.push(`import ${pick(NAMES)} from '${from}';`);
    else lines.push(`import { ${pick(NAMES)}, ${pick(CLASSES)} } from '${from}';`);
  }
  for (let n = random(4); n > 0; n -= 1) {
    const kind = random(5);
    if (kind === 0)
      lines.push(
        `export class ${pick(CLASSES)} extends ${pick(CLASSES)} {`,
        `  field: ${pick(CLASSES)} = new ${pick(CLASSES)}();`,
        `  ${pick(NAMES)}() { return this.field.${pick(NAMES)}(); }`,
        '}',
      );
    else if (kind === 1)
      lines.push(`export const ${pick(NAMES)} = { ${pick(NAMES)}: () => ${pick(NAMES)}() };`);
    else if (kind === 2) lines.push(`export default function ${pick(NAMES)}(x) { x.${pick(NAMES)}Only(); }`);
    else if (kind === 3)
      lines.push(`class Late { ${pick(NAMES)}Only() { ${pick(NAMES)}.${pick(NAMES)}(); } }`);
    else
      lines.push(
        `export function ${pick(NAMES)}(x: ${pick(CLASSES)}): ${pick(CLASSES)} { return x.${pick(NAMES)}(); }`,
      );
  }
  lines.push(`${pick(NAMES)}().${pick(NAMES)}();`, `new ${pick(CLASSES)}().field.${pick(NAMES)}();`);
  if (random(8) === 0) lines.splice(random(lines.length), 0, '<<<<<<< ours', '=======', '>>>>>>> theirs');
  return lines.join('\n');
}

function composePython(random: (below: number) => number): string {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const from = pick(['pkg', 'pkg.m', 'pkg.n', '.m', '.', 'main']);
  return [
    pick([
      `from ${from} import ${pick(NAMES)}`,
      `from ${from} import *`,
      'import pkg.m',
      `from ${from} import ${pick(CLASSES)}`,
    ]),
    `class ${pick(CLASSES)}(${pick(CLASSES)}):`,
    `    def ${pick(NAMES)}(self):`,
    `        self.${pick(NAMES)}()`,
    `        pkg.m.${pick(NAMES)}()`,
    `def ${pick(NAMES)}(x: ${pick(CLASSES)}):`,
    `    x.${pick(NAMES)}()`,
    `    ${pick(NAMES)}()`,
    '',
  ].join('\n');
}

function composeGo(random: (below: number) => number, path: string): string {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  return [
    `package ${path.includes('sub') ? 'sub' : 'main'}`,
    random(2) === 0 ? 'import "example.com/app/sub"' : '',
    `type ${pick(CLASSES)} struct { ${pick(CLASSES)} }`,
    `func (x *${pick(CLASSES)}) ${pick(NAMES)}() { x.${pick(NAMES)}() }`,
    `func ${pick(NAMES)}(y ${pick(CLASSES)}) { y.${pick(NAMES)}(); sub.${pick(NAMES)}(); ${pick(NAMES)}() }`,
    '',
  ].join('\n');
}

describe('an index that follows edits', () => {
  const seeds = (process.env.GRAPH_SEEDS ?? '1 22').split(' ').map(Number);
  for (const seed of seeds)
    test(`the index equals a rebuilt one, after each of ten steps (seed ${seed})`, async () => {
      const random = createRandom(seed);
      const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
      const compose = (path: string): string =>
        path.endsWith('.py')
          ? composePython(random)
          : path.endsWith('.go')
            ? composeGo(random, path)
            : composeScript(random, path);
      const all = [...PATHS, ...PYTHON, ...GO];
      const project = makeProject({
        'package.json': '{ "name": "app" }',
        'go/go.mod': 'module example.com/app\n',
        ...Object.fromEntries(all.map((path) => [path, compose(path)])),
      });
      const present = new Set(all);
      try {
        await project.indexer.refresh();
        for (let step = 1; step <= 10; step += 1) {
          const done: string[] = [];
          for (let edits = 1 + random(3); edits > 0; edits -= 1) {
            const path = pick(all);
            if (random(4) === 0 && present.has(path)) {
              project.remove(path);
              present.delete(path);
              done.push(`removed ${path}`);
            } else if (random(12) === 0) {
              project.write({
                'tsconfig.json': `{ "compilerOptions": { "paths": { "@/*": ["${pick(['src', 'lib'])}/*"] } } }`,
              });
              done.push('wrote tsconfig.json');
            } else {
              project.write({ [path]: compose(path) });
              present.add(path);
              done.push(`wrote ${path}`);
            }
          }
          await project.indexer.refresh();
          const fresh = project.fresh();
          await fresh.refresh();
          assert.deepEqual(listEdges(project.indexer), listEdges(fresh), `step ${step}: ${done.join(', ')}`);
          await fresh.close();
        }
      } finally {
        await project.close();
      }
    });
});
