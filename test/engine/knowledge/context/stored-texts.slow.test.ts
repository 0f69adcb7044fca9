import assert from 'node:assert/strict';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { SvcError } from '../../../../engine/core/base/errors.ts';
import { hashBytes } from '../../../../engine/knowledge/context/text-files.ts';
import { readCorpus } from '../../../support/gateway/corpus.ts';
import { MINUTE, storedTextsRig } from './stored-texts-rig.ts';

const refusal =
  (code: string, words = /./) =>
  (error: SvcError) => {
    assert.equal(error.code, code, error.message);
    assert.match(error.message, words);
    return true;
  };

const noise = readCorpus('noise');
const fileOf = (folder: string, text: string): string => join(folder, hashBytes(Buffer.from(text)));

describe('stored texts', () => {
  let rig: ReturnType<typeof storedTextsRig>;
  before(() => {
    rig = storedTextsRig();
  });
  after(() => rig.close());

  const put = async (text: string): Promise<string> => (await rig.worker('context.externalize', { text })).id;
  const get = async (id: string): Promise<string> => (await rig.worker('context.retrieve', { id })).text;

  test('a stored text of any kind is returned to the last byte', async () => {
    const texts = [
      '',
      '\n',
      'no newline',
      '\ufeffwith a mark\r\nand returns\rof a bar\r',
      'null \u0000 and escapes \u001b[31mred\u001b[0m \u007f\u009b',
      '日志 ein Übermaß 🦊🏳️‍🌈 e\u0301\u00e9 \u2028\u2029',
      'x'.repeat(100_000),
      '\u0001'.repeat(50_000),
      ...noise.slice(0, 5).map((each) => each.text),
    ];
    for (const text of texts) {
      const id = await put(text);
      assert.equal(await get(id), text);
      assert.equal(readFileSync(fileOf(rig.folder, text), 'utf8'), text);
      assert.equal(statSync(fileOf(rig.folder, text)).mode & 0o777, 0o600);
    }
    assert.equal(statSync(rig.folder).mode & 0o777, 0o700);
    await assert.rejects(put('half \ud83e'), refusal('fields_invalid'));
    await assert.rejects(put('\u0001'.repeat(2_100_000)), refusal('fields_invalid', /control characters/));
    await assert.rejects(put('ü'.repeat(2_100_000)), refusal('fields_invalid', /longer than 4194304 bytes/));
  });

  test('a stored text is returned by lines', async () => {
    const id = await put('one\ntwo\r\n\nfour');
    const lines = async (range: string) => (await rig.worker('context.retrieve', { id, lines: range })).text;
    assert.equal(await lines('2'), 'two\r\n');
    assert.equal(await lines('1-3'), 'one\ntwo\r\n\n');
    assert.equal(await lines('4-9'), 'four');
    assert.equal(await lines('0-1'), 'one\n');
    assert.equal(await lines('3-2'), '');
    assert.equal(await lines('9'), '');
    await assert.rejects(lines('two'), refusal('fields_invalid'));
  });

  test('a stub describes its text, and shows its start and end, without secrets', async () => {
    const secret = `ghp_${'aB3'.repeat(12)}`;
    const middle = Array.from({ length: 300 }, (_, at) => `word${at * 7919}`).join('\n');
    const text = `begins here ${secret}\n${middle}\nProcess completed with exit code 3.\n`;
    const { id, stub } = await rig.worker('context.externalize', { text });
    const [head, first] = stub.split('\n');
    assert.match(
      head ?? '',
      new RegExp(
        `^\\[svc-stored: ${id}, ${Buffer.byteLength(text)} bytes, 302 lines, exit code 3; all: context_retrieve ${id}`,
      ),
    );
    assert.equal(first, 'begins here [redacted: GitHub token]');
    assert.match(stub, /\n\[\d+ lines not shown\]\n[\s\S]*\nProcess completed with exit code 3\.$/);
    assert.ok(stub.length < 2000);
    assert.equal((await rig.worker('context.search', { query: 'begins here' })).chunks[0]?.id, id);
    // The database contains none of it, because there it would outlive its file.
    for (const name of readdirSync(rig.data).filter((each) => each.startsWith('svc.db')))
      assert.ok(!readFileSync(join(rig.data, name), 'latin1').toLowerCase().includes('ab3ab3'), name);
    assert.equal(await get(id), text);
  });

  test('a stored text takes the given exit code, each time', async () => {
    const stubOf = async (text: string, exit_code?: number) =>
      (await rig.worker('context.externalize', { text, exit_code })).stub;
    assert.match(await stubOf('fine', 0), /, exit code 0;/);
    assert.match(await stubOf('fine', 7), /, exit code 7;/);
    assert.doesNotMatch(await stubOf('fine'), /exit code/);
  });

  test('a text expires when it was not read for ttl_minutes, and is reported as expired unlike an unknown id', async () => {
    const [read, searched, left] = [await put('is read'), await put('is sought after'), await put('is left')];
    rig.clock.advance(20 * MINUTE);
    await get(read);
    assert.equal((await rig.worker('context.search', { query: 'sought' })).chunks[0]?.id, searched);
    rig.clock.advance(20 * MINUTE);
    assert.equal(await get(read), 'is read');
    assert.equal(await get(searched), 'is sought after');
    const isExpired = refusal('expired', /^expired: run the command again/);
    await assert.rejects(get(left), isExpired);
    assert.ok(existsSync(fileOf(rig.folder, 'is left')));
    assert.equal((await rig.person('context.search', { query: 'left' })).chunks.length, 0);
    const { store } = await rig.texts.open();
    await rig.storage.write(() => store.sweep());
    assert.ok(!existsSync(fileOf(rig.folder, 'is left')));
    assert.ok(existsSync(fileOf(rig.folder, 'is read')));
    await assert.rejects(get(left), isExpired);
    await assert.rejects(get('c-0123456789'), refusal('not_found'));
    // The command ran again.
    assert.equal(await put('is left'), left);
    assert.equal(await get(left), 'is left');
    assert.equal((await rig.worker('context.search', { query: 'left' })).chunks[0]?.id, left);
    rig.settings.idleMs = 0;
    rig.clock.advance(10_000 * MINUTE);
    assert.equal(await get(left), 'is left');
    rig.settings.idleMs = 30 * MINUTE;
  });

  test('a text that is stored again while it expires stays', async () => {
    const id = await put('ends and is stored again');
    rig.clock.advance(31 * MINUTE);
    const { store } = await rig.texts.open();
    // Both rows are in one commit, in either order.
    const [, first] = await Promise.all([
      rig.storage.write(() => store.sweep()),
      put('ends and is stored again'),
    ]);
    assert.equal(first, id);
    assert.equal(await get(id), 'ends and is stored again');
    rig.clock.advance(31 * MINUTE);
    await Promise.all([put('ends and is stored again'), rig.storage.write(() => store.sweep())]);
    assert.equal(await get(id), 'ends and is stored again');
  });

  test('a changed, removed or replaced file returns no other bytes, and is repaired by storing again', async () => {
    const text = 'a text that somebody touches';
    const id = await put(text);
    const file = fileOf(rig.folder, text);
    const outside = join(rig.data, 'outside');
    writeFileSync(outside, text);
    const linkOutside = (): void => {
      rmSync(file);
      symlinkSync(outside, file);
    };
    const faults: [string, () => void, (error: SvcError) => boolean][] = [
      [
        'changed',
        () => writeFileSync(file, text.replace('text', 'TEXT')),
        refusal('storage_failed', /does not hold the stored text/),
      ],
      [
        'shortened',
        () => writeFileSync(file, ''),
        refusal('storage_failed', /does not hold the stored text/),
      ],
      ['removed', () => rmSync(file), refusal('not_found', /was removed/)],
      ['a link', linkOutside, refusal('storage_unsafe', /is a link/)],
      ['a second name', () => linkSync(file, join(rig.data, 'second')), refusal('storage_unsafe')],
    ];
    for (const [what, spoil, isRefused] of faults) {
      spoil();
      await assert.rejects(get(id), isRefused, what);
      assert.equal(await put(text), id, what);
      assert.equal(await get(id), text, what);
      assert.ok(lstatSync(file).isFile());
    }
    assert.equal(readFileSync(outside, 'utf8'), text);
    rmSync(file);
    mkdirSync(file);
    await assert.rejects(get(id), refusal('storage_unsafe'));
    await assert.rejects(put(text), refusal('storage_failed', /was not stored/));
    rmSync(file, { recursive: true });
    // A search skips unreadable files.
    assert.ok(
      (await rig.worker('context.search', { query: 'somebody touches' })).chunks.every(
        (each) => each.id !== id,
      ),
    );
  });

  test('stored texts do not follow a folder that became a link', async () => {
    await put('before the link');
    const elsewhere = join(rig.data, 'elsewhere');
    renameSync(rig.folder, elsewhere);
    symlinkSync(elsewhere, rig.folder);
    await assert.rejects(put('through the link'), refusal('storage_unsafe'));
    assert.ok(!existsSync(fileOf(elsewhere, 'through the link')));
    rmSync(rig.folder);
    renameSync(elsewhere, rig.folder);
  });

  test('an uncommitted text leaves no file', async () => {
    const full = storedTextsRig();
    const fill = (text: string) => full.worker('context.externalize', { text });
    const { id } = await fill('before');
    const pages = full.storage.db.pragma('page_count', { simple: true }) as number;
    full.storage.db.pragma(`max_page_count = ${pages}`);
    let refused: string | null = null;
    // The database stores a few more rows in its existing pages.
    for (let number = 0; refused === null && number < 500; number += 1) {
      const text = `one of many ${number}`;
      await fill(text).catch((error: SvcError) => {
        assert.equal(error.code, 'storage_full', error.message);
        refused = text;
      });
    }
    assert.ok(refused !== null);
    assert.ok(!existsSync(fileOf(full.folder, refused)));
    // Reading needs no space.
    assert.equal((await full.worker('context.retrieve', { id })).text, 'before');
    full.storage.db.pragma('max_page_count = 1000000');
    assert.ok((await fill(refused)).id);
    full.close();
  });

  test('the next engine clears the files of a killed one, and nothing else', async () => {
    const kept = await put('kept');
    const stray = fileOf(rig.folder, 'never committed');
    const draft = join(rig.folder, `.${hashBytes(Buffer.from('half'))}.0123456789abcdef.tmp`);
    const foreign = join(rig.folder, 'notes.md');
    for (const file of [stray, draft, foreign]) writeFileSync(file, 'x');
    const next = rig.build();
    assert.equal((await next.person('context.retrieve', { id: kept })).text, 'kept');
    assert.deepEqual([stray, draft, foreign].map(existsSync), [false, false, true]);
  });

  test('stored texts keep within their limit: the least recently read are removed', async () => {
    const { createTextStore } = await import('../../../../engine/knowledge/context/store.ts');
    const removed: string[] = [];
    const own = storedTextsRig();
    const store = createTextStore({
      storage: own.storage,
      clock: own.clock,
      idleMs: () => 30 * MINUTE,
      mostBytes: 100,
      removeFile: (hash) => removed.push(hash),
    });
    const keep = (hash: string, bytes: number) =>
      own.storage.write(() =>
        store.keep({ hash, bytes, lines: 1, kind: 'text', told: null, found: null }, 'chair'),
      );
    const [one, two] = ['1'.repeat(64), '1'.repeat(10) + '2'.repeat(54)];
    const first = await keep(one, 40);
    own.clock.advance(1);
    const second = await keep(two, 40);
    assert.notEqual(first.id, second.id);
    assert.ok(second.id.startsWith(first.id));
    own.clock.advance(1);
    await own.storage.write(() => store.use(store.resolve(first.id, { isWhole: true }), 'chair'));
    await keep('3'.repeat(64), 40);
    assert.deepEqual(removed, [two]);
    assert.throws(() => store.resolve(second.id, { isWhole: true }), refusal('expired'));
    own.close();
  });
});

