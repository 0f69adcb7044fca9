import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MachineState } from '../../../engine/fleet/machine-connection.ts';
import { openChoice } from '../../../engine/fleet/open-choice.ts';
import type { RunnerRecord } from '../../../engine/fleet/records.ts';

const READY: MachineState = { state: 'ready', why: null, facts: null, load: null, since: 0 };

const makeRecord = (number: number): RunnerRecord => ({
  ...{ id: `r-${number}`, name: `box${number}`, host: 'box', via: null, command: '', joined: null },
  ...{ pool: 'gpu', most: 1, isDrained: false, isRevoked: false, leaseMs: null, addedAt: '' },
});

const wish = (sessionId: string, pool = 'gpu') => ({
  ...{ sessionId, agent: 'codex', project: null, pool, runner: null, mayMove: false, profile: null },
});

/** Opens the choice between machines with one slot each. */
function open(count: number, holders: Record<string, string[]> = {}) {
  const asked: string[] = [];
  const records = Array.from({ length: count }, (_, at) => makeRecord(at + 1));
  const choice = openChoice(
    {
      listRecords: () => records,
      readState(id) {
        asked.push(id);
        return READY;
      },
      hasPrograms: () => true,
      checkShare(_, pool) {
        asked.push(pool);
        if (pool !== 'gpu') throw new Error('not shared');
      },
      listPrograms: () => ['codex'],
      listHolders(sessionId) {
        asked.push(sessionId);
        return holders[sessionId] ?? [];
      },
      readProfile: () => 'lite',
      now: () => 0,
    },
    new Map(),
  );
  return { choice, asked };
}

describe('the choice of machines for a queue', () => {
  it('each machine is asked once, and sessions behind those that were refused are asked nothing', () => {
    const { choice, asked } = open(2);
    const chosen = ['s-1', 's-2', 's-3', 's-4'].map((session) => {
      const found = choice.choose(wish(session));
      if ('runner' in found) choice.take(found.runner);
      return found;
    });
    const full = { why: 'box1 is full: 1 of 1; box2 is full: 1 of 1' };
    assert.deepEqual(chosen, [{ runner: 'r-1' }, { runner: 'r-2' }, full, full]);
    assert.deepEqual(asked, ['gpu', 'r-1', 'r-2', 's-1', 's-2', 's-3']);
  });

  it('a session that its machines still have an earlier run of does not speak for the others', () => {
    const { choice } = open(1, { 's-1': ['r-1'] });
    assert.deepEqual(choice.choose(wish('s-1')), { why: 'box1 still has an earlier run of it' });
    assert.deepEqual(choice.choose(wish('s-2')), { runner: 'r-1' });
  });

  it('a pool that the project is not shared with takes none, and others do', () => {
    const { choice } = open(1);
    assert.deepEqual(choice.choose(wish('s-1', 'cpu')), { why: 'not shared' });
    assert.deepEqual(choice.choose(wish('s-2')), { runner: 'r-1' });
  });

  it('a refusal names five machines of many', () => {
    const { choice } = open(7, { 's-1': ['r-1', 'r-2', 'r-3', 'r-4', 'r-5', 'r-6', 'r-7'] });
    const { why = '' } = choice.choose(wish('s-1')) as { why?: string };
    assert.match(why, /^(?:box\d still has an earlier run of it; ){5}and 2 more machines$/);
  });
});
