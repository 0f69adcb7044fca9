import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { EngineClient } from '../../../engine/index.ts';
import { reduceState } from '../../../tui/reducer.ts';
import type { State } from '../../../tui/state/model.ts';
import { followNotices } from '../../../tui/sync/follow-notices.ts';
import type { TerminalNotice } from '../../../tui/terminal-notices.ts';
import { bench } from '../../support/terminals/dashboard.ts';

const NOTICE = { title: 'svc acme', text: 'Failed: t-1' };

describe('the notices of a dashboard', () => {
  let state: State;
  let calls: string[];
  let open: Map<number, (notification: { method: string; params: object }) => void>;
  let shown: TerminalNotice[];
  let following: ReturnType<typeof followNotices>;
  let subscriptions = 0;
  const client = {
    async subscribe(method: string, { shows }: { shows: boolean }, onNotification: never) {
      subscriptions += 1;
      calls.push(`${method} ${shows}`);
      open.set(subscriptions, onNotification);
      return { subscription: subscriptions };
    },
    async unsubscribe(subscription: number) {
      open.delete(subscription);
    },
  } as unknown as EngineClient;

  function start(canShow: boolean): void {
    following = followNotices({
      client: () => client,
      getState: () => state,
      terminal: { canShow, show: (notice) => void shown.push(notice) },
    });
    following.onStateChange();
  }
  beforeEach(() => {
    [calls, open, shown] = [[], new Map(), []];
    state = bench().state();
  });

  /** Lets answers arrive. */
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  async function change(next: Partial<State>): Promise<void> {
    state = { ...state, ...next };
    following.onStateChange();
    await settle();
  }
  const notify = (): void => {
    for (const onNotification of open.values())
      onNotification({ method: 'notice', params: { notice: NOTICE } });
  };

  it('a notice is shown unless the person looks at the dashboard', async () => {
    start(true);
    await settle();
    notify();
    await change({ hasFocus: true });
    notify();
    await change({ hasFocus: false });
    notify();
    assert.deepEqual(shown, [NOTICE, NOTICE]);
    assert.deepEqual(calls, ['notices.follow true']);
  });

  it('a terminal with only a bell takes notices while it has the focus, so that nothing else shows them', async () => {
    start(false);
    await change({ hasFocus: true });
    await change({ hasFocus: false });
    assert.deepEqual(calls, ['notices.follow false', 'notices.follow true', 'notices.follow false']);
    assert.equal(open.size, 1);
  });

  it('notices are followed again after a lost connection, and not while they are switched off', async () => {
    start(true);
    await settle();
    await change({ link: { ...state.link, phase: 'lost', since: 1 } });
    assert.equal(open.size, 0);
    await change({ link: { ...state.link, phase: 'live', since: 2 } });
    assert.equal(open.size, 1);
    await change({ preferences: { ...state.preferences, notices: false } });
    assert.equal(open.size, 0);
    assert.equal(calls.length, 2);
  });

  it('a report of the focus changes only that', () => {
    const { state: next, effects } = reduceState(state, { type: 'focus', hasFocus: false });
    assert.deepEqual([next.hasFocus, effects], [false, []]);
  });
});
