import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withArguments } from '../../engine/workers/presets/index.ts';
import { commandOf, presetOf } from '../support/agent-run.ts';
import { isInstalled } from '../support/agents.ts';
import { type Desk, openDesk } from '../support/matrix.ts';
import { type Figure, figure, median } from './figure.ts';

const ROUNDS = 5;
const AGENTS = (process.env.SVC_BENCH_AGENTS ?? 'claude,codex,gemini,opencode,qwen,copilot').split(',');

/** What a dispatch adds to an agent that says one word: the same command bare, in a worktree of its own, in turns with it. */
export async function agents(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const agent of AGENTS.filter(isInstalled)) {
    const desk = await openDesk({ agent });
    try {
      const ours: number[] = [];
      const bare: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        bare.push(await runBare(desk, agent, round));
        const begin = performance.now();
        const run = await desk.run(`Say a word, ${round}.`, () => [{ say: 'Word.' }]);
        const { failure } = await run.ended();
        if (failure !== null) throw new Error(`${agent}: ${failure.code}: ${failure.text}`);
        ours.push(performance.now() - begin);
      }
      figures.push(
        figure(`dispatch of ${agent}, p50 (reference: its bare command)`, median(ours), 'ms', median(bare)),
      );
    } finally {
      await desk.close();
    }
  }
  return figures;
}

/** The built-in command with nothing but the route to the same model. */
async function runBare(desk: Desk, agent: string, round: number): Promise<number> {
  const { ws, url } = desk;
  const preset = presetOf(agent);
  const folder = join(ws.repository.folder, `bare-${round}`);
  const cwd = join(folder, 'worktree');
  mkdirSync(folder);
  ws.repository.git('worktree', 'add', '-q', '-b', `bare-${round}`, cwd);
  const prompt = `Say a bare word, ${round}.`;
  const promptFile = join(folder, 'prompt.md');
  writeFileSync(promptFile, prompt);
  const { argv, stdinFile } = commandOf(preset, { prompt, promptFile });
  const gateway = { url, key: desk.play(prompt, [{ say: 'Word.' }]) };
  const setUp = preset.setUp({ mcp: null, hooks: null, gateway, folder: join(folder, 'agent'), env: ws.env });
  for (const { path, text } of setUp.files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  const [program = '', ...words] = withArguments(argv, setUp.args);
  const stdin = openSync(stdinFile ?? '/dev/null', 'r');
  const begin = performance.now();
  const child = spawn(program, words, {
    cwd,
    env: { ...ws.env, ...setUp.env },
    stdio: [stdin, 'ignore', 'ignore'],
  });
  const [code] = (await once(child, 'close')) as [number | null];
  closeSync(stdin);
  if (code !== 0) throw new Error(`the bare ${agent} ended with ${code}`);
  return performance.now() - begin;
}
