import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunWish, withArguments } from '../../engine/workers/agents/presets/index.ts';
import { commandOf, presetOf } from '../support/agents/agent-run.ts';
import { isInstalled } from '../support/agents/agents.ts';
import { type Desk, openDesk } from '../support/agents/matrix.ts';
import { type Figure, figure, median } from './figure.ts';

const ROUNDS = 5;
const TRIVIAL = fileURLToPath(new URL('./tools-child.js', import.meta.url));
const AGENTS = (process.env.SVC_BENCH_AGENTS ?? 'claude,codex,gemini,opencode,qwen,copilot').split(',');

/**
 * Measures what a dispatch adds to an agent that says one word, alternating with the same command in a separate
 * worktree: bare, and with a trivial MCP server and empty hooks, because an agent needs time for those regardless of
 * their source.
 */
export async function agents(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const agent of AGENTS.filter(isInstalled)) {
    const desk = await openDesk({ agent });
    try {
      const ours: number[] = [];
      const bare: number[] = [];
      const equipped: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        bare.push(await runReference(desk, agent, `bare-${round}`, { mcp: null, hooks: null }));
        equipped.push(await runReference(desk, agent, `equipped-${round}`, equipment(desk)));
        const begin = performance.now();
        const run = await desk.run(`Say a word, ${round}.`, () => [{ say: 'Word.' }]);
        const { failure } = await run.ended();
        if (failure !== null) throw new Error(`${agent}: ${failure.code}: ${failure.text}`);
        ours.push(performance.now() - begin);
      }
      figures.push(
        figure(`dispatch of ${agent}, p50 (reference: its bare command)`, median(ours), 'ms', median(bare)),
        figure(
          `dispatch of ${agent}, p50 (reference: with a trivial MCP server and hooks)`,
          median(ours),
          'ms',
          median(equipped),
        ),
      );
    } finally {
      await desk.close();
    }
  }
  return figures;
}

type Equipment = Pick<RunWish, 'mcp' | 'hooks'>;

/** The MCP server and hooks that agents get from us, without an implementation. */
function equipment({ ws }: Desk): Equipment {
  const nothing = { command: process.execPath, args: ['-e', '0'] };
  const args = [TRIVIAL, 'stdio', join(ws.repository.folder, 'trivial')];
  return {
    mcp: { command: process.execPath, args, env: {} },
    hooks: { 'pre-write': nothing, 'post-tool': nothing, 'pre-compact': nothing, 'session-start': nothing },
  };
}

/** The built-in command with only the route to the same model, and its equipment. */
async function runReference(desk: Desk, agent: string, name: string, given: Equipment): Promise<number> {
  const { ws, url } = desk;
  const preset = presetOf(agent);
  const folder = join(ws.repository.folder, name);
  const cwd = join(folder, 'worktree');
  mkdirSync(folder);
  ws.repository.git('worktree', 'add', '-q', '-b', name, cwd);
  const prompt = `Say a word, ${name}.`;
  const promptFile = join(folder, 'prompt.md');
  writeFileSync(promptFile, prompt);
  const { argv, stdinFile } = commandOf(preset, { prompt, promptFile });
  const gateway = { url, key: desk.play(prompt, [{ say: 'Word.' }]) };
  const setUp = preset.setUpRun({ ...given, gateway, folder: join(folder, 'agent'), env: ws.env });
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
  if (code !== 0) throw new Error(`the ${name} ${agent} ended with ${code}`);
  return performance.now() - begin;
}
