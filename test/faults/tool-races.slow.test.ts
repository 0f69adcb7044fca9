import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { type McpClient, stdioClient } from '../support/agents/mcp.ts';
import { until } from '../support/wait.ts';
import { isRunning, makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

const SERVERS = 16;
const ROUNDS = Number(process.env.SVC_RACE_ROUNDS ?? 12);
/** Rounds of merges; each takes a worker and a merge. */
const MERGES = Number(process.env.SVC_RACE_ROUNDS ?? 2);

interface Racer extends McpClient {
  /** The Chair's session from the engine. */
  name: string;
}

/** Result of one call: the answer or the refusal. */
type Outcome = { racer: Racer; won: Record<string, unknown> } | { racer: Racer; lost: Refusal };
type Refusal = { code: string; message: string } & Record<string, unknown>;

const rounds = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

describe('sixteen MCP servers on one workspace', { timeout: 200_000 }, () => {
  let ws: TestWorkspace;
  let racers: Racer[];

  before(async () => {
    ws = await makeWorkspace({ yaml: 'bus: { max_acked: 0 }\n' });
    await ws.svc(['up']);
    racers = await Promise.all(
      rounds(SERVERS).map(async () => {
        const client = await stdioClient(ws);
        const { resources } = await client.client.listResources();
        return { ...client, name: resources[0]?.uri.split('/').at(-1) ?? '' };
      }),
    );
  });
  after(async () => {
    await Promise.all(racers.map((racer) => racer.close()));
    await ws.close();
  });

  /** Makes the same call to every server at the same time. */
  const race = (tool: string, input: (racer: Racer) => object): Promise<Outcome[]> =>
    Promise.all(
      racers.map(async (racer): Promise<Outcome> => {
        const { isError, structuredContent } = await racer.client.callTool({
          name: tool,
          arguments: input(racer) as Record<string, unknown>,
          _meta: { 'svc/structured': true },
        });
        return isError
          ? { racer, lost: structuredContent as Refusal }
          : { racer, won: structuredContent as Record<string, unknown> };
      }),
    );

  function oneWinner(outcomes: Outcome[], code: string): { racer: Racer; won: Record<string, unknown> } {
    const winners = outcomes.flatMap((each) => ('won' in each ? [each] : []));
    assert.equal(winners.length, 1, JSON.stringify(outcomes.map(({ racer, ...rest }) => [racer.name, rest])));
    const [winner] = winners;
    assert.ok(winner);
    for (const each of outcomes) {
      if (!('lost' in each)) continue;
      assert.equal(each.lost.code, code, each.lost.message);
      assert.match(each.lost.message, new RegExp(`\\b${winner.racer.name}\\b`), 'the error names the winner');
    }
    return winner;
  }

  test('a lock has one holder in every round, and its number rises', async () => {
    let fence = 0;
    for (const round of rounds(ROUNDS)) {
      const path = round % 2 === 0 ? `src/${round}.ts` : `src/${round}`;
      const { racer, won } = oneWinner(
        await race('lock_acquire', ({ name }) => ({
          holder: name,
          path: `${round % 3 === 0 ? './' : ''}${path}`,
        })),
        'lock_held',
      );
      assert.ok(Number(won.fence) > fence);
      fence = Number(won.fence);
      await racer.call('lock_release', { holder: racer.name, path });
    }
  });

  test('an item of a ledger has one holder in every round', async () => {
    ws.repository.write(
      'PLAN.md',
      rounds(ROUNDS)
        .map((item) => `- [ ] item ${item}\n`)
        .join(''),
    );
    for (const item of rounds(ROUNDS)) {
      const ledger = item % 2 === 0 ? 'PLAN.md' : join(ws.root, 'PLAN.md');
      oneWinner(await race('task_claim', ({ name }) => ({ holder: name, ledger, item })), 'item_held');
    }
  });

  test('an ask has one answer in every round', async () => {
    const asker = await stdioClient(ws, { env: { SVC_SESSION: 'asker' } });
    for (const round of rounds(ROUNDS)) {
      let asked: (id: number) => void = () => undefined;
      const opened = new Promise<number>((resolve) => {
        asked = resolve;
      });
      const answer = asker.call(
        'ask',
        { question: `round ${round}?` },
        { onprogress: ({ message }) => asked(Number(/ask (\d+)/.exec(message ?? '')?.[1])) },
      );
      const id = await opened;
      const { racer } = oneWinner(
        await race('ask_answer', ({ name }) => ({ id, answer: `${round} says ${name}` })),
        'ask_closed',
      );
      assert.deepEqual(
        [(await answer).status, (await answer).answer],
        ['answered', `${round} says ${racer.name}`],
      );
    }
    await asker.close();
  });

  test('a session is promoted once in every round', async () => {
    const [chair] = racers as [Racer, ...Racer[]];
    for (const round of rounds(MERGES)) {
      const { session } = await chair.call('dispatch_worker', {
        agent: 'scripted',
        prompt: `#agent: edit round-${round}.txt x`,
        wait: true,
      });
      const before = ws.repository.git('rev-list', '--count', '--merges', 'main').trim();
      const outcomes = await race('worktree_promote', () => ({ session }));
      oneWinner(outcomes, 'conflict');
      const now = ws.repository.git('rev-list', '--count', '--merges', 'main').trim();
      assert.equal(Number(now), Number(before) + 1);
    }
  });

  test('messages keep the order of their sender; none is lost or doubled when senders and daemon are killed', async () => {
    const acknowledged = new Map<string, string[]>(racers.map(({ name }) => [name, []]));
    const dying = new Set(racers.slice(0, 4).map(({ name }) => name));
    const sending = racers.map(async (racer) => {
      for (const round of rounds(ROUNDS)) {
        if (dying.has(racer.name) && round === Math.ceil(ROUNDS / 2)) process.kill(racer.pid ?? 0, 'SIGKILL');
        const body = `${racer.name} ${round}`;
        const sent = racer.call('msg_send', { body, to_session: 'reader', from_session: racer.name });
        const isSent = await sent.then(
          () => true,
          () => false,
        );
        if (isSent) acknowledged.get(racer.name)?.push(body);
        else assert.ok(dying.has(racer.name), 'only a killed sender fails');
        if (!isSent) return;
      }
    });
    const reader = await ws.connect();
    // The reader is unknown before its first message.
    await until(() => [...acknowledged.values()].some((sent) => sent.length > 0));
    await until(async () => {
      const { unread } = await reader.call('msg.inbox', { session: 'reader' });
      return unread > ROUNDS;
    });
    await ws.killDaemon();
    await Promise.all(sending);
    const client = await ws.connect();
    const { messages } = await client.call('msg.inbox', {
      session: 'reader',
      limit: 500,
      unread: true,
    });
    const byId = [...messages].sort((one, other) => one.id - other.id);
    assert.equal(new Set(byId.map(({ body }) => body)).size, byId.length, 'nothing is stored twice');
    for (const [name, bodies] of acknowledged) {
      const kept = byId.filter(({ body }) => body.startsWith(`${name} `)).map(({ body }) => body);
      // There may be one more: saved, but its sender was killed before the answer.
      assert.deepEqual(kept.slice(0, bodies.length), bodies);
      assert.ok(kept.length <= bodies.length + (dying.has(name) ? 1 : 0));
    }
  });

  test('the seats of killed servers are closed, and the database is whole', async () => {
    const killed = racers.slice(0, 4);
    await until(() => killed.every(({ pid }) => pid === null || !isRunning(pid)));
    const client = await ws.connect();
    const { peers } = await client.call('msg.peers', {});
    assert.ok(peers.length >= SERVERS - killed.length);
    const db = new Database(join(ws.root, '.svc', 'svc.db'), { readonly: true });
    assert.deepEqual(db.pragma('integrity_check'), [{ integrity_check: 'ok' }]);
    db.close();
  });
});
