import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { memoryRig } from '../engine/knowledge/memory/rig.ts';
import { appears, readFilesBelow } from '../support/workspaces/folder-files.ts';
import { makeWorkspace } from '../support/workspaces/workspace.ts';

const FILES = 400;
const ROUNDS = Number(process.env.SVC_FAULT_ROUNDS ?? 1);
const CLIENTS = 16;

const countConcepts = (files: Record<string, string>): number =>
  Object.keys(files).filter((path) => !/(?:^|\/)(?:index|log)\.md$/.test(path)).length;

function writeBundle(folder: string, files: number): void {
  mkdirSync(folder, { recursive: true });
  for (let at = 0; at < files; at += 1)
    writeFileSync(
      join(folder, `${at}.md`),
      `---\ntype: fact\ntitle: Fact ${at}\n---\n\nText ${at} of a bundle\n`,
    );
}

describe('the memory during a kill of the engine', { timeout: 120_000 }, () => {
  test('an import is complete or absent, and an export leaves the old folder or the new one', async () => {
    const ws = await makeWorkspace();
    try {
      writeBundle(join(ws.root, 'kb'), FILES);
      await ws.svc(['up']);
      const countRows = async (): Promise<number> =>
        (await ws.svc(['memory', 'list', '-n', '1000', '--json'])).json<unknown[]>().length;
      const importing = ws.svc(['memory', 'import', 'kb']);
      await ws.killDaemon();
      await importing;
      assert.ok([0, FILES].includes(await countRows()), 'the import is all or nothing');
      await ws.svc(['memory', 'import', 'kb']);
      assert.equal(await countRows(), FILES);
      const folder = join(ws.root, '.svc/memory');
      assert.equal((await ws.svc(['memory', 'export'])).code, 0);
      for (let round = 0; round < ROUNDS; round += 1) {
        const before = readFilesBelow(join(folder, 'okf'));
        await ws.svc(['memory', 'add', '--title', `Round ${round}`, `Words of ${round}`]);
        const writing = appears(folder, (name) => name.includes('svc-draft'), 'the export to write');
        const exporting = ws.svc(['memory', 'export']);
        await writing;
        await ws.killDaemon();
        const left = readFilesBelow(join(folder, 'okf'));
        const isNew = (files: Record<string, string>): boolean =>
          Object.keys(files).some((path) => path.startsWith(`fact/round-${round}-`)) &&
          countConcepts(files) === FILES + round + 1;
        assert.ok(
          isNew(left) || JSON.stringify(left) === JSON.stringify(before),
          'the folder is either the old or the new one',
        );
        await exporting;
        assert.equal((await ws.svc(['memory', 'export'])).code, 0);
        assert.ok(isNew(readFilesBelow(join(folder, 'okf'))));
        assert.deepEqual(readdirSync(folder), ['okf']);
      }
    } finally {
      await ws.close();
    }
  });
});

test('an export to a full disk leaves the old folder as it was', async (t) => {
  const rig = memoryRig();
  const mount = join(rig.folder, 'small');
  mkdirSync(mount);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mount]).status !== 0) {
    rig.close();
    t.skip('no tmpfs can be mounted here');
    return;
  }
  try {
    await rig.person.call('memory.remember', { title: 'Small', text: 'fits' });
    await rig.person.call('memory.export', { dir: 'small/okf' });
    const before = readFilesBelow(join(mount, 'okf'));
    for (let at = 0; at < 20; at += 1)
      await rig.person.call('memory.remember', { title: `Large ${at}`, text: 'x'.repeat(90_000) });
    await assert.rejects(rig.person.call('memory.export', { dir: 'small/okf' }), { code: 'storage_full' });
    assert.deepEqual(readFilesBelow(join(mount, 'okf')), before);
    assert.deepEqual(readdirSync(mount), ['okf']);
  } finally {
    rig.close();
    spawnSync('umount', [mount]);
    rmSync(rig.folder, { recursive: true });
  }
});

test('sixteen clients that remember, supersede, forget, keep, sweep, export and import leave rows and index consistent', async () => {
  const rig = memoryRig({ todo: 1 });
  writeBundle(join(rig.folder, 'kb'), 20);
  const ids: string[] = [];
  const anyId = (client: number, step: number): string =>
    ids[(client * 7 + step * 3) % ids.length] ?? 'm-none';
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      for (let step = 0; step < 12; step += 1) {
        const caller = [rig.person, rig.worker, rig.stranger][client % 3] ?? rig.person;
        const title = `Shared ${(client + step) % 5}`;
        const { id } = await caller.call('memory.remember', {
          title,
          text: `Says ${(client * step) % 7}`,
          type: step % 4 === 0 ? 'todo' : 'fact',
        });
        ids.push(id);
        const work = [
          () => rig.person.call('memory.settle', { id: anyId(client, step) }),
          () => caller.call('memory.forget', { id: anyId(client, step) }),
          () => rig.person.call('memory.edit', { id: anyId(client, step), text: `Edited ${client} ${step}` }),
          () => rig.person.call('memory.keep', { id: anyId(client, step) }),
          () => caller.call('memory.sweep', {}),
          () => rig.person.call('memory.import', { dir: 'kb' }),
          () => rig.person.call('memory.export', {}),
          () => caller.call('memory.recall', { query: title }),
        ][(client + step) % 8];
        // Calls for what has already ended, or belongs to another caller, are refused by name.
        await work?.().catch((error: { code?: string }) => {
          assert.match(error.code ?? String(error), /^(?:conflict|holder_mismatch)$/);
        });
        rig.clock.advance(3_600_000);
      }
    }),
  );
  const { db } = rig.storage;
  const read = (sql: string): unknown[] => db.prepare(sql).all();
  assert.deepEqual(
    read("SELECT digest FROM memory WHERE state = 'active' GROUP BY digest HAVING count(*) > 1"),
    [],
    'two active rows with the same text',
  );
  assert.deepEqual(
    read(
      "SELECT id FROM memory WHERE (state = 'superseded') <> (superseded_by IS NOT NULL) OR (state = 'active') <> (ended_at IS NULL)",
    ),
    [],
    'an inconsistent state',
  );
  assert.deepEqual(
    read('SELECT id FROM memory WHERE superseded_by NOT IN (SELECT id FROM memory)'),
    [],
    'superseded without a successor',
  );
  const terms = 'SELECT term, rows FROM memory_terms WHERE rows > 0 ORDER BY term';
  const counted = read(terms);
  const { store } = await rig.memory.open();
  await rig.storage.write(() => store.rebuildIndex());
  assert.deepEqual(counted, read(terms), 'wrong term counts');
  await rig.person.call('memory.import', {});
  rig.close();
});
