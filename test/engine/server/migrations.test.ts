import assert from 'node:assert/strict';
import { it } from 'node:test';
import { addSignedDecisions } from '../../../engine/server/database/add-signed-decisions.ts';
import { onBothDatabases } from '../../support/linked-server.ts';
import { linkByHand } from '../../support/workspace-by-hand.ts';
import { deliveryRig } from './deliveries/rig.ts';

onBothDatabases((start) => {
  it('targets that named workspaces have their ids then, and none of them gets more than before', async () => {
    const rig = await deliveryRig(start);
    try {
      const { db } = rig.server.parts;
      const [shop, api, second] = [
        await linkByHand(rig.server, rig.ann, { name: 'shop', key: 'one' }),
        await linkByHand(rig.server, rig.ann, { name: 'api', key: 'two' }),
        await linkByHand(rig.server, rig.ann, { name: 'shop', key: 'three' }),
      ];
      const cases: [string[], string[] | null][] = [
        [[], null],
        [['api'], [api.id]],
        [['shop', 'gone'], [shop.id, second.id].sort()],
        [['gone'], []],
      ];
      await db.schema.dropTable('used_signatures').execute();
      const ids: string[] = [];
      for (const [names] of cases) {
        const { id } = await rig.addTarget();
        ids.push(id);
        await db
          .updateTable('targets')
          .set({ workspaces: JSON.stringify(names) })
          .where('id', '=', id)
          .execute();
      }
      await db.transaction().execute(addSignedDecisions);
      for (const [index, [names, expected]] of cases.entries()) {
        const { workspaces } = await db
          .selectFrom('targets')
          .select('workspaces')
          .where('id', '=', ids[index]!)
          .executeTakeFirstOrThrow();
        const found = JSON.parse(workspaces) as string[] | null;
        assert.deepEqual(found?.sort() ?? null, expected, names.join());
      }
      const page = await rig.ann.get(`/app/settings/targets/${ids[3]}`);
      assert.match(page.text, /none, so nothing is sent there/);
    } finally {
      await rig.close();
    }
  });
});
