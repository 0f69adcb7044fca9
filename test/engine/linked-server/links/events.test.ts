import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { LinkEvent } from '../../../../engine/core/link-protocol/messages.ts';
import { logMachineIn, onBothDatabases, setUpServer } from '../../../support/server/linked-server.ts';

const eventOf = (id: string): LinkEvent => ({
  id,
  event: 'sealed',
  at: '2026-11-23T12:00:00.000Z',
  project: null,
  task_id: 't-1',
  decision_id: null,
  session_id: null,
  agent: null,
  status: null,
  title: null,
  reason: null,
});

onBothDatabases((start) => {
  it('events of many workspaces at once are kept, each once, and a faulty one is refused alone', async (t) => {
    const server = await start();
    t.after(() => server.close());
    const token = await logMachineIn(server, await setUpServer(server));
    const { machines, workspaces, events, plans, people } = server.parts;
    const [home] = await people.listAccounts();
    await plans.assign(home!, 'team', 'a test');
    const machine = (await machines.findByToken(token))!;
    const linked = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        workspaces.link({ key: `workspace-${index}`, name: `w${index}`, version: '1' }, machine),
      ),
    );
    const gone = { ...linked[0]!.workspace, id: 'w_gone' };
    const told = await Promise.allSettled([
      ...linked.map(({ workspace }) => events.add(workspace, [eventOf('e-1'), eventOf('e-2')])),
      events.add(gone, [eventOf('e-1')]),
      // Sent again, as after a lost answer.
      ...linked.map(({ workspace }) => events.add(workspace, [eventOf('e-2'), eventOf('e-3')])),
    ]);
    assert.deepEqual(
      told.map((each) => (each.status === 'fulfilled' ? each.value : 'refused')),
      [...linked.map(() => 2), 'refused', ...linked.map(() => 1)],
    );
    for (const { workspace } of linked) {
      const { rows: kept } = await events.list(workspace.id);
      assert.deepEqual(kept.map(({ id }) => id).sort(), ['e-1', 'e-2', 'e-3']);
    }
    assert.deepEqual((await events.list(gone.id)).rows, []);
  });
});
