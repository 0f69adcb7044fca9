import assert from 'node:assert/strict';
import { it } from 'node:test';
import { logMachineIn, onBothDatabases, setUpServer } from '../../../support/server/linked-server.ts';

onBothDatabases((start, makeDatabase) => {
  it('sightings of many workspaces are saved, at the latest when the server closes', async (t) => {
    const env = await makeDatabase();
    const server = await start({ env });
    const token = await logMachineIn(server, await setUpServer(server));
    const { machines, workspaces, people, plans } = server.parts;
    const [home] = await people.listAccounts();
    await plans.assign(home!, 'team', 'a test');
    const machine = (await machines.findByToken(token))!;
    const linked = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        workspaces.link({ key: `workspace-${index}`, name: `w${index}`, version: '1' }, machine),
      ),
    );
    const linkedAt = server.clock.now();
    const [removed, ...others] = linked;
    server.clock.advance(3600_000);
    for (const each of linked) await workspaces.findByToken(each.token);
    await workspaces.remove(home!.id, removed!.workspace.id, 'a test');
    const seenAt = server.clock.now();
    await server.close();
    const again = await start({ folder: server.folder, env });
    t.after(() => again.close());
    const found = await again.parts.workspaces.list(home!.id);
    assert.ok(seenAt > linkedAt);
    assert.equal(found.length, others.length);
    assert.deepEqual(new Set(found.map(({ last_seen_at }) => last_seen_at)), new Set([seenAt]));
  });
});
