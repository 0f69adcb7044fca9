import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createRecall } from '../../../../engine/knowledge/memory/recall.ts';
import { createMemoryStore } from '../../../../engine/knowledge/memory/store.ts';
import { fakeClock } from '../../../support/clock.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';
import { openSpine } from '../../../support/workspaces/spine.ts';

const ADA = {
  actor: 'ada',
  seat: 'chair',
  via: 'cli',
  sessionId: null,
  taskId: null,
  agent: null,
  unreviewed: null,
};

function recallRig() {
  const clock = fakeClock();
  const spine = openSpine(join(temporaryFolder('svc-recall-'), 'svc.db'), clock);
  const { db } = spine.storage;
  const store = createMemoryStore({ ...spine, clock, retentionDays: () => ({}), modelOf: () => null });
  const { recall } = createRecall({ storage: spine.storage, clock });
  return {
    store,
    write: spine.storage.write,
    add: (titles: readonly string[], text = 'x') =>
      spine.storage.write(() => titles.map((title) => store.remember({ title, text }, ADA, ADA).memory.id)),
    find: (query: string, limit = 8) => recall(query, { limit }).map(({ memory }) => memory.title),
    terms: () => db.prepare('SELECT term, rows FROM memory_terms ORDER BY term').all(),
    parts: () => db.prepare<unknown[], number>('SELECT count(*) FROM memory_term_parts').pluck().get(),
    close: () => spine.storage.close(),
  };
}

test('a word is found in a compound, a compound by its parts, and synonyms in any language', async () => {
  const rig = recallRig();
  await rig.add([
    'Datenbankverbindung schliessen',
    'Sätze der Umsatzsteuer',
    'The index is rebuilt nightly',
    'Passwords are hashed',
    '认证使用令牌',
    'サーバーの再起動',
    'Something else',
  ]);
  for (const [query, title] of [
    ['Verbindung', 'Datenbankverbindung schliessen'],
    ['Steuersätze', 'Sätze der Umsatzsteuer'],
    ['reindexing', 'The index is rebuilt nightly'],
    ['Kennwort', 'Passwords are hashed'],
    ['login', '认证使用令牌'],
    ['restart the server', 'サーバーの再起動'],
    ['pasword', 'Passwords are hashed'],
    ['reb', 'The index is rebuilt nightly'],
  ] as const)
    assert.equal(rig.find(query)[0], title, query);
  rig.close();
});

test('the row with the whole query in its title is found among many with the same words', async () => {
  const rig = recallRig();
  await rig.add(['Commit messages name their reason']);
  for (let each = 0; each < 22; each += 1) {
    const numbers = Array.from({ length: 40 }, (_, at) => at);
    await rig.add(
      numbers.map((at) => `Commit ${at}`),
      `about a message ${each}`,
    );
    await rig.add(
      numbers.map((at) => `Message ${at}`),
      `about a commit ${each}`,
    );
  }
  assert.equal(rig.find('commit message', 1)[0], 'Commit messages name their reason');
  rig.close();
});

test('adjacent words of the question are ranked first when adjacent', async () => {
  const rig = recallRig();
  await rig.add(['The cache key of every old token', 'The cache of every old token key']);
  assert.equal(rig.find('token key')[0], 'The cache of every old token key');
  assert.equal(rig.find('cache key')[0], 'The cache key of every old token');
  rig.close();
});

test('an ended memory leaves no term behind, and a rebuilt index is identical', async () => {
  const rig = recallRig();
  const ids = await rig.add(['getHTTPUrl leaks', 'Größe der Datei', '数据库连接']);
  const terms = rig.terms();
  await rig.write(() => rig.store.rebuildIndex());
  assert.deepEqual(rig.terms(), terms);
  assert.ok(terms.length > 10);
  assert.ok((rig.parts() ?? 0) > 5);
  const [first = '', ...others] = ids;
  await rig.write(() => rig.store.edit(first, { text: 'other words' }, ADA, ADA));
  assert.deepEqual(rig.find('other words'), ['getHTTPUrl leaks']);
  const { id } = rig.store.list({ limit: 1 })[0] ?? { id: '' };
  await rig.write(() => [id, ...others].map((each) => rig.store.forget(each, ADA)));
  assert.deepEqual(rig.find('Datei'), []);
  assert.deepEqual(rig.terms(), [{ term: '', rows: 0 }].slice(0, rig.terms().length));
  assert.equal(rig.parts(), 0);
  rig.close();
});

