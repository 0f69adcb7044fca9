import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { LANGUAGE_CASES } from './cases/index.ts';
import { listCalls } from './graph-rig.ts';

/** Calls that exist but are not found. */
const MISSED: Readonly<Record<string, string[]>> = {
  Java: ['A.java:A.f -> A.java:B.g'],
};

describe('calls of small programs', () => {
  for (const [language, cases] of Object.entries(LANGUAGE_CASES))
    test(`${language}: every edge is right, and few are missing`, async () => {
      const wrong: string[] = [];
      const missed: string[] = [];
      for (const { name, files, calls } of cases) {
        const found = (await listCalls(files)).map((call) => call.replace(/ \w+ [\d.]+$/, ''));
        wrong.push(...found.filter((call) => !calls.includes(call)).map((call) => `${name}: ${call}`));
        missed.push(...calls.filter((call) => !found.includes(call)));
      }
      assert.deepEqual(wrong, []);
      assert.deepEqual(missed, MISSED[language] ?? []);
      assert.ok(cases.length >= 30);
    });
});
