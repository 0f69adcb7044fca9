import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openDesk } from '../support/agents/matrix.ts';
import { COMMIT, REAL_AGENTS, skipped } from '../support/agents/real-agents.ts';
import { until } from '../support/wait.ts';

const SUMS = `// Amounts.

export function sumByDay(entries) {
  return entries.reduce((sum, { amount }) => sum + amount, 0);
}
`;

describe('an answer that names a symbol', { concurrency: 2 }, () => {
  for (const name of ['claude', 'codex']) {
    const { home = {}, env = {}, shell } = REAL_AGENTS[name]!;
    test(`reaches ${name} with the file and the line, from which it reads on`, {
      skip: skipped(name),
      timeout: 300_000,
    }, async () => {
      const desk = await openDesk({ agent: name, home, env, flags: { 'paths.shared': 'src/shared' } });
      try {
        desk.ws.repository.commit({ 'src/shared/sums.js': SUMS }, 'Sums');
        const run = await desk.run('Sum the rows by day.', () => [
          { call: 'ask', arguments: { question: 'Is there something that sums?' } },
          shell(String.raw`sed -n {{ask./(?<=js:)\d+/}}p {{ask./src[^:]+/}} > found.txt`),
          shell(COMMIT),
          { say: 'It uses what is there.' },
        ]);
        const asked = await until(async () => {
          const { asks } = await desk.here.call('ask.list', { status: 'open' });
          return asks[0];
        });
        await desk.here.call('ask.answer', {
          id: asked.id,
          answer: 'yes, use that',
          symbol_ref: { symbol: 'sumByDay' },
        });
        const ended = await run.ended();
        assert.deepEqual([ended.failure, desk.failures], [null, []], run.log());
        const found = desk.ws.repository.git('show', `${ended.branch}:found.txt`);
        assert.equal(found, 'export function sumByDay(entries) {');
      } finally {
        await desk.close();
      }
    });
  }
});