describe('the crush tool', () => {
  let rig: ReturnType<typeof storedTextsRig>;
  before(() => {
    rig = storedTextsRig();
  });
  after(() => rig.close());

  test('the tool stores the whole of a shortened output, and each marker names its id', async () => {
    for (const { name, text, facts } of noise) {
      const done = await rig.worker('context.crush', { text });
      for (const fact of facts) assert.ok(done.text.includes(fact), `${name}: ${fact}`);
      const markers = done.text.match(/\[svc-crush: .*?\]/g) ?? [];
      if (done.id === null) assert.equal(markers.length, 0, name);
      else {
        assert.ok(markers.length > 0, name);
        for (const marker of markers) assert.ok(marker.includes(`all: context_retrieve ${done.id}`), marker);
        assert.equal((await rig.worker('context.retrieve', { id: done.id })).text, text, name);
      }
      const again = await rig.worker('context.crush', { text: done.text });
      assert.deepEqual([again.text, again.id], [done.text, null], name);
    }
    for (const { text } of readCorpus('content')) {
      const done = await rig.worker('context.crush', { text });
      assert.deepEqual([done.text, done.id], [text, null]);
    }
  });

  test('a repeated call under its key stores and counts once', async () => {
    const [sample] = noise;
    assert.ok(sample);
    const calls = async () => (await rig.worker('context.stats', {})).total.calls;
    const before = await calls();
    const first = await rig.worker('context.crush', { text: sample.text }, 'key');
    assert.deepEqual(await rig.worker('context.crush', { text: sample.text }, 'key'), first);
    const stub = await rig.worker('context.externalize', { text: sample.text }, 'key');
    assert.deepEqual(await rig.worker('context.externalize', { text: sample.text }, 'key'), stub);
    assert.equal(await calls(), before + 2);
  });

  test('the marker suggests running the command again where nothing is stored', async () => {
    rig.settings.stores = false;
    const sample = noise.find(({ name }) => name === 'go-test-verbose');
    assert.ok(sample);
    const done = await rig.worker('context.crush', { text: sample.text });
    assert.equal(done.id, null);
    assert.match(done.text, /; all: run the command again\]/);
    rig.settings.stores = true;
  });
});

