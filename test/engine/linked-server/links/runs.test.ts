import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { LinkEvent } from '../../../../engine/core/link-protocol/messages.ts';
import { onBothDatabases, setUpServer } from '../../../support/server/linked-server.ts';
import { listPageFaults } from '../../../support/server/page-faults.ts';
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
    const { id, tellEvents } = await linkByHand(server, ann);
    assert.match((await ann.get('/app/runs')).text, /Nothing is running.*Nothing has finished yet/);
    const [first, ...later] = [
      eventOf('dispatched', 's-1'),
      eventOf('dispatched', 's-2'),
      eventOf('sealed', 's-1'),
      eventOf('worktree_promoted', 's-1'),
      eventOf('dispatched', 's-3'),
      eventOf('failed', 's-3', { reason: 'it took <too> long', title: null }),
      eventOf('pull_request', 's-1', { pull_request: { number: 12, url: PAGE, state: 'open' } }),
      eventOf('pull_request', 's-1', { pull_request: { number: 12, url: PAGE, state: 'merged' } }),
      // Neither is a state of a session.
      eventOf('ask_opened', 's-2', { title: '"event":"failed"' }),
      eventOf('failed', null),
      eventOf('sealed', 's-4', { project: 'docs' }),
    ];
    // A call that arrives late does not change what was reported after it.
    await tellEvents(later);
    await tellEvents([first!]);
    const { running, finished } = await server.parts.runs.list(home!.id);
    assert.deepEqual(
      [...running, ...finished].map(({ sessionId, state, reason }) => [sessionId, state, reason]),
      [
        ['s-2', 'running', null],
        ['s-4', 'ready', null],
        ['s-3', 'failed', 'it took <too> long'],
        ['s-1', 'merged', null],
      ],
    );
    const { text } = await ann.get('/app/runs');
    assert.match(text, /failed: it took &lt;too&gt; long/);
    assert.match(text, /title of s-2 .*was running when its workspace was last connected/);
    assert.match(text, /web-shop<\/a>, docs/);
    assert.match(text, /merged, <a href="https:[^"]+" rel="noreferrer">pull request #12<\/a> merged/);
    await assert.rejects(
      tellEvents([
        eventOf('pull_request', 's-1', { pull_request: { number: 12, url: 'javascript:x', state: 'open' } }),
      ]),
    );
    assert.deepEqual(await listPageFaults(text), []);
    const carl = await addOtherAccount(ann, server);
    assert.doesNotMatch((await carl.get('/app/runs')).text, /s-2|web-shop/);
    await ann.post(`/app/workspaces/${id}/remove`);
    assert.doesNotMatch((await ann.get('/app/runs')).text, /s-2|web-shop/);
  });
});
