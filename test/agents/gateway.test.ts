import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Step } from '../../fixtures/model/model.ts';
import { openDesk, PROVIDER_KEY } from '../support/agents/matrix.ts';
import { COMMIT, REAL_AGENTS, report, skipped } from '../support/agents/real-agents.ts';
import { until } from '../support/wait.ts';

const provide = (path: string) => (url: string) => ({
  'ai.mode': 'live',
  'ai.providers': [{ name: 'up', base_url: `${url}${path}`, api_key: PROVIDER_KEY }],
});

const passMessages = (url: string) => ({
  'ai.mode': 'live',
  'ai.passthrough.anthropic.base_url': url,
  'ai.passthrough.anthropic.api_key': PROVIDER_KEY,
});

const CHAT = provide('/v1');
const RESPONSES = provide('/v1/responses');
const GEMINI = provide('/v1beta');

/** A provider of the program's own protocol, and others, by the path of model calls. */
const PROVIDERS: Record<string, Record<string, (url: string) => Record<string, unknown>>> = {
  claude: { '/v1/messages': passMessages, '/v1/chat/completions': CHAT, '/v1/responses': RESPONSES },
  codex: { '/v1/responses': RESPONSES, '/v1/chat/completions': CHAT, '/v1/messages': passMessages },
  gemini: { '/v1beta/models/': GEMINI, '/v1/chat/completions': CHAT },
  opencode: { '/v1/chat/completions': CHAT, '/v1/responses': RESPONSES },
  qwen: { '/v1/chat/completions': CHAT, '/v1/messages': passMessages },
};

/** Claude only names our tools; the fake model requests them by itself only in its own protocol. */
const SEARCH: Record<string, Step[]> = {
  claude: [{ call: 'ToolSearch', arguments: { query: 'select:mcp__svc__verify_report', max_results: 1 } }],
};

/** Real agent programs of .ci/agents.sh as workers, through the gateway that the engine opens for them. */
describe('a real agent through the gateway', { concurrency: 2 }, () => {
  for (const [name, providers] of Object.entries(PROVIDERS)) {
    const agent = REAL_AGENTS[name]!;
    describe(name, { skip: skipped(name), timeout: 300_000 }, () => {
      const open = (gateway: (url: string) => Record<string, unknown>) =>
        openDesk({ agent: name, home: agent.home ?? {}, env: agent.env ?? {}, gateway });

      test('the agent gets its answer from a stub, and ends well', async () => {
        const desk = await open(() => ({ 'ai.mode': 'stub' }));
        try {
          const run = await desk.run('Say something.', () => []);
          const ended = await run.ended();
          assert.deepEqual([ended.failure, ended.auth], [null, 'gateway'], run.log());
          const { text } = await desk.here.call('session.log', { session: run.id });
          assert.match(text, /stub answer of the svc gateway/);
          assert.deepEqual(desk.requests(), []);
        } finally {
          await desk.close();
        }
      });

      if (name === 'opencode')
        test('the agent compacts when the window of the model behind the gateway is full', async () => {
          const provider = { name: 'up', api_key: PROVIDER_KEY, model: 'short', context: 100, output: 50 };
          const desk = await open((url) => ({
            'ai.mode': 'live',
            'ai.providers': [{ ...provider, base_url: `${url}/v1` }],
          }));
          try {
            const isCompaction = (body: unknown): boolean =>
              /context summari[sz]ation/.test(JSON.stringify(body).slice(0, 2000));
            const run = await desk.run('Write a greeting.', () => [
              agent.shell('true'),
              { say: 'It is done.' },
            ]);
            await until(
              () => desk.requests().some(({ body }) => isCompaction(body)),
              'a compaction',
              240_000,
            );
            await run.cancel();
            await run.ended();
          } finally {
            await desk.close();
          }
        });

      for (const [path, gateway] of Object.entries(providers))
        test(`the agent works with its own tools and ours at a provider of ${path}`, async () => {
          const desk = await open(gateway);
          try {
            const run = await desk.run('Write a greeting.', (worktree) => [
              agent.write(join(worktree, 'hello.txt')),
              agent.shell(COMMIT),
              ...(SEARCH[name] ?? []),
              ...report(agent),
              { say: 'It is done.' },
            ]);
            const ended = await run.ended();
            assert.deepEqual([ended.failure, desk.failures], [null, []], run.log());
            assert.deepEqual([ended.commits, ended.files, ended.auth], [1, 1, 'gateway']);
            // The gateway requests the model list by itself.
            const asked = desk.requests().filter(({ method }) => method === 'POST');
            assert.ok(asked.length >= 4, `${asked.length} requests`);
            for (const each of asked) {
              assert.equal(each.failed, null, JSON.stringify(each.body).slice(0, 2000));
              assert.ok(each.path.startsWith(path), each.path);
            }
            const { state } = await desk.here.call('verify.status', { session: run.id });
            assert.equal(state, 'reported');
            const { text } = await desk.here.call('session.log', { session: run.id });
            assert.match(text, /It is done\./);
            const { rows } = await desk.here.call('gateway.usage', {
              by: 'session',
            });
            assert.equal(rows.length, 1, JSON.stringify(rows));
            const [row] = rows;
            assert.equal(row?.key, run.id);
            assert.deepEqual(
              [row?.calls, row?.failed, row?.estimated_tokens],
              [asked.length, 0, 0],
              JSON.stringify(row),
            );
          } finally {
            await desk.close();
          }
        });
    });
  }
});
