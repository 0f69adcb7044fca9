import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { createBooksReader } from '../../../../engine/gateway/books/read.ts';
import type { CallRow } from '../../../../engine/gateway/books/schema.ts';
import { openBooks } from '../../../../engine/gateway/server/books.ts';
import { makeCallRow } from '../../../support/workspaces/call-row.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

const DAY = '2026-11-22';
const NOON = Date.parse(`${DAY}T12:00:00Z`);

describe("the engine's reading of the books", () => {
  const folder = temporaryFolder('svc-books-');
  const books = openBooks(folder, { now: () => NOON, isAlone: true });
  const reader = createBooksReader(folder);
  after(() => {
    reader.close();
    books.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function note(more: Partial<CallRow>): void {
    books.note(
      makeCallRow({
        id: books.nextId(),
        started_at: NOON,
        ended_at: NOON + 5,
        day: DAY,
        session_id: 1,
        task_id: 1,
        ...more,
      }),
    );
  }
  const write = (...rows: Partial<CallRow>[]): void => {
    for (const row of rows) note(row);
    books.save();
  };

  test('calls of the day are summed where they differ in no requested field, and by the hour', () => {
    const before = reader.readVersion();
    write(
      {},
      {},
      { outcome: 'stub', model: 'svc-stub', provider: null, input: 0, output: 0 },
      { outcome: 'lost', model: 'gpt-4.1', is_estimated: 1 },
      { day: '2026-11-21', started_at: NOON - 86_400_000, input: 1000 },
      { started_at: NOON + 3_600_000, outcome: 'failed', input: 0, output: 0 },
    );
    assert.notEqual(reader.readVersion(), before);
    assert.equal(reader.readVersion(), reader.readVersion());
    const parts = reader.listUsage(DAY, null).map(({ model, calls, failed, input, estimated_tokens }) => ({
      model,
      calls,
      failed,
      input,
      estimated_tokens,
    }));
    assert.deepEqual(parts, [
      { model: 'svc-stub', calls: 1, failed: 0, input: 0, estimated_tokens: 0 },
      { model: 'gpt-4.1', calls: 1, failed: 0, input: 10, estimated_tokens: 15 },
      { model: 'gpt-5', calls: 3, failed: 1, input: 20, estimated_tokens: 0 },
    ]);
    const hours = reader.listHours(DAY, null);
    assert.deepEqual([hours.length, hours[12], hours[13], hours[11]], [24, 45, 0, 0]);
  });

  test('an identical repeated request is distinguished from a request that was asked again', () => {
    write({ prompt_hash: 'twice' }, { prompt_hash: 'twice' }, { prompt_hash: 'twice', outcome: 'stub' });
    write({ attempts: 3 });
    assert.deepEqual(reader.countRepeated(DAY, null), { calls: 1, tokens: 15, retries: 2 });
  });

  test('a call that started after its session had ended is found', () => {
    write({ session_id: 7, started_at: NOON + 10 }, { session_id: 7 });
    const ends = new Map([[7, NOON + 1]]);
    assert.deepEqual(
      reader.countAfterEnd(DAY, null, (id) => ends.get(id) ?? null),
      { calls: 1, tokens: 15 },
    );
  });

  test('a session whose turns always start differently is distinguished from one with a few openings', () => {
    const turns = (session_id: number, prefixes: readonly string[], cache_read = 0): void =>
      write(...prefixes.map((prefix_hash) => ({ session_id, prefix_hash, cache_read })));
    turns(20, ['a', 'b', 'c', 'd', 'e']);
    turns(21, ['title', 'main', 'main', 'main', 'title', 'main']);
    turns(22, ['a', 'b', 'c', 'd'], 900);
    const habits = reader.listSessionHabits(DAY, null).filter(({ session_id: id }) => id >= 20);
    assert.deepEqual(
      habits.map((each) => [each.session_id, each.calls, each.fresh_calls, each.fresh_tokens]),
      [
        [20, 5, 5, 50],
        [21, 6, 2, 20],
        [22, 4, 0, 0],
      ],
    );
  });

  test('long answers of tools are summed, and the newest calls listed', () => {
    write({ tool_bytes: 5000 }, { tool_bytes: 6000, model: 'last' });
    assert.deepEqual(reader.countLongToolOutputs(DAY, null), { calls: 2, bytes: 11_000 });
    assert.deepEqual(
      reader.listRecent(2, null).map(({ model }) => model),
      ['last', 'gpt-5'],
    );
  });
});
