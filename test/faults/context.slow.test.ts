import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { openForwarded } from '../../engine/gateway/live-zone/forwarded.ts';
import { createForwardedReader } from '../../engine/gateway/live-zone/read.ts';
import { storedTextsRig } from '../engine/knowledge/context/stored-texts-rig.ts';
import { report } from '../support/processes/faults.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { makeWorkspace } from '../support/workspaces/workspace.ts';

const ROUNDS = Number(process.env.SVC_FAULT_ROUNDS ?? 3);
const CLIENTS = 16;

/** Rows that must not exist after any order of calls. */
const CONTRADICTIONS = [
  [
    'two that count and say the same',
    "SELECT digest FROM memory WHERE state = 'active' GROUP BY digest HAVING count(*) > 1",
  ],
  [
    'a state that contradicts itself',
    "SELECT id FROM memory WHERE (state = 'superseded') <> (superseded_by IS NOT NULL) OR (state = 'active') <> (ended_at IS NULL)",
  ],
  ['superseded by nothing', 'SELECT id FROM memory WHERE superseded_by NOT IN (SELECT id FROM memory)'],
] as const;

/** Mounts a disk of one megabyte over a folder; false if that is not possible. */
function mountSmall(t: TestContext, folder: string): boolean {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', folder]).status === 0)
    return true;
  t.skip('no tmpfs can be mounted here');
  return false;
}

const incompressible = (bytes: number): string =>
  randomBytes(Math.ceil(bytes / 2))
    .toString('hex')
    .slice(0, bytes);
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Saves it as the gateway does before it forwards the request. */
const newForward = (whole: string) => ({
  conversation: 's-1',
  call: '0 c1',
  holder: 't-1',
  session: 's-1',
  hash: sha256(whole),
  bytes: whole.length + 2,
  token: `"c-${sha256(whole).slice(0, 16)}"`,
  text: { whole, hash: sha256(whole), kind: 'log' },
  bytesIn: whole.length,
  bytesOut: 20,
});

