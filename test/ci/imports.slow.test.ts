import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/workspaces/git.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Checks a separate tree with the project's rules, or the project itself. */
function check(files: Record<string, string> | null): {
  code: number | null;
  offenders: string[];
  said: string;
} {
  const root = files === null ? PROJECT : temporaryFolder('svc-imports-');
  if (files !== null) folders.push(root);
  for (const [path, text] of Object.entries(files ?? {})) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const ran = spawnSync(process.execPath, [join(PROJECT, '.ci/imports.js'), root], { encoding: 'utf8' });
  const offenders = ran.stderr.split('\n').filter((line) => line !== '');
  return { code: ran.status, offenders, said: ran.stdout };
}

/** The imports of the offenders. */
const TARGETS = [
  'engine/index.ts',
  'engine/daemon/compose/compose.ts',
  'engine/daemon/index.ts',
  'engine/core/base/log.ts',
  'engine/config/index.ts',
  'engine/core/access/index.ts',
  'engine/board/stats/index.ts',
  'engine/storage/index.ts',
  'engine/bus/index.ts',
  'engine/workers/agents/index.ts',
  'engine/workers/agents/streams/codex.ts',
  'cli/command.ts',
  'tui/start.tsx',
  'test/support/git.ts',
  'fixtures/requests/a.ts',
  'node_modules/ink/index.js',
  'node_modules/react/jsx-runtime.js',
];
const targets = Object.fromEntries(TARGETS.map((path) => [path, 'export const a = 1;\n']));

/** Trees that each break one rule. */
const BAD: Record<string, [text: string, rule: string]> = {
  'cli/past-the-door.ts': [`import { a } from '../engine/config/index.ts';`, 'faces-use-the-door'],
  'cli/type-past-the-door.ts': [
    `import type { A } from '../engine/daemon/compose/compose.ts';`,
    'faces-use-the-door',
  ],
  'cli/late.ts': [`export const a = await import('../engine/config/index.ts');`, 'faces-use-the-door'],
  'cli/faces.ts': [`import { a } from '../tui/start.tsx';`, 'commands-load-the-dashboard-late'],
  'cli/tested.ts': [`import { a } from '../test/support/git.ts';`, 'nothing-needs-tests'],
  'cli/commands/other.ts': [
    `export const a = await import('../../fixtures/requests/a.ts');`,
    'nothing-needs-tests',
  ],
  'tui/commands.ts': [`import { a } from '../cli/command.ts';`, 'dashboard-knows-no-commands'],
  'tui/fixed.tsx': [`import { a } from '../fixtures/requests/a.ts';`, 'nothing-needs-tests'],
  'engine/board/ink.ts': [`import { Box } from 'ink';`, 'engine-is-headless'],
  'engine/board/jsx.ts': [`import { jsx } from 'react/jsx-runtime';`, 'engine-is-headless'],
  'engine/board/face.ts': [`import type { Context } from '../../cli/command.ts';`, 'engine-is-headless'],
  'engine/board/tasks/up.ts': [`import { a } from '../../bus/index.ts';`, 'board-imports-downwards'],
  'engine/board/type-up.ts': [`import type { A } from '../bus/index.ts';`, 'board-imports-downwards'],
  'engine/board/again.ts': [`export * from '../bus/index.ts';`, 'board-imports-downwards'],
  'engine/board/inner.ts': [`import { a } from '../workers/agents/streams/codex.ts';`, 'through-the-index'],
  'engine/board/composer.ts': [`import { a } from '../daemon/index.ts';`, 'board-imports-downwards'],
  'engine/board/host.ts': [`import { a } from '../index.ts';`, 'modules-know-no-composition'],
  'engine/core/base/ids.ts': [`import { a } from '../../storage/index.ts';`, 'core-imports-downwards'],
  'engine/core/base/inner.ts': [`import { a } from '../access/index.ts';`, 'core-base-imports-downwards'],
  'engine/board/review/late.ts': [`import { a } from '../stats/index.ts';`, 'board-review-imports-downwards'],
  'fixtures/agent/agent.ts': [`import { a } from '../../engine/index.ts';`, 'fixtures-stand-alone'],
};

