import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, test } from 'node:test';
import { AGENTS_BIN, missing } from '../support/agents/agents.ts';
import { makeWorkspace } from '../support/workspaces/workspace.ts';

/**
 * Real agent programs, installed by .ci/agents.sh, run by a dispatch until they exit. No model is reachable, so they
 * fail: the failure must be recorded correctly, and no process may survive.
 */
describe('a real agent program without a model', () => {
  const cases = [
    // Without a login it reports an error and exits.
    { agent: 'qwen', codes: ['auth_failed'], says: /auth/i },
    // The agent waits for the network as long as it may.
    { agent: 'codex', codes: ['timeout', 'exit_code'], says: /"type":"(thread\.started|error)"/ },
  ];
  for (const { agent, codes, says } of cases) {
    test(`${agent} ends with its own failure, recorded, and leaves no process`, {
      timeout: 120_000,
    }, async (t) => {
      const why = missing(agent);
      if (why) return t.skip(why);
      const ws = await makeWorkspace();
      try {
        // An empty home, without the login and settings of the user who runs the tests.
        const env = {
          HOME: ws.repository.folder,
          PATH: `${AGENTS_BIN}${delimiter}${ws.env.PATH}`,
          OPENAI_API_KEY: '',
        };
        await ws.svc(['up'], { env });
        const ran = await ws.svc([
          'task',
          'add',
          'say hello',
          '-a',
          agent,
          '-p',
          'Create hello.txt and commit it.',
          '--run',
          '-f',
          '--timeout',
          '15',
          '--json',
        ]);
        assert.equal(ran.code, 1);
        const { task } = ran.json<{
          task: { session_id: string; status: string; failure: { code: string } };
        }>();
        assert.equal(task.status, 'failed');
        assert.ok(codes.includes(task.failure.code), task.failure.code);
        assert.match(readFileSync(join(ws.root, '.svc', 'agents', task.session_id, 'log'), 'utf8'), says);
        assert.deepEqual(ws.survivors(), []);
      } finally {
        await ws.close();
      }
    });
  }
});
