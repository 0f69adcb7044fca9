import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { crush } from '../../../../engine/knowledge/context/crush/index.ts';
import { readCorpus } from '../../../support/gateway/corpus.ts';

const LEAST_SAVED = 0.6;

describe('crushing the corpus', () => {
  for (const part of ['noise', 'held-out'] as const) {
    const files = readCorpus(part).map((file) => ({ ...file, result: crush(file.text) }));

    for (const { name, facts, result } of files) {
      it(`${part}/${name} keeps its facts`, () => {
        const lost = facts.filter((fact) => !result.text.includes(fact));
        assert.deepEqual(lost, []);
        assert.ok(facts.length > 0);
      });
    }

    it(`${part} loses 60 % of its bytes on average`, () => {
      const saved = files.map(({ result: { bytesIn, bytesOut } }) => 1 - bytesOut / bytesIn);
      const mean = saved.reduce((sum, each) => sum + each, 0) / saved.length;
      assert.ok(mean >= LEAST_SAVED, `${mean}`);
    });
  }

  it('the corpus holds nineteen hundred facts', () => {
    const facts = [...readCorpus('noise'), ...readCorpus('held-out')].flatMap((file) => file.facts);
    assert.ok(facts.length >= 1900, `${facts.length}`);
  });

  for (const { name, text } of readCorpus('content')) {
    it(`content/${name} passes byte for byte`, () => {
      assert.equal(crush(text).text, text);
    });
  }

  it('crushing is deterministic', () => {
    for (const { name, text } of readCorpus('noise').slice(0, 10))
      assert.deepEqual(crush(text), crush(text), name);
  });

  for (const part of ['noise', 'held-out', 'content'] as const) {
    it(`${part}: crushing again changes nothing, and nothing grows, for every file and for parts of it`, () => {
      for (const { name, text } of readCorpus(part)) {
        for (const piece of [text, text.slice(0, text.length / 3), text.slice(text.length / 2)]) {
          const once = crush(piece);
          assert.equal(crush(once.text).text, once.text, name);
          assert.equal(once.bytesOut, Buffer.byteLength(once.text), name);
          assert.ok(once.bytesOut <= once.bytesIn, name);
        }
      }
    });
  }
});
