import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { LinkEvent } from '../../../../engine/core/link-protocol/messages.ts';
import { onBothDatabases, setUpServer } from '../../../support/server/linked-server.ts';
import { listPageFaults } from '../../../support/server/page-faults.ts';
import { until } from '../../../support/wait.ts';
import { linkByHand } from '../../../support/workspaces/workspace-by-hand.ts';
import { addOtherAccount } from '../deliveries/rig.ts';

const PAGE = 'https://code.example/acme/shop/pull/12';

let count = 0;
/** Builds an event of a session, each a minute after the one before. */
function eventOf(event: string, session: string | null, more: Partial<LinkEvent> = {}): LinkEvent {
  count += 1;
  return {
    id: `e-${count}`,
    event,
    at: new Date(Date.UTC(2026, 10, 23, 12, count)).toISOString(),
    project: null,
    task_id: 't-1',
    decision_id: null,
    session_id: session,
    agent: 'claude',
    status: null,
    title: `title of ${session}`,
    reason: null,
    ...more,
  };
}

onBothDatabases((start) => {
  it('the page of running and finished sessions shows what each workspace of the account reported last', async (t) => {
    const server = await start();
    t.after(() => server.close());
    const ann = await setUpServer(server);
    const [home] = await server.parts.people.listAccounts();
    const { id, call, tellEvents, tellSessions } = await linkByHand(server, ann);
    assert.match((await ann.get('/app/runs')).text, /Nothing is running.*Nothing has finished yet/);
    const pull = { number: 12, url: PAGE, state: 'open' } as const;
    const [first, ...later] = [
      eventOf('sealed', 's-1'),
      eventOf('worktree_promoted', 's-1'),
      eventOf('dispatched', 's-3'),
      eventOf('failed', 's-3', { reason: 'it took <too> long', title: null }),
      eventOf('pull_request', 's-1', { pull_request: pull }),
      eventOf('pull_request', 's-1', { pull_request: { ...pull, state: 'merged' } }),
      // Neither is the end of a session.
      eventOf('ask_opened', 's-1', { title: '"event":"failed"' }),
      eventOf('failed', null),
      // It was resumed since then.
      eventOf('failed', 's-2'),
      eventOf('sealed', 's-4', { project: 'docs' }),
      eventOf('pull_request', 's-4', {
        pull_request: { ...pull, checks: { state: 'failed', failed: '<img src=x>' } },
      }),
    ];
    // A call that arrives late does not change what was reported after it.
    await tellEvents(later);
    await tellEvents([first!]);
    await tellSessions([
      { session_id: 's-2', title: 'title of s-2', since: '2026-01-01T00:00:00.000Z' },
      { session_id: 's-5', state: 'paused', reason: 'rate_limited: the provider <limits>' },
      {
        session_id: 's-6',
        state: 'queued',
        pull_request: { ...pull, checks: { state: 'pending', failed: null } },
      },
    ]);
    const { running, finished } = await server.parts.runs.list(home!.id);
    assert.deepEqual(
      [...running, ...finished].map(({ sessionId, state, reason }) => [sessionId, state, reason]),
      [
        ['s-5', 'paused', 'rate_limited: the provider <limits>'],
        ['s-6', 'queued', null],
        ['s-2', 'running', null],
        ['s-4', 'ready', null],
        ['s-3', 'failed', 'it took <too> long'],
        ['s-1', 'merged', null],
      ],
    );
    const { text } = await ann.get('/app/runs');
    assert.match(text, /failed: it took &lt;too&gt; long/);
    assert.match(text, /title of s-2 .*was running when its workspace was last connected/);
    assert.match(text, /was paused when its workspace was last connected/);
    assert.match(text, /web-shop<\/a>, docs/);
    assert.match(text, /merged, <a href="https:[^"]+" rel="noreferrer">pull request #12<\/a> merged/);
    assert.match(text, /pull request #12<\/a> open, checks failed: &lt;img src=x&gt;/);
    assert.match(text, /pull request #12<\/a> open, checks pending</);
    assert.doesNotMatch(text, /<img/);
    for (const bad of [
      { ...pull, url: 'javascript:x' },
      { ...pull, checks: { state: 'failed', failed: 'x'.repeat(201) } },
      { ...pull, checks: { state: 'green', failed: null } },
    ])
      await assert.rejects(
        tellEvents([eventOf('pull_request', 's-1', { pull_request: bad as typeof pull })]),
      );
    assert.deepEqual(await listPageFaults(text), []);
    const polling = call('GET', '/v1/commands?after=0&wait=25&instance=a');
    await until(() => server.parts.polls.isConnected(id), 'the connection');
    const connected = (await ann.get('/app/runs')).text;
    assert.match(connected, />paused: rate_limited: the provider &lt;limits&gt;</);
    assert.match(connected, />waiting for its turn, <a/);
    await tellSessions([]);
    assert.match((await ann.get('/app/runs')).text, /Nothing is running/);
    const carl = await addOtherAccount(ann, server);
    assert.doesNotMatch((await carl.get('/app/runs')).text, /s-2|web-shop/);
    await ann.post(`/app/workspaces/${id}/remove`);
    await polling;
    assert.doesNotMatch((await ann.get('/app/runs')).text, /s-2|web-shop/);
  });

  it('a session stays on the page while it runs, however many events came after its start', async (t) => {
    const server = await start();
    t.after(() => server.close());
    const ann = await setUpServer(server);
    const { tellEvents, tellSessions } = await linkByHand(server, ann);
    await tellSessions([{ session_id: 's-1', title: 'runs for a week' }]);
    for (let calls = 0; calls < 12; calls += 1)
      await tellEvents(
        Array.from({ length: 100 }, (_, at) => eventOf('sealed', `s-${2 + 100 * calls + at}`)),
      );
    assert.match((await ann.get('/app/runs')).text, /runs for a week/);
  });
});
