import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/workspaces/git.ts';

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url));

function checkTexts(root: string): { code: number | null; offenders: string[] } {
  const ran = spawnSync(process.execPath, [join(PROJECT, '.ci/plain-english.js'), root], {
    encoding: 'utf8',
  });
  return { code: ran.status, offenders: ran.stderr.split('\n').filter((line) => line !== '') };
}

function checkFiles(t: { after(fn: () => void): void }, files: Record<string, string>) {
  const root = temporaryFolder('svc-texts-');
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return checkTexts(root);
}

it('the check names each offending message, comment, page and test name with its file and line', (t) => {
  const { code, offenders } = checkFiles(t, {
    'engine/a.ts': "\nthrow new Error('the branch is no branch of this task');\n",
    'cli/b.ts': "export const HELP = 'What was said before is sent again to it';\n",
    'engine/f.ts': '/**\n * Runs it anew.\n */\n/** What it runs. */\n  // Whether it runs.\n',
    'tui/c.tsx': 'export const note = `the task goes on now`;\n',
    'docs/use/d.md': '# A page\n\nNothing happens meanwhile.\n',
    'AGENTS.md': 'Ask whoever started it.\n',
    'test/e.test.ts': "it('the run begins anew', () => {});\n",
  });
  assert.equal(code, 1);
  assert.deepEqual(
    offenders.map((line) => line.split(': ')[0]),
    [
      ...['cli/b.ts:1', 'engine/a.ts:2', 'tui/c.tsx:1', 'engine/f.ts:2', 'engine/f.ts:4', 'engine/f.ts:5'],
      ...['test/e.test.ts:1', 'AGENTS.md:1', 'docs/use/d.md:3'],
    ],
  );
});

it('the check accepts questions, code, SQL and plain sentences', (t) => {
  const { code, offenders } = checkFiles(t, {
    'engine/a.ts': [
      "const sql = 'SELECT id FROM tasks WHERE there is no row';",
      "const title = 'What should the worker do?';",
      "const error = 'there is no open ask for this session';",
      '// Which of them? What then? The words `svc anew` are code.',
    ].join('\n'),
    'docs/b.md': 'Run `svc whoever meanwhile`.\n\n```sh\nsvc anew\n```\n',
  });
  assert.deepEqual(offenders, []);
  assert.equal(code, 0);
});

it('the check fails when it finds no texts', (t) => {
  assert.equal(checkFiles(t, {}).code, 1);
});

it('every message, comment, page and test name of the project passes the check', () => {
  assert.deepEqual(checkTexts(PROJECT), { code: 0, offenders: [] });
});
