import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CHAIR_TOOLS, MANIFEST } from '../../../engine/core/api/manifest.ts';
import { type CallOutcome, connectEditions, type EditionClient } from '../../support/agents/mcp-editions.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

/** Inputs that no tool should accept as they are, and that none may fail on. */
const ODD_INPUTS: Record<string, object> = {
  'an unknown field': { no_such_field: 1 },
  nothing: {},
  'huge text': { id: 'x'.repeat(200_000), path: 'x'.repeat(200_000), prompt: 5 },
  'text of several scripts': { id: 'täsk-任务-🛠', path: 'ไฟล์/文件.txt', title: '\u202Eabc\u0000' },
};

/** Tools that change something without any input, or whose answer differs from call to call. */
const CHANGES_WITHOUT_INPUT = new Set(['verify_rerun', 'memory_distill']);

const outline = (outcome: CallOutcome): string =>
  'result' in outcome
    ? 'a result'
    : 'refused' in outcome
      ? `refused: ${outcome.refused}`
      : `failed: ${outcome.failed}`;

describe('every edition of the official client', { timeout: 300_000 }, () => {
  let ws: TestWorkspace;
  let clients: EditionClient[];
  let seated: EditionClient[];
  before(async () => {
    ws = await makeWorkspace();
    await ws.svc(['up']);
    clients = await connectEditions(ws);
    seated = await connectEditions(ws, { SVC_SESSION: 'planner' });
  });
  after(async () => {
    for (const client of [...(clients ?? []), ...(seated ?? [])]) await client.close();
    await ws.close();
  });

  test('each client lists the same tools', async () => {
    for (const client of clients) assert.deepEqual(await client.tools(), [...MANIFEST], client.name);
    const [first, ...others] = await Promise.all(seated.map((client) => client.tools()));
    for (const tools of others) assert.deepEqual(tools, first);
    for (const name of CHAIR_TOOLS) assert.ok(!first?.includes(name), name);
  });

  for (const [what, input] of Object.entries(ODD_INPUTS))
    test(`each client gets the same answer of every tool to ${what}`, async () => {
      for (const tool of MANIFEST) {
        if (CHANGES_WITHOUT_INPUT.has(tool)) continue;
        const outcomes = await Promise.all(
          clients.map(async (client) => `${outline(await client.call(tool, input))}`),
        );
        assert.equal(new Set(outcomes).size, 1, `${tool}: ${outcomes.join('; ')}`);
        assert.doesNotMatch(outcomes[0] ?? '', /internal|failed/, tool);
      }
    });

  test('each client of another seat is refused the tools of the Chair', async () => {
    for (const tool of CHAIR_TOOLS)
      for (const client of seated)
        assert.equal(outline(await client.call(tool, {})), 'refused: chair_only', `${tool}, ${client.name}`);
  });

  test('all clients work on one engine at once, and each sees what the others did', async () => {
    const rounds = 10;
    await Promise.all(
      clients.map(async (client) => {
        for (let round = 0; round < rounds; round += 1) {
          const body = `${client.name} ${round}`;
          const sent = await client.call('msg_send', { body, to_session: 'planner' });
          assert.ok('result' in sent, JSON.stringify(sent));
          const added = await client.call('task_add', { title: body });
          assert.ok('result' in added, JSON.stringify(added));
        }
      }),
    );
    const listed = await clients[0]?.call('task_list', { limit: 1000 });
    assert.ok(listed !== undefined && 'result' in listed);
    const titles = (listed.result as { tasks: { title: string }[] }).tasks.map(({ title }) => title);
    const own = titles.filter((title) => / over (?:stdio|HTTP) \d$/.test(title));
    assert.equal(own.length, clients.length * rounds);
    assert.equal(new Set(own).size, own.length);
    for (const client of seated) {
      const inbox = await client.call('msg_inbox', {});
      assert.ok('result' in inbox, JSON.stringify(inbox));
      const { unread, read } = inbox.result as { unread: number; read: number };
      assert.equal(unread + read, clients.length * rounds, client.name);
    }
  });
});
