import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listNamedSymbols } from '../../../../engine/knowledge/memory/named-symbols.ts';
import { createIndexer } from '../../../../engine/knowledge/symbols/index-files/indexer.ts';
import { gitEnvironment, openTestGit } from '../../../support/workspaces/git.ts';
import { memoryRig } from './rig.ts';

test('names of code are distinguished from words, paths and names in capitals', () => {
  assert.deepEqual(
    listNamedSymbols(
      'UserStore.openTree() calls close() and save_all; see src/parseTotal.ts, MAX_SIZE and/or README.md',
    ),
    ['openTree', 'close', 'save_all'],
  );
});

test('a recall names symbols that the code graph does not know, and nothing without a graph', async () => {
  const rig = memoryRig();
  const ask = async () =>
    (await rig.person.call('memory.recall', { query: 'totals' })).memories[0]?.unknown_symbols;
  await rig.person.call('memory.remember', { title: 'Totals', text: 'parseTotal() is called by sum_all().' });
  assert.equal(await ask(), undefined);
  assert.ok(!existsSync(rig.graphs), 'no index is created for it');

  const root = join(rig.folder, 'project');
  for (const each of [root, rig.graphs]) mkdirSync(each);
  execFileSync('git', ['init', '-q'], { cwd: root, env: gitEnvironment() });
  writeFileSync(join(root, 'a.ts'), 'export function parseTotal(): number {\n  return 1;\n}\n');
  const file = join(rig.graphs, 'workspace.db');
  const indexer = createIndexer({ root, file, git: openTestGit(), parsers: {}, without: [] });
  assert.equal(await ask(), undefined, 'an empty index knows no symbols');
  await indexer.refresh();
  assert.deepEqual(await ask(), ['sum_all']);
  rmSync(join(root, 'a.ts'));
  writeFileSync(join(root, 'b.ts'), 'export const other = (): number => 1;\n');
  await indexer.refresh();
  assert.deepEqual(await ask(), ['parseTotal', 'sum_all']);
  await indexer.close();
  writeFileSync(file, 'this is no database');
  assert.equal(await ask(), undefined);
  rig.close();
});
