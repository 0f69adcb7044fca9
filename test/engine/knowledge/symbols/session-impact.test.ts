import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { findLocalPath } from '../../../../engine/index.ts';
import { until } from '../../../support/wait.ts';
import { type EngineHere, engineHere } from '../../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

const SUMS = `export function total(rows: number[]): number {
  return rows.reduce(add, 0);
}

function add(one: number, other: number): number {
  return one + other;
}

export class Account {
  deposit(): number {
    return total([1]);
  }

  withdraw(): number {
    return 2;
  }
}
`;
const FILES = {
  'src/sums.ts': SUMS,
  'src/report.ts': "import { total } from './sums.ts';\nexport const report = (): number => total([1, 2]);\n",
  'src/page.ts': "import { report } from './report.ts';\nexport const page = (): number => report();\n",
  'src/unused.ts': 'export const unused = 1;\n',
  'test/report.test.ts': "import { report } from '../src/report.ts';\nreport();\n",
};

describe('the impact of a session', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  let name: string;
  let worktree: string;
  let go: string;
  before(async () => {
    ws = await makeWorkspace();
    ws.repository.commit(FILES, 'Sums');
    here = await engineHere(ws);
    go = join(ws.repository.folder, 'go');
    const { task_id: id } = await here.call('task.add', {
      title: 'work',
      body: `#agent: wait-for ${go}\n#agent: no-change`,
      agent: 'scripted',
    });
    const { session } = await here.call('task.run', { id });
    name = session.session_id;
    worktree = await until(async () => {
      const [at] = await here.call('session.list', { ids: [name] });
      return at?.state === 'running' && findLocalPath(at.worktree);
    });
  });
  after(async () => {
    await here.end();
    await ws.close();
  });
  const impact = () => here.call('impact', { session: name });
  const write = (text: string): void => writeFileSync(join(worktree, 'src/sums.ts'), text);

  test('the impact of a session without changes says so', async () => {
    assert.equal((await impact()).empty, 'no_changes');
  });

  test('the impact covers the changed lines, with callers in the same file, and tests', async () => {
    write(SUMS.replace('rows.reduce(add, 0)', 'rows.reduce(add, 1)'));
    const found = await impact();
    assert.deepEqual(found.symbols, ['total src/sums.ts:1']);
    assert.deepEqual(
      found.reached.map(({ symbol, hop, test: isTest }) => [symbol.split(' ')[0], hop, isTest]),
      [
        ['report', 1, false],
        ['Account.deposit', 1, false],
        ['page', 2, false],
        ['test/report.test.ts', 2, true],
      ],
    );
    assert.match(found.summary, /^changes 1 symbol, reached from 3 callers over two steps, 1 test file$/);
    assert.deepEqual((await here.call('impact', {})).empty, 'no_changes');
  });

  test('the impact includes committed changes, the class of a missing method, and removed files as unknown', async () => {
    write(SUMS.replace(/\n {2}withdraw[^}]*\}\n/, ''));
    ws.repository.git('-C', worktree, 'rm', '-q', 'src/unused.ts');
    ws.repository.commit({ 'src/sums.ts': SUMS.replace(/\n {2}withdraw[^}]*\}\n/, '') }, 'Less', worktree);
    writeFileSync(join(worktree, 'src/fresh.ts'), 'export function fresh() {}\nexport function both() {}\n');
    const found = await impact();
    assert.deepEqual(found.symbols, ['fresh src/fresh.ts:1', 'both src/fresh.ts:2', 'Account src/sums.ts:9']);
    assert.deepEqual(found.removed, ['src/unused.ts']);
    assert.match(found.note ?? '', /the users of declarations in 1 removed file are not known/);
  });

  test('the impact is in the handoff of an ended session with an indexed project, and available after its worktree is gone', async () => {
    // The project itself, so that an index exists.
    await here.call('graph.index', {});
    writeFileSync(go, '');
    const body = await until(async () => {
      const { messages } = await here.call('msg.inbox', {});
      return messages.map((each) => each.body).find((text) => /- impact: /.test(text));
    });
    assert.match(body, /^- impact: changes 3 symbols, reached from 0 callers/m);
    assert.match(body, /- tokens: .*\n- impact: .*\n\nNext: /);
    await here.call('worktree.promote', { session: name });
    const found = await impact();
    assert.match(found.note ?? '', /the worktree of s-1 is gone: its files are compared in full/);
    assert.ok(found.symbols.includes('total src/sums.ts:1'));
  });
});
