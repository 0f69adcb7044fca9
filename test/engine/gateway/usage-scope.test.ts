import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { CallRow } from '../../../engine/gateway/books/schema.ts';
import { openBooks, type UsageBooks } from '../../../engine/gateway/server/books.ts';
import { makeCallRow } from '../../support/workspaces/call-row.ts';
import { dayOf, settableClock } from '../../support/workspaces/counted-workspace.ts';
import { type EngineHere, engineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

const MINE = { seat: 'worker', sessionId: 's-1' } as const;
const OTHER = { seat: 'worker', sessionId: 's-2' } as const;
const PLAIN = { seat: 'plain', sessionId: 'desk' } as const;
const NAMELESS = { seat: 'plain', sessionId: null } as const;

/** Usage of each session, with distinct numbers: callers must not see another session's numbers. */
const TOKENS = { mine: 1_111, other: 20_222, person: 300_333 };

describe('who may see usage', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  let books: UsageBooks;
  const clock = settableClock(0);
  before(async () => {
    ws = await makeWorkspace({ yaml: 'ai: { budget_tokens_day: 5000000 }\n' });
    here = await engineHere(ws, { clock });
    books = openBooks(join(ws.root, '.svc'), { now: clock.now, isAlone: true });
    note({ session_id: 1, task_id: 1, model: 'model-of-mine', input: TOKENS.mine });
    for (const more of [{}, { prompt_hash: 'again' }, { prompt_hash: 'again', attempts: 3 }])
      note({
        session_id: 2,
        task_id: 2,
        model: 'model-of-other',
        input: TOKENS.other,
        tool_bytes: 9000,
        ...more,
      });
    note({ person: 'ada', model: 'model-of-person', input: TOKENS.person });
    books.noteExhausted({
      at: clock.now(),
      scope: 'day',
      subject: 'day',
      limitTokens: 1,
      isSpent: true,
      until: null,
      sessionId: 2,
      taskId: 2,
    });
    books.save();
  });
  after(async () => {
    books.close();
    await here.end();
    await ws.close();
  });

  function note(more: Partial<CallRow>): void {
    const now = clock.now();
    books.note(
      makeCallRow({
        id: books.nextId(),
        started_at: now,
        ended_at: now,
        day: dayOf(now),
        model: null,
        input: 0,
        output: 0,
        bytes_in: 1,
        bytes_out: 1,
        prefix_hash: null,
        ...more,
      }),
    );
  }

  /** Returns everything about usage that a caller can see, as text. */
  async function readAll(caller: object): Promise<string> {
    const told: unknown[] = [await here.callByName('gateway.today', {}, caller)];
    for (const by of ['session', 'worker', 'task', 'person', 'provider', 'model', 'protocol', 'day'])
      told.push(await here.callByName('gateway.usage', { by, days: 2 }, caller));
    for (const input of [{ recent: 100 }, { view: 'leaks' }, { view: 'governance' }])
      told.push(await here.callByName('usage.status', input, caller));
    return JSON.stringify(told);
  }
  const spentBy = async (caller: object): Promise<unknown> =>
    ((await here.callByName('usage.status', {}, caller)) as { today: { tokens: number } }).today.tokens;

  test('the Chair sees the usage of all', async () => {
    const told = await readAll({});
    for (const part of ['model-of-mine', 'model-of-other', 'model-of-person', '"s-1"', '"s-2"', '"ada"'])
      assert.ok(told.includes(part), part);
    assert.equal(await spentBy({}), TOKENS.mine + 3 * TOKENS.other + TOKENS.person);
    assert.match(told, /"of_session":null/);
  });

  test('a worker sees its own usage, in every view, and nothing else', async () => {
    assert.equal(await spentBy(MINE), TOKENS.mine);
    assert.equal(await spentBy(OTHER), 3 * TOKENS.other);
    const mine = await readAll(MINE);
    assert.ok(mine.includes('model-of-mine') && mine.includes('"of_session":"s-1"'));
    const other = await readAll(OTHER);
    for (const part of [
      'model-of-other',
      '"repeated_calls":1',
      '"retries":2',
      '"budgets_met":1',
      '"long_tool_outputs":3',
    ])
      assert.ok(other.includes(part), part);
    for (const part of [
      'model-of-other',
      'model-of-person',
      's-2',
      't-2',
      'ada',
      '20222',
      '60666',
      '300333',
      'person_keys',
    ])
      assert.ok(!mine.includes(part), `${part} in ${mine}`);
    for (const part of ['"repeated_calls":0', '"retries":0', '"budgets_met":0', '"long_tool_outputs":0'])
      assert.ok(mine.includes(part), part);
    assert.doesNotMatch(other, /model-of-mine|s-1|1111/);
    // The calls alternate: an answer must not be cached for the next caller.
    for (const caller of [MINE, OTHER, {}, MINE]) {
      const { total } = (await here.callByName('gateway.today', {}, caller)) as { total: { tokens: number } };
      assert.equal(total.tokens, await spentBy(caller));
    }
  });

  test('a plain seat has no calls, and sees no usage', async () => {
    for (const caller of [PLAIN, NAMELESS]) {
      const told = await readAll(caller);
      assert.doesNotMatch(told, /model-of|s-1|s-2|ada|1111|20222/);
      assert.equal(await spentBy(caller), 0);
    }
  });

  test("only the Chair sees the gateway's state, keys and counters", async () => {
    assert.equal(await here.call('gateway.status', {}), null);
    for (const caller of [MINE, PLAIN])
      for (const name of [
        'gateway.status',
        'gateway.keys',
        'gateway.metrics',
        'gateway.add_key',
        'gateway.serve',
      ])
        await assert.rejects(here.callByName(name, {}, caller), { code: 'chair_only' }, name);
  });
});
