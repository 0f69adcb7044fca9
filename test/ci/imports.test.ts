import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/git.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));
const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

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

/** Each of these breaks a rule in its third line. */
const BAD: Record<string, [text: string, rule: RegExp]> = {
  'cli/past-the-door.ts': [
    `import { a } from '../engine/config/index.ts';`,
    /cli\/ imports engine\/index\.ts only/,
  ],
  'cli/type-past-the-door.ts': [`import type { A } from '../engine/compose.ts';`, /engine\/index\.ts only/],
  'cli/late.ts': [`const a = await import('../engine/log.ts');`, /engine\/index\.ts only/],
  'cli/faces.ts': [`import { start } from '../tui/start.tsx';`, /dynamic import only/],
  'cli/tested.ts': [`import { a } from '../test/support/git.ts';`, /nothing outside test\//],
  'tui/commands.ts': [`import { a } from '../cli/print.ts';`, /tui\/ never imports cli\//],
  'tui/fixed.tsx': [`import { a } from '../fixtures/requests/a.ts';`, /imports fixtures\//],
  'engine/board/ink.ts': [`import { Box } from 'ink';`, /engine\/ never imports ink/],
  'engine/board/jsx.ts': [`import { jsx } from 'react/jsx-runtime';`, /engine\/ never imports react/],
  'engine/board/face.ts': [
    `import type { Context } from '../../cli/command.ts';`,
    /engine\/ never imports cli\//,
  ],
  'engine/board/tasks/reach.ts': [
    `import { a } from '../../bus/index.ts';`,
    /room board takes values of room bus/,
  ],
  'engine/board/mixed.ts': [
    `import { type A, b } from '../bus/index.ts';`,
    /room board takes values of room bus/,
  ],
  'engine/board/again.ts': [`export * from '../bus/index.ts';`, /room board takes values of room bus/],
  'engine/board/composer.ts': [
    `import { openEngine } from '../compose.ts';`,
    /only errors, clock, hints, ids, text, operation, tool, version, .*owner.* are shared/,
  ],
  'engine/ids.ts': [
    `import { a } from './storage/index.ts';`,
    /only compose\.ts, rooms\.ts, index\.ts, log\.ts, health\.ts import rooms/,
  ],
  'engine/notify/config.ts': [
    `import { a } from '../config/load.ts';`,
    /room notify takes values of room config/,
  ],
  'fixtures/agent/agent.ts': [`import { z } from 'zod';`, /types only/],
};

describe('the check of imports', () => {
  it('refuses every import over a border, naming file, line and rule', () => {
    const files = Object.entries(BAD).map(([path, [text]]) => [path, `// A comment.\n\n${text}\n`]);
    const { code, offenders } = check(Object.fromEntries(files));
    assert.equal(code, 1);
    assert.equal(offenders.length, Object.keys(BAD).length, offenders.join('\n'));
    for (const [path, [, rule]] of Object.entries(BAD)) {
      const line = offenders.find((each) => each.startsWith(`${path}:3: `));
      assert.match(line ?? `nothing about ${path}`, rule);
    }
  });

  it('finds an import that is written over several lines, and none in comments', () => {
    const { offenders } = check({
      'engine/board/a.ts': `/*
import { a } from '../bus/a.ts';
*/
// import { b } from '../bus/b.ts';
/** See {@link import('../bus/c.ts')}. */
export const text = 'import x from y';
import {
  type D,
  e,
} from '../bus/d.ts';
`,
    });
    assert.deepEqual(
      offenders.map((each) => each.split(': ')[0]),
      ['engine/board/a.ts:7'],
    );
  });

  it('lets types, the shared files, neighbours in a room and the composers through', () => {
    const { code, said } = check({
      'cli/a.ts': `import { a } from '../engine/index.ts';\nconst tui = await import('../tui/start.tsx');\n`,
      'engine/compose.ts': `import { a } from './board/index.ts';\nimport { b } from './bus/index.ts';\n`,
      'engine/board/index.ts': `import type { A } from '../bus/index.ts';
import { type B, type C } from '../bus/index.ts';
export type { D } from '../bus/index.ts';
import { SvcError } from '../errors.ts';
import { a } from './tasks/index.ts';
type E = typeof import('../bus/index.ts');
import { z } from 'zod';
`,
      'engine/board/config.ts': `import { duration } from '../config/duration.ts';\n`,
      'engine/config/schema.ts': `import { board } from '../board/config.ts';\n`,
      'fixtures/payloads/a.ts': `import type { Event } from '@octokit/webhooks-types';\nimport { b } from './b.ts';\n`,
    });
    assert.equal(code, 0);
    assert.match(said, /0 offenders/);
  });

  it('fails where there is nothing to check', () => {
    assert.equal(check({ 'README.md': '' }).code, 1);
  });

  it('passes on this project', () => {
    const { code, offenders } = check(null);
    assert.deepEqual(offenders, []);
    assert.equal(code, 0);
  });
});
