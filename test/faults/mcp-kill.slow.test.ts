import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { connectEdition, connectEditions, type EditionClient } from '../support/agents/mcp-editions.ts';
import { report } from '../support/processes/faults.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

/** For how long the engine is killed again and again, ms; and the pause after each start. */
const TRIED_MS = Number(process.env.SVC_TEST_KILL_MS ?? 20_000);
const KILL_EVERY_MS = TRIED_MS > 60_000 ? 5000 : 1500;

describe('an engine that is killed under MCP clients of both eras', { timeout: TRIED_MS + 200_000 }, () => {
  let ws: TestWorkspace;
  let clients: EditionClient[];
  const giveUpAt = performance.now() + TRIED_MS + 60_000;
  before(async () => {
    ws = await makeWorkspace();
    await ws.svc(['up']);
    clients = await connectEditions(ws);
  });
  after(async () => {
    for (const client of clients ?? []) await client.close();
    await ws.close();
  });

  /**
   * Calls a tool as hosts of agents do: over HTTP again, until there is an answer, and for a client of an earlier
   * revision in a new session, because its session has ended with the engine.
   */
  async function callUntilAnswered(at: number, tool: string, input: object): Promise<void> {
    for (;;) {
      const client = clients[at] as EditionClient;
      const isOfSession = /^(?:v1|v2 legacy) over HTTP$/.test(client.name);
      const patience = delay(5000, new Error('no answer in time'), { ref: false });
      const outcome = await Promise.race([
        client.call(tool, input),
        ...(isOfSession ? [patience] : []),
      ]).catch((error: Error) => error);
      if ('result' in outcome) return;
      assert.ok(client.name.endsWith('HTTP'), `${client.name}: ${JSON.stringify(outcome)}`);
      if (performance.now() > giveUpAt) throw outcome;
      await delay(50);
      if (!isOfSession) continue;
      const next = await connectEdition(ws, client.name).catch(() => null);
      if (next === null) continue;
      clients[at] = next;
      await client.close().catch(() => undefined);
    }
  }

  it('loses no call and does none twice, without an error over stdio and with a retry over HTTP', async () => {
    let isOver = false;
    const sent = new Map<string, number>();
    const working = clients.map(async ({ name }, at) => {
      for (let round = 0; !isOver; round += 1) {
        const title = `${name} ${round}`;
        await callUntilAnswered(at, 'task_add', { title });
        await callUntilAnswered(at, 'msg_send', { body: title, to_session: 'chair' });
        sent.set(name, round + 1);
      }
    });
    const end = performance.now() + TRIED_MS;
    let kills = 0;
    while (performance.now() < end) {
      await delay(KILL_EVERY_MS);
      await ws.crashDaemon();
      kills += 1;
    }
    isOver = true;
    await Promise.all(working);
    const client = await ws.connect();
    const { tasks } = await client.call('task.list', { limit: 100_000 });
    const titles = tasks.map(({ title }) => title);
    const expected = [...sent].flatMap(([name, rounds]) =>
      Array.from({ length: rounds }, (_, round) => `${name} ${round}`),
    );
    assert.deepEqual(titles.toSorted(), expected.toSorted());
    report(
      `${kills} times kill -9 of the engine under ${clients.length} clients`,
      `${titles.length} tasks, each once`,
    );
  });
});