test('a Korean word is found with any particle, in compounds and next to Latin letters', async () => {
  const rig = recallRig();
  await rig.add([
    '로그를 Elasticsearch에 저장한다',
    '배포는 금요일에 하지 않는다',
    '데이터베이스연결 수는 스무 개다',
    '키를 볼트에서 읽는다',
    '파일 경로는 상대 경로다',
    'Redis에서 세션을 관리한다',
  ]);
  for (const [query, title] of [
    ['로그는 어디에 저장합니까', '로그를 Elasticsearch에 저장한다'],
    ['로그', '로그를 Elasticsearch에 저장한다'],
    ['elasticsearch', '로그를 Elasticsearch에 저장한다'],
    ['배포를 언제', '배포는 금요일에 하지 않는다'],
    ['연결이 몇 개', '데이터베이스연결 수는 스무 개다'],
    ['키는 어디에서', '키를 볼트에서 읽는다'],
    ['경로', '파일 경로는 상대 경로다'],
    ['세션은 redis', 'Redis에서 세션을 관리한다'],
  ] as const)
    assert.equal(rig.find(query)[0], title, query);
  rig.close();
});

test('a single emoji is found', async () => {
  const rig = recallRig();
  await rig.add([
    '🚀 marks a deploy',
    'Commits with 🐛 are fixes',
    'Prices of 🇩🇪 have VAT',
    '❤️ is a like',
    'Nothing',
  ]);
  for (const [query, title] of [
    ['🚀', '🚀 marks a deploy'],
    ['what is 🐛?', 'Commits with 🐛 are fixes'],
    ['🇩🇪', 'Prices of 🇩🇪 have VAT'],
    ['❤', '❤️ is a like'],
  ] as const)
    assert.deepEqual(rig.find(query), [title], query);
  assert.deepEqual(rig.find('🎉'), []);
  rig.close();
});

test('a memory is found by a word of a near meaning that no list contains', async () => {
  const rig = recallRig();
  await rig.add(['Escalators need a permit', 'Butter is sold by weight', 'Violins are rented']);
  assert.equal(rig.find('elevators')[0], 'Escalators need a permit');
  assert.deepEqual(rig.find('harpsichord'), ['Violins are rented']);
  await rig.add(['Margarine is cheaper']);
  assert.equal(rig.find('margarine')[0], 'Margarine is cheaper');
  assert.ok(rig.find('cream').includes('Margarine is cheaper'));
  const [last = ''] = await rig.add(['A clarinet is tuned']);
  assert.ok(rig.find('harpsichord').includes('A clarinet is tuned'));
  await rig.write(() => rig.store.forget(last, ADA));
  await rig.add(['An oboe is cleaned']);
  assert.ok(rig.find('harpsichord').includes('An oboe is cleaned'));
  assert.ok(!rig.find('harpsichord').includes('A clarinet is tuned'));
  rig.close();
});

test('words of a near meaning add results after those that have the words of the question', async () => {
  const rig = recallRig();
  await rig.add(['Cellos, violas, oboes', 'Pianos are tuned', 'Bicycles are tuned']);
  assert.deepEqual(rig.find('who has tuned pianos'), ['Pianos are tuned', 'Bicycles are tuned']);
  assert.deepEqual(rig.find('harpsichord is tuned'), [
    'Pianos are tuned',
    'Bicycles are tuned',
    'Cellos, violas, oboes',
  ]);
  rig.close();
});
