import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assertArrived, type Desk, openDesk } from '../support/agents/matrix.ts';
import { REAL_AGENTS, skipped } from '../support/agents/real-agents.ts';
import { until } from '../support/wait.ts';

const CONTENT = 'The content of a file that nobody asked for.';
/**
 * Agents that pass on untrusted text without a rule of ours;
 * `test/engine/workers/agents/presets/escape-prompt.test.ts` has the rules.
 */
const WITHOUT_RULE = ['codex', 'opencode', 'copilot', 'kimi'];
const PROMPTS = ['/help @x.txt', '/greet me', '@x.txt has what to do', '!ls'];

async function withDesk(agent: string, work: (desk: Desk) => Promise<void>): Promise<void> {
  const { home = {}, env = {} } = REAL_AGENTS[agent] ?? {};
  const desk = await openDesk({ agent, home, env });
  try {
    await work(desk);
  } finally {
    await desk.close();
  }
}

describe('how real agents treat a prompt', { concurrency: 1 }, () => {
  for (const agent of WITHOUT_RULE)
    test(
      `${agent} runs no command from it and includes no file that it names`,
      { skip: skipped(agent) },
      () =>
        withDesk(agent, async (desk) => {
          desk.ws.repository.commit(
            {
              'x.txt': CONTENT,
              '.claude/commands/greet.md': CONTENT,
              '.opencode/command/greet.md': CONTENT,
              '.github/skills/greet/SKILL.md': `---\nname: greet\ndescription: greets\n---\n${CONTENT}\n`,
            },
            'What a prompt may name',
          );
          for (const prompt of PROMPTS) {
            const run = await desk.run(prompt, () => [{ say: 'Read.' }]);
            assert.equal((await run.ended()).failure, null, run.log());
            assertArrived(run.requests(), prompt);
            assert.ok(!JSON.stringify(run.requests()).includes(CONTENT), prompt);
          }
        }),
    );

  test('copilot resumes its own session after it was killed', { skip: skipped('copilot') }, () =>
    withDesk('copilot', async (desk) => {
      const { here } = desk;
      const again = { when: 'You were interrupted', steps: [{ say: 'Back.' }] };
      const run = await desk.run('Remember the word quagga.', () => [{ hang: true }], { again });
      await until(() => run.requests().length > 0, 'its first request', 120_000);
      await here.call('worker.kill', { session: run.id });
      assert.match((await run.ended()).agent_session ?? '', /^[0-9a-f-]{36}$/);
      const { session_id } = await here.call('worker.resume', { session: run.id });
      await until(
        async () => (await here.call('session.show', { session: session_id })).state === 'ended',
        'the end of the second',
        120_000,
      );
      const last = JSON.stringify(desk.requests().at(-1)?.body);
      assert.ok(last.includes('quagga') && last.includes('You were interrupted'), last.slice(0, 2000));
    }),
  );
});
