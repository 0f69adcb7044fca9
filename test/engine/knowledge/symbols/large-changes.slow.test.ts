import assert from 'node:assert/strict';
import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createDependentMarker } from '../../../../engine/knowledge/symbols/index-files/mark-dependents.ts';
import { ANY_PATH } from '../../../../engine/knowledge/symbols/resolve/stored-project.ts';
import { type Files, listEdges, makeProject, openGraph, readEdges } from './graph-rig.ts';

const FOLDERS = 40;
const FILES_EACH = 8;

/** A branch of a project: folders of files that call one another, under the branch's own name. */
function composeBranch(top: string, called: string): Files {
  const files: Record<string, string> = {};
  for (let folder = 0; folder < FOLDERS; folder += 1)
    for (let at = 0; at < FILES_EACH; at += 1) {
      const next = `f${(at + 1) % FILES_EACH}`;
      files[`${top}/p${folder}/f${at}.ts`] =
        `import { ${called} as next } from './${next}';\nexport function ${called}() { next(); }\n`;
    }
  return files;
}

describe('a change of very many files', () => {
  test('the change is read in turns with others, and ends with the content of a new index', async () => {
    const one = composeBranch('src', 'one');
    const project = makeProject({ ...one, ...composeBranch('same', 'one') });
    const { indexer } = project;
    await indexer.refresh();
    // The branch moves one folder and changes another one.
    rmSync(join(project.root, 'src'), { recursive: true });
    project.write({ ...composeBranch('lib', 'two'), ...composeBranch('same', 'two') });
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const told: number[] = [];
    const { read, removed } = await indexer.refresh({
      progress({ phase, done, total }) {
        if (phase !== 'read') return;
        told.push(done);
        assert.equal(total, 3 * FOLDERS * FILES_EACH);
      },
    });
    isOver = true;
    assert.deepEqual([read, removed], [2 * FOLDERS * FILES_EACH, FOLDERS * FILES_EACH]);
    assert.ok(told.length >= 9 && turns >= 9, `${told.length} batches, ${turns} turns`);
    assert.deepEqual(
      told,
      told.toSorted((a, b) => a - b),
    );
    const fresh = project.fresh();
    await fresh.refresh();
    assert.deepEqual(listEdges(indexer), listEdges(fresh));
    await fresh.close();
    await project.close();
  });

  test('the dependents of a folder are marked once, however many files change below it', () => {
    const marked: string[] = [];
    const marker = createDependentMarker({ markDependents: (on, name) => void marked.push(`${on} ${name}`) });
    for (let at = 0; at < 1000; at += 1) {
      marker.addPath(`src/lib/f${at % 10}.ts`);
      marker.flush();
    }
    assert.equal(marked.length, 2 + 10);
    assert.ok(marked.every((each) => each.startsWith(`${ANY_PATH} `)));
    marker.reset();
    marker.addPath('src/lib/f1.ts');
    marker.flush();
    assert.equal(marked.length, 15, 'names that have been resolved since may depend on them too');
  });

  test('a query during the reading of an earlier state does not mark the change as read', async () => {
    const project = makeProject(composeBranch('src', 'one'));
    const graph = openGraph(project);
    try {
      // The first files have been read, after the folder was listed.
      const told = Promise.withResolvers<void>();
      const indexing = graph.index({ project: null }, false, () => told.resolve());
      await told.promise;
      writeFileSync(join(project.root, 'late.ts'), "import { one } from './src/p0/f0';\none();\n");
      const asked = await graph.ask(
        { project: null },
        { ask: 'trace', symbol: 'src/p0/f0.ts:one', depth: 1, direction: 'callers' },
        { patienceMs: 60_000, freshMs: 0 },
      );
      assert.equal(asked.stale, null);
      assert.ok('trace' in asked.answer);
      const callers = [...asked.answer.trace.symbols.values()].map(({ path }) => path);
      assert.ok(callers.includes('late.ts'), callers.join());
      await indexing;
      const status = await graph.ask({ project: null }, { ask: 'status' }, { patienceMs: 60_000 });
      assert.ok('status' in status.answer);
      assert.equal(status.answer.status.files, FOLDERS * FILES_EACH + 1);
    } finally {
      await graph.close();
      await project.close();
    }
  });

  test('an answer that something is missing checks once more first', async () => {
    const project = makeProject({ 'first.ts': 'export const first = 1;\n' });
    const graph = openGraph(project);
    const search = async (query: string) => {
      const { answer } = await graph.ask({ project: null }, { ask: 'search', query, limit: 5, only: null });
      assert.ok('symbols' in answer);
      return answer.symbols.map(({ path }) => path);
    };
    try {
      for (let at = 0; at < 5; at += 1) {
        project.write({ [`late${at}.ts`]: `export const written${at} = 1;\n` });
        assert.deepEqual(await search(`written${at}`), [`late${at}.ts`]);
        const { answer } = await graph.ask(
          { project: null },
          { ask: 'snippet', symbol: `none${at}`, maxLines: 1 },
        );
        assert.ok('empty' in answer);
      }
    } finally {
      await graph.close();
      await project.close();
    }
  });

  test('another branch gets a new index, questions are answered from the one before, and the way back reads nothing', async () => {
    const [one, two] = [composeBranch('src', 'one'), composeBranch('src', 'two')];
    const project = makeProject(one);
    const graph = openGraph(project);
    const place = { project: null };
    const countCallers = async (symbol: string, patienceMs: number) => {
      const question = { ask: 'trace', symbol, depth: 1, direction: 'callers' } as const;
      const { answer, stale } = await graph.ask(place, question, { patienceMs, freshMs: 0 });
      return { callers: 'trace' in answer ? answer.trace.symbols.size - 1 : null, stale };
    };
    try {
      await graph.index(place, false, () => undefined);
      assert.deepEqual(await countCallers('src/p0/f0.ts:one', 60_000), { callers: 1, stale: null });
      project.write(two);
      // The patience of a question is longer than this test may take.
      const early = await countCallers('src/p0/f0.ts:one', 600_000);
      assert.equal(early.callers, 1);
      assert.ok(early.stale !== null && 'indexing' in early.stale);
      await graph.index(place, false, () => undefined);
      assert.deepEqual(await countCallers('src/p0/f0.ts:two', 60_000), { callers: 1, stale: null });
      assert.equal((await countCallers('src/p0/f0.ts:one', 60_000)).callers, null);
      const edges = readEdges(join(project.root, '..', 'graph', 'workspace.db'));
      const fresh = project.fresh();
      await fresh.refresh();
      assert.deepEqual(edges, listEdges(fresh));
      await fresh.close();
      for (const [branch, symbol] of [
        [one, 'src/p0/f0.ts:one'],
        [two, 'src/p0/f0.ts:two'],
      ] as const) {
        project.write(branch);
        const { read, removed, resolved } = await graph.index(place, false, () => undefined);
        assert.deepEqual({ read, removed, resolved }, { read: 0, removed: 0, resolved: 0 });
        assert.deepEqual(await countCallers(symbol, 60_000), { callers: 1, stale: null });
      }
    } finally {
      await graph.close();
      await project.close();
    }
  });

  test('files that were only touched do not make a new index', async () => {
    const files = composeBranch('src', 'one');
    const project = makeProject(files);
    try {
      await project.indexer.refresh();
      for (const path of Object.keys(files)) utimesSync(join(project.root, path), 1, 1);
      const { read, resolved } = (await project.indexer.refreshUnlessLarge()) ?? {};
      assert.deepEqual([read, resolved], [0, 0]);
      project.write(composeBranch('src', 'two'));
      assert.equal(await project.indexer.refreshUnlessLarge(), null);
    } finally {
      await project.close();
    }
  });
});
