import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { memoryRig } from '../engine/knowledge/memory/rig.ts';
import { report } from '../support/processes/faults.ts';

const FILES = 100_000;

test('a folder of 100,000 files with loops is refused as a whole, and others are answered at the same time', async () => {
  const rig = memoryRig();
  try {
    await rig.person.call('memory.remember', { title: 'Before', text: 'stays' });
    for (let at = 0; at < FILES; at += 1) {
      const folder = join(rig.folder, 'kb', String(at % 100));
      if (at < 100) {
        mkdirSync(folder, { recursive: true });
        symlinkSync('..', join(folder, 'loop'));
      }
      writeFileSync(join(folder, `${at}.md`), '---\ntype: fact\n---\n\nx\n');
    }
    let isOver = false;
    let answered = 0;
    const refused = assert
      .rejects(rig.person.call('memory.import', { dir: 'kb' }), {
        code: 'fields_invalid',
        message: /has 100000 files, but at most 20000 are read$/,
      })
      .finally(() => {
        isOver = true;
      });
    while (!isOver) {
      await rig.worker.call('memory.recall', { query: 'stays' });
      answered += 1;
      await new Promise(setImmediate);
    }
    await refused;
    assert.ok(answered > 1, 'other calls were answered');
    assert.equal((await rig.person.call('memory.list', { limit: 10 })).memories.length, 1);
    // The files of one folder stay below the limit of an import.
    const { added, skipped } = await rig.person.call('memory.import', { dir: 'kb/7' });
    assert.deepEqual([added, skipped], [FILES / 100, [{ path: 'loop', reason: 'it is a link' }]]);
    report(
      `an import of ${FILES} files in 100 folders, each with a link to the one above`,
      `refused as a whole, with ${answered} other calls answered meanwhile; a folder of it comes in`,
    );
  } finally {
    rig.close();
    rmSync(rig.folder, { recursive: true, force: true });
  }
});