describe('searching stored texts', () => {
  let rig: ReturnType<typeof storedTextsRig>;
  before(async () => {
    rig = storedTextsRig();
    for (const { text } of noise) await rig.worker('context.externalize', { text });
  });
  after(() => rig.close());

  const find = async (query: string, limit = 5) =>
    (await rig.worker('context.search', { query, limit })).chunks;

  test('a search finds the right part, by words, identifiers, paths, other forms and typos', async () => {
    const secret = `token=ghp_${'xY7'.repeat(12)}`;
    const text = [
      ...Array.from({ length: 400 }, (_, at) => `step ${at} went well`),
      `handleUploadError at src/server/upload-queue.ts:88 answered ZX4711 ${secret}`,
      ...Array.from({ length: 400 }, (_, at) => `step ${at + 400} went well`),
      'Die Datenbankverbindungen wurden geschlossen',
      '磁盘空间不足，无法写入日志文件',
    ].join('\n');
    const { id } = await rig.worker('context.externalize', { text });
    for (const query of [
      'ZX4711',
      'handle upload error',
      'upload_queue',
      'src/server/upload-queue.ts',
      'what did the uploadqueue answer',
      'handlUploadEror OR "AND ( *',
    ]) {
      const [first] = await find(query);
      assert.equal(first?.id, id, query);
      assert.match(first?.text ?? '', /handleUploadError/, query);
      const [from = 0, to = 0] = (first?.lines ?? '').split('-').map(Number);
      assert.ok(from <= 401 && 401 <= to, first?.lines);
      assert.doesNotMatch(first?.text ?? '', /xY7/);
    }
    const keyLines = Array.from({ length: 60 }, (_, at) => `quoll ${'qZ9'.repeat(15)}${at}`);
    await rig.worker('context.externalize', {
      text: [
        'wombat',
        '-----BEGIN RSA PRIVATE KEY-----',
        ...keyLines,
        '-----END RSA PRIVATE KEY-----',
        'numbat',
      ].join('\n'),
    });
    assert.deepEqual(await find('quoll'), []);
    const [last] = await find('numbat');
    assert.match(last?.text ?? '', /^\*{20,}\n[\s\S]*numbat$/);
    assert.doesNotMatch(last?.text ?? '', /quoll/);
    assert.match(last?.lines ?? '', /-64$/);
    assert.equal((await find('Datenbankverbindung schliessen'))[0]?.id, id);
    assert.equal((await find('磁盘 日志'))[0]?.id, id);
    assert.equal((await find('nachtigallen')).length, 0);
    assert.equal((await find('')).length, 0);
    assert.equal((await find('"')).length, 0);
    assert.equal((await find('well', 3)).length, 3);
  });

  test("a search finds a person's questions in the corpus", async () => {
    const missed: string[] = [];
    for (const { name, facts } of noise) {
      const fact = facts.find((each) => (each.match(/[A-Za-z]{4,}/g) ?? []).length >= 2);
      if (fact === undefined) continue;
      const words = fact.match(/[A-Za-z]{4,}/g) ?? [];
      const isSaid = (text: string) => words.every((word) => text.includes(word));
      if (!(await find(fact)).some((each) => isSaid(each.text))) missed.push(`${name}: ${fact}`);
    }
    assert.deepEqual(missed, []);
  });

  test('a search reindexes what another version has indexed differently', async () => {
    const rig = storedTextsRig();
    const { id } = await rig.worker('context.externalize', { text: 'the parcels were migrated at night' });
    const find = async (query: string) =>
      (await rig.worker('context.search', { query })).chunks.map((each) => each.id);
    assert.deepEqual(await find('parcel'), [id]);
    await rig.storage.write(() => {
      rig.storage.db.exec(
        `UPDATE chunk_words SET words = 'oldstem'; DELETE FROM meta WHERE key = 'context_index'`,
      );
    });
    assert.deepEqual(await find('oldstem'), []);
    assert.deepEqual(await find('migrating parcels'), [id]);
    rig.close();
  });

  test('a search covers the texts that the task stored or read by id; the Chair searches all', async () => {
    const { id } = await rig.worker('context.externalize', { text: 'only t-1 knows of the ocelot' });
    const seen = async (who: typeof rig.worker) =>
      (await who('context.search', { query: 'ocelot' })).chunks.map((each) => each.id);
    const listed = async (who: typeof rig.worker) =>
      (await who('context.list', { limit: 1000 })).some((each) => each.id === id);
    assert.deepEqual(await seen(rig.colleague), [id]);
    assert.deepEqual(await seen(rig.person), [id]);
    assert.deepEqual(await seen(rig.stranger), []);
    assert.deepEqual(
      [await listed(rig.colleague), await listed(rig.person), await listed(rig.stranger)],
      [true, true, false],
    );
    await assert.rejects(rig.stranger('context.retrieve', { id: id.slice(0, 8) }), refusal('not_found'));
    assert.equal((await rig.person('context.retrieve', { id: id.slice(0, 8) })).id, id);
    assert.equal((await rig.stranger('context.retrieve', { id })).id, id);
    assert.deepEqual(await seen(rig.stranger), [id]);
  });

  test('a search continues while a text expires and is stored again', async () => {
    const text = Array.from({ length: 3000 }, (_, at) => `quokka number ${at} of this very long list`).join(
      '\n',
    );
    const { id } = await rig.worker('context.externalize', { text });
    const { store } = await rig.texts.open();
    const searching = find('quokka');
    rig.clock.advance(31 * MINUTE);
    await rig.storage.write(() => store.sweep());
    await rig.worker('context.externalize', { text });
    await searching;
    const chunks = await find('quokka 2999');
    assert.equal(chunks[0]?.id, id);
    const counted = rig.storage.db
      .prepare<unknown[], { n: number }>(
        'SELECT sum(ends - begins) AS n FROM text_chunk WHERE text = (SELECT number FROM stored_text WHERE id = ?)',
      )
      .get(id);
    assert.equal(counted?.n, Buffer.byteLength(text));
  });
});

