import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import Database from 'better-sqlite3';
import {
  foldText,
  indexTexts,
  nearWords,
  quoteForMatch,
  readQuery,
} from '../../../../engine/knowledge/search/index.ts';

const indexText = (text: string): string => indexTexts([text])[0];
const index = (text: string): Set<string> => new Set(indexText(text).split(' '));
const finds = (query: string, text: string): boolean => {
  const have = index(text);
  return readQuery(query).some(({ forms }) => forms.some((form) => have.has(form)));
};

describe('the terms of a search', () => {
  test('an identifier is found by its parts, joined, and in every spelling', () => {
    for (const query of [
      'openWorkTree',
      'open_work_tree',
      'open-work-tree',
      'OPEN_WORK_TREE',
      'openworktree',
      'tree',
    ])
      assert.ok(finds(query, 'openWorkTree() leaks'), query);
    for (const part of ['get', 'http', 'url', '2', 'gethttpurl2'])
      assert.ok(index('getHTTPUrl2').has(part), part);
    assert.ok(finds('ERR_MODULE_NOT_FOUND', 'Node says errModuleNotFound'));
    assert.ok(finds('storage/index.ts', 'see engine/storage/index.ts'));
  });

  test('umlauts, accents, width and case do not matter', () => {
    assert.equal(foldText('ＧＲÖSSE Straße é'), 'grosse strasse e');
    for (const query of ['Größe', 'Groesse', 'GRÖSSE', 'grosse'])
      assert.ok(finds(query, 'die Größe zählt'), query);
    assert.ok(finds('Größe', 'die Groesse'));
    assert.ok(finds('ﾃﾞｰﾀ', 'データベース'));
    assert.ok(finds('か\u3099', 'が'), 'Japanese marks are kept, in either form');
  });

  test('inflected words are found in English and German', () => {
    assert.ok(finds('caching', 'the cache'));
    assert.ok(finds('migrations', 'migrate first'));
    assert.ok(finds('Verbindungen', 'die Verbindung'));
  });

  test('Chinese and Japanese are found by pairs', () => {
    assert.ok(index('数据库连接').has('据库'));
    assert.ok(finds('接続', 'データベースの接続数'));
    assert.ok(!finds('连接', '数据库'));
  });

  test('an English text is stemmed as English only, and a phrase is found by its abbreviation', () => {
    assert.ok(!finds('broker', 'the pump is broken'));
    assert.ok(finds('Verbindungen', 'Verbindung'), 'the language of a single word is unknown');
    const near = (query: string): string[] => readQuery(query).flatMap((term) => [...term.near]);
    assert.ok(index('Short pull requests are read first').has('pullrequest'));
    assert.ok(near('PR').includes('pullrequest'));
    assert.ok(near('pull request').includes('review'));
    assert.ok(near('no space left').includes('enospc'));
    assert.ok(near('ENOSPC').includes('nospaceleft'));
  });

  test('common words weigh less than distinctive ones', () => {
    const weight = (word: string): number => readQuery(word).find((term) => term.word === word)?.weight ?? 0;
    assert.ok(weight('change') < weight('certificate'));
    assert.ok(weight('bekommen') < weight('zertifikat'));
    assert.ok(weight('本番') > weight('書を') && weight('書を') > 0);
  });

  test('stop words are ignored, unless there are no others', () => {
    assert.deepEqual(
      readQuery('how do we use the cache').map(({ word }) => word),
      ['cache'],
    );
    assert.ok(readQuery('how to').length > 0);
    assert.deepEqual(readQuery(' \u0000 "*" '), []);
  });

  test('a mistyped word finds the intended one', () => {
    const known = ['postgres', 'portal', 'worktree', 'progress'];
    assert.deepEqual(nearWords('postgers', known), ['postgres']);
    assert.deepEqual(nearWords('wrok', known), []);
    assert.deepEqual(nearWords('workt', known), ['worktree']);
  });

  test('nothing in a query is parsed as MATCH syntax', () => {
    const db = new Database(':memory:');
    db.exec("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='unicode61 remove_diacritics 0')");
    db.prepare('INSERT INTO words VALUES (?)').run(indexText('plain words'));
    const hostile = [
      'a" OR "b',
      'NEAR(a b)',
      'text:plain',
      '^plain',
      '*',
      '"',
      '""',
      '(',
      'plain*',
      '-plain',
      '\0',
      '+',
      'AND',
      '{text}',
    ];
    for (const text of hostile) {
      for (const { forms } of readQuery(text))
        for (const form of forms)
          db.prepare('SELECT rowid FROM words WHERE words MATCH ?').all(quoteForMatch(form));
      db.prepare('SELECT rowid FROM words WHERE words MATCH ?').all(quoteForMatch(text));
    }
    db.close();
  });
});