describe('the import check', () => {
  it('the check refuses every import across a border, and names the file and the rule', () => {
    const files = Object.entries(BAD).map(([path, [text]]) => [path, `// A comment.\n\n${text}\n`]);
    const { code, offenders } = check({ ...targets, ...Object.fromEntries(files) });
    assert.equal(code, 1);
    for (const [path, [, rule]] of Object.entries(BAD)) {
      const said = offenders.filter((each) => each.startsWith(`${path} → `));
      assert.equal(said.length, 1, `${path}: ${said.join('; ')}`);
      assert.match(said[0] ?? '', new RegExp(`: ${rule}\\b`));
    }
    assert.equal(offenders.length, Object.keys(BAD).length, offenders.join('\n'));
  });

  it('the check refuses a cycle, even one of types alone', () => {
    const { offenders } = check({
      'engine/board/one.ts': `import type { Two } from './two.ts';\nexport type One = Two;\n`,
      'engine/board/two.ts': `import type { One } from './one.ts';\nexport type Two = One;\n`,
    });
    assert.match(offenders.join('\n'), /no-cycles/);
  });

  it('the check refuses folders that import each other, and names the weaker imports', () => {
    const { code, offenders } = check({
      'engine/board/tasks/deep/a.ts': `import type { B } from '../../races/b.ts';\nexport type A = B;\n`,
      'engine/board/races/b.ts': 'export type B = 1;\n',
      'engine/board/races/c.ts': `import type { E } from '../tasks/e.ts';\nexport type C = E;\n`,
      'engine/board/races/d.ts': `export const d = import('../tasks/e.ts');\n`,
      'engine/board/tasks/e.ts': 'export type E = 1;\n',
      'tui/text.ts': `import { pane } from './panes/pane.ts';\nexport const text = pane;\n`,
      'tui/panes/pane.ts': 'export const pane = 1;\n',
      'tui/panes/list.ts': `import { text } from '../text.ts';\nexport const list = text;\n`,
      'tui/panes/tree.ts': `import { text } from '../text.ts';\nexport const tree = text;\n`,
    });
    assert.deepEqual(offenders, [
      'engine/board/tasks/deep/a.ts → engine/board/races/b.ts: no-mutual-imports (engine/board/tasks and engine/board/races import each other)',
      'tui/text.ts → tui/panes/pane.ts: no-mutual-imports (tui/text.ts and tui/panes import each other)',
    ]);
    assert.equal(code, 1);
  });

  it('the check allows base, lower modules, neighbours in a module and the composition root', () => {
    const { code, offenders } = check({
      ...targets,
      'cli/a.ts': `import { a } from '../engine/index.ts';\nimport { a as log } from '../engine/core/base/log.ts';\nexport const tui = await import('../tui/start.tsx');\n`,
      'engine/daemon/compose/compose.ts': `import { a } from '../../board/index.ts';\nimport { b } from '../../bus/index.ts';\n`,
      'engine/board/index.ts': `import type { A } from '../workers/agents/index.ts';
import { SvcError } from '../core/base/log.ts';
import { a } from './tasks/index.ts';
`,
      'engine/board/tasks/index.ts': 'export const a = 1;\n',
      'engine/board/config.ts': 'export const board = 1;\n',
      'engine/config/schema.ts': `import { board } from '../board/config.ts';\n`,
      'fixtures/payloads/a.ts': `import type { A } from '../../engine/index.ts';\n`,
    });
    assert.deepEqual(offenders, []);
    assert.equal(code, 0);
  });

  it('the check fails where there is nothing to check', () => {
    assert.equal(check({ 'README.md': '' }).code, 1);
  });

  it('the check passes on this project', () => {
    const { code, offenders } = check(null);
    assert.deepEqual(offenders, []);
    assert.equal(code, 0);
  });
});
