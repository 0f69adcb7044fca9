import assert from 'node:assert/strict';
import { it } from 'node:test';
import { commandsAnswer, LARGEST_ANSWER_BYTES } from '../../../../engine/core/link-protocol/messages.ts';
import { setUpServer, startTestServer } from '../../../support/server/linked-server.ts';
import { linkByHand } from '../../../support/workspaces/workspace-by-hand.ts';

it('commands are sent in answers that workspaces can read, however many and long they are', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const { id, token } = await linkByHand(server, await setUpServer(server));
  const { db, clock } = server.parts;
  const longest = (length: number): string => '字'.repeat(length);
  const given = Array.from({ length: 150 }, (_, index) => ({
    id: `k_${String(index).padStart(64, '0')}`,
    workspace_id: id,
    seq: index + 1,
    verb: 'approve',
    decision_id: `d-${'9'.repeat(62)}`,
    hash: 'f'.repeat(64),
    person: longest(200),
    channel: 'automation',
    code: '123456',
    created_at: clock.now(),
    expires_at: clock.now() + 3_600_000,
    about: '',
    outcome: null,
    ended_at: null,
  }));
  for (const row of given) await db.insertInto('commands').values(row).execute();
  const seen: number[] = [];
  for (let after = 0; ; after = seen.at(-1)!) {
    const answer = await fetch(`${server.url}/v1/commands?after=${after}&wait=0&instance=test`, {
      headers: { authorization: `Bearer ${token}`, 'svc-protocol': '1' },
    });
    const text = await answer.text();
    assert.ok(Buffer.byteLength(text) <= LARGEST_ANSWER_BYTES, `${Buffer.byteLength(text)} bytes`);
    const { commands } = commandsAnswer.parse(JSON.parse(text));
    if (commands.length === 0) break;
    seen.push(...commands.map(({ seq }) => seq));
  }
  assert.deepEqual(
    seen,
    given.map(({ seq }) => seq),
  );
});