describe('a full disk', () => {
  test('a full disk refuses to store a text, keeps earlier ones, and works again when there is room', async (t) => {
    const rig = storedTextsRig();
    if (!mountSmall(t, rig.folder)) return rig.close();
    try {
      const small = await rig.worker('context.externalize', { text: 'fits\n' });
      const texts = Array.from({ length: 6 }, () => incompressible(300_000));
      const ids: string[] = [];
      for (const text of texts) {
        const stored = rig.worker('context.externalize', { text });
        await stored.then(
          ({ id }) => ids.push(id),
          (error: { code: string }) => assert.equal(error.code, 'storage_full'),
        );
      }
      assert.ok(ids.length >= 1 && ids.length <= 3, `${ids.length} texts of 300 kB fit`);
      assert.equal((await rig.worker('context.retrieve', { id: small.id })).text, 'fits\n');
      const listed = await rig.worker('context.list', {});
      assert.deepEqual(listed.map(({ id }) => id).sort(), [small.id, ...ids].sort());
      for (const [at, id] of ids.entries())
        assert.equal((await rig.worker('context.retrieve', { id })).text, texts[at]);
      rig.clock.advance(rig.settings.idleMs + 1);
      const { store } = await rig.texts.open();
      await rig.storage.write(() => store.sweep());
      const last = texts.at(-1) ?? '';
      const { id } = await rig.worker('context.externalize', { text: last });
      assert.equal((await rig.worker('context.retrieve', { id })).text, last);
      report(
        'six texts of 300 kB to a disk of 1 MB',
        `${ids.length} were stored and are whole, the others refused as storage_full; after a sweep there is room again`,
      );
    } finally {
      spawnSync('umount', [rig.folder]);
      rig.close();
    }
  });

  test('a full disk keeps the gateway from naming an unsaved text', (t) => {
    const folder = temporaryFolder('svc-forwarded-');
    if (!mountSmall(t, folder)) return;
    const forwarded = openForwarded(folder, Date.now);
    const reader = createForwardedReader(folder);
    try {
      const saved: string[] = [];
      let refused = 0;
      for (let at = 0; at < 8; at += 1) {
        const whole = incompressible(200_000);
        try {
          forwarded.save(newForward(whole));
          saved.push(whole);
        } catch {
          refused += 1;
        }
      }
      assert.ok(saved.length > 0 && refused > 0, `${saved.length} saved, ${refused} refused`);
      for (const whole of saved) assert.equal(reader.find(sha256(whole).slice(0, 16))?.text, whole);
      const known = forwarded.findKnown('s-1').tokens;
      assert.equal(known.size, saved.length);
      report(
        'eight outputs of 200 kB through a gateway whose disk has 1 MB',
        `${saved.length} were saved and are whole; ${refused} would have gone on as they came`,
      );
    } finally {
      reader.close();
      forwarded.close();
      spawnSync('umount', [folder]);
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

test('a gateway that is killed has saved every text that it left out of a request', async () => {
  const folder = temporaryFolder('svc-forwarded-');
  const module = new URL('../../engine/gateway/live-zone/forwarded.js', import.meta.url).href;
  const code = `
    import { createHash, randomBytes } from 'node:crypto';
    const { openForwarded } = await import(${JSON.stringify(module)});
    const forwarded = openForwarded(${JSON.stringify(folder)}, Date.now);
    for (;;) {
      const whole = randomBytes(8000).toString('hex');
      const hash = createHash('sha256').update(whole).digest('hex');
      forwarded.add({ conversation: 's-1', holder: 't-1', session: 's-1', hash, bytes: 9, token: '"less"', call: '0 c1',
        text: { whole, hash, kind: 'log' }, bytesIn: whole.length, bytesOut: 4 });
      process.stdout.write(hash + '\\n');
      await new Promise(setImmediate);
    }`;
  let told = 0;
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const hashes: string[] = [];
      const wanted = 3 + round * 5;
      for await (const line of createInterface({ input: child.stdout })) {
        if (line.length === 64) hashes.push(line);
        if (hashes.length === wanted) child.kill('SIGKILL');
      }
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
      const again = openForwarded(folder, Date.now);
      const reader = createForwardedReader(folder);
      const tokens = again.findKnown('s-1').tokens;
      for (const hash of hashes) {
        assert.equal(tokens.get(hash)?.get('0 c1'), '"less"');
        assert.equal(sha256(reader.find(hash)?.text ?? ''), hash);
      }
      told += hashes.length;
      reader.close();
      again.close();
    }
    report(
      `kill -9 of a gateway, ${ROUNDS} times`,
      `${told} outputs that it had shortened are whole, and known`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('sixteen clients over sockets that remember, supersede, forget, sweep, store and search leave one row each', async () => {
  const ws = await makeWorkspace({ hosted: true });
  try {
    await ws.svc(['status']);
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => ws.connect()));
    const refusals: string[] = [];
    const ids = new Set<string>();
    await Promise.all(
      clients.map(async (client, at) => {
        const attempt = (work: Promise<unknown>): Promise<unknown> =>
          work.catch((error: { code?: string }) => refusals.push(error.code ?? String(error)));
        for (let step = 0; step < 6; step += 1) {
          const title = `Shared ${step % 3}`;
          const { id } = await client.call('memory.remember', { title, text: `Says ${(at + step) % 4}` });
          const stored = await client.call('context.externalize', { text: `text ${step}\n`.repeat(50) });
          ids.add(stored.id);
          await attempt(client.call('memory.settle', { id }));
          if ((at + step) % 3 === 0) await attempt(client.call('memory.forget', { id }));
          if ((at + step) % 5 === 0) await attempt(client.call('memory.sweep'));
          await attempt(client.call('memory.recall', { query: title }));
          await attempt(client.call('context.search', { query: `text ${step}` }));
          const { text } = await client.call('context.retrieve', { id: stored.id });
          assert.equal(text, `text ${step}\n`.repeat(50));
        }
      }),
    );
    // A call for something that another client has ended is refused by name.
    for (const code of refusals) assert.match(code, /^(?:conflict|not_found)$/);
    assert.equal(ids.size, 6, 'the same text is stored once');
    const [client] = clients;
    const db = new Database(join(ws.root, '.svc', 'svc.db'), { readonly: true });
    const read = (sql: string): unknown[] => db.prepare(sql).all();
    for (const [what, sql] of CONTRADICTIONS) assert.deepEqual(read(sql), [], what);
    const [{ rows }] = read('SELECT count(*) AS rows FROM memory') as [{ rows: number }];
    db.close();
    assert.ok(rows >= 12, `${rows} memories`);
    for (let at = 0; at < 3; at += 1)
      await client?.call('memory.remember', { title: `Shared ${at}`, text: 'Says 0' });
    const { conflicts } = (await client?.call('memory.conflicts')) ?? { conflicts: [] };
    for (const { id } of conflicts.flatMap(({ memories }) => memories.slice(0, 1)))
      await client?.call('memory.settle', { id });
    const { memories } = (await client?.call('memory.list', { limit: 100 })) ?? { memories: [] };
    assert.deepEqual(memories.map(({ title }) => title).sort(), ['Shared 0', 'Shared 1', 'Shared 2']);
    const { stored } = (await client?.call('context.stats', {})) ?? {};
    assert.equal(stored?.texts, 6);
    for (const each of clients) each.close();
    report(
      'sixteen clients over sockets, six rounds of remember, supersede, forget, sweep, store, search and retrieve',
      `${refusals.length} calls refused by name, ${rows} memories of which none contradicts another, and 6 texts, each once`,
    );
  } finally {
    await ws.close();
  }
});