test('savings are counted by session and tool, with the texts that were read back', async () => {
  const rig = storedTextsRig();
  const text = noise
    .map((each) => each.text)
    .join('\n')
    .slice(0, 200_000);
  const { stub, id } = await rig.worker('context.externalize', { text });
  const crushed = await rig.stranger('context.crush', { text: noise[0]?.text ?? '' });
  await rig.worker('context.retrieve', { id, lines: '1-2' });
  const { total, savings, stored } = await rig.person('context.stats', {});
  const of = (session: string, tool: string) =>
    savings.find((each) => each.session === session && each.tool === tool);
  assert.deepEqual(of('s-1', 'context_externalize'), {
    session: 's-1',
    tool: 'context_externalize',
    calls: 1,
    bytes_in: Buffer.byteLength(text),
    bytes_out: Buffer.byteLength(stub),
    tokens_in: Math.ceil(Buffer.byteLength(text) / 4),
    tokens_out: Math.ceil(Buffer.byteLength(stub) / 4),
  });
  assert.equal(of('s-3', 'context_crush')?.bytes_out, crushed.bytes_out);
  assert.equal(of('s-1', 'context_retrieve')?.bytes_in, 0);
  assert.equal(
    total.bytes_in - total.bytes_out,
    savings.reduce((sum, each) => sum + each.bytes_in - each.bytes_out, 0),
  );
  assert.equal((await rig.person('context.stats', { session: 's-3' })).total.calls, 1);
  assert.ok(stored.texts >= 1);
  rig.close();
});
