import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Step } from '../../fixtures/model/model.ts';
import { openDesk } from '../support/agents/matrix.ts';
import { COMMIT, REAL_AGENTS, skipped } from '../support/agents/real-agents.ts';

const SUMS = `export function sumByDay(entries, zone) {
  const sums = new Map();
  for (const entry of entries) {
    if (entry.amount <= 0 || entry.isVoid) continue;
    const day = formatDay(entry.at, zone);
    const before = sums.get(day) ?? 0;
    sums.set(day, before + entry.amount * (1 + entry.tax / 100));
  }
  return [...sums].sort(([one], [other]) => (one < other ? -1 : 1));
}
`;
const COPY = SUMS.replaceAll('sumByDay', 'totals').replaceAll('entry', 'row').replaceAll('sums', 'all');
const IMPORT = "export { sumByDay as totals } from './sums.js';\n";

type Write = (path: string, text: string) => Step & { call: string };

const patch = (path: string, text: string): string =>
  `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${path}\n${text.trimEnd().replace(/^/gm, '+')}\n*** End Patch\nEOF`;

const WRITES: Readonly<Record<string, Write>> = {
  claude: (path, text) => ({ call: 'Write', arguments: { file_path: path, content: text } }),
  codex: (path, text) => ({ call: 'exec_command', arguments: { cmd: patch(path, text) } }),
};

describe('the guard of a real agent', { concurrency: 2 }, () => {
  for (const [name, write] of Object.entries(WRITES)) {
    const { home = {}, env = {}, shell } = REAL_AGENTS[name]!;
    test(`${name} writes a copy, learns where the original is, and imports it`, {
      skip: skipped(name),
      timeout: 300_000,
    }, async () => {
      const desk = await openDesk({ agent: name, home, env, flags: { 'guard.dup.mode': 'block' } });
      try {
        desk.ws.repository.commit({ 'src/sums.js': SUMS }, 'Sums');
        const run = await desk.run('Sum the rows by day.', (worktree) => [
          // The agent's first reads make svc index its worktree.
          shell('ls src'),
          shell('cat src/sums.js'),
          { ...write(join(worktree, 'src/totals.js'), COPY), isRefused: true },
          write(join(worktree, 'src/totals.js'), IMPORT),
          shell(COMMIT),
          { say: 'It uses what is there.' },
        ]);
        const ended = await run.ended();
        assert.deepEqual([ended.failure, desk.failures], [null, []], run.log());
        const last = JSON.stringify(run.requests().at(-1)?.body);
        assert.match(last, /src\/totals\.js:1-10 \(totals\) repeats src\/sums\.js:1-10 \(sumByDay\)/);
        assert.equal(`${desk.ws.repository.git('show', `${ended.branch}:src/totals.js`)}\n`, IMPORT);
      } finally {
        await desk.close();
      }
    });
  }
});
