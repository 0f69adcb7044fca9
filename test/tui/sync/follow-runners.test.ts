import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import type { EngineClient } from '../../../engine/index.ts';
import type { EventRow, RunnerRow } from '../../../tui/state/rows.ts';
import { fetchChangedRows } from '../../../tui/sync/fetch-rows.ts';
import { followRunners } from '../../../tui/sync/follow-runners.ts';
import { type Bench, bench, engineStatus, runnerRow } from '../../support/terminals/dashboard.ts';

/** More than the time between two fetches. */
const A_WHILE_MS = 3500;

describe('the data of the runners pane', () => {
  let dash: Bench;
  let asked: string[];
  let listed: RunnerRow[];
  let given: number;
  let problem: Error | null;
  let failures: unknown[];
  let following: ReturnType<typeof followRunners>;
  const client = {
    async call(operation: string) {
      asked.push(operation);
      if (problem !== null) throw problem;
      return operation === 'engine.status' ? engineStatus() : listed;
    },
  } as unknown as EngineClient;

  beforeEach(() => {
    mock.timers.enable({ apis: ['setInterval'] });
    [asked, listed, given, problem, failures] = [[], [runnerRow(1)], 0, null, []];
    dash = bench();
    following = followRunners({
      client: () => client,
      getState: () => dash.state(),
      onRunners(runners) {
        given += 1;
        dash.data({ runners });
      },
      onFailed: (error) => failures.push(error),
    });
  });
  afterEach(() => {
    following.close();
    mock.timers.reset();
  });

  /** Lets answers arrive. */
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  async function press(key: string): Promise<void> {
    dash.keys(key);
    following.onStateChange();
    await settle();
  }
  async function passTime(): Promise<void> {
    mock.timers.tick(A_WHILE_MS);
    await settle();
  }

  it('machines are fetched when their list is opened, and again while it is shown', async () => {
    await press('9');
    assert.deepEqual(dash.state().lists.runners.ids, ['r-1']);
    listed = [runnerRow(1, { state: 'silent' })];
    await passTime();
    assert.equal(dash.state().data.runners?.[0]?.state, 'silent');
    await passTime();
    assert.deepEqual(asked, ['runner.list', 'runner.list', 'runner.list']);
    assert.equal(given, 2, 'an unchanged list draws nothing');
  });

  it('machines are not fetched while another list is shown', async () => {
    for (const key of ['1', '8']) await press(key);
    await passTime();
    assert.deepEqual(asked, []);
    await press('9');
    await press('1');
    await passTime();
    assert.deepEqual(asked, ['runner.list']);
  });

  it('machines are fetched again over a new connection, and not without one', async () => {
    await press('9');
    dash.send({ type: 'link', link: { phase: 'lost', reason: 'gone', since: 1 } });
    following.onStateChange();
    await passTime();
    assert.equal(asked.length, 1);
    dash.send({ type: 'link', link: { phase: 'live', reason: null, since: 2 } });
    following.onStateChange();
    await settle();
    assert.equal(asked.length, 2);
  });

  it('a failure is shown when the list is opened, and not every few seconds', async () => {
    problem = new Error('no');
    await press('9');
    await passTime();
    assert.equal(asked.length, 2);
    assert.deepEqual(failures, [problem]);
  });

  it('events about machines fetch them, and other events do not', async () => {
    const at = (kind: string): EventRow =>
      ({ kind, data: {}, task_id: null, decision_id: null, session_id: null }) as unknown as EventRow;
    for (const kind of ['runner_added', 'runner_joined', 'runner_drained', 'runner_revoked', 'run_lost'])
      assert.deepEqual((await fetchChangedRows(client, [at(kind)])).runners, listed, kind);
    asked = [];
    const change = await fetchChangedRows(client, [at('task_changed'), at('runner_invited')]);
    assert.ok(!('runners' in change));
    assert.ok(!asked.includes('runner.list'));
  });
});
