import { readFile } from 'node:fs/promises';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { connectToEngine } from '../../../engine/index.ts';
import { type Command, defineCommand } from '../../command.ts';
import { createEngineLink } from '../../link.ts';
import { getDaemonCommand, getSvcCommand } from '../../self.ts';

/** `svc acp run`: the process of a worker on transport acp. The engine starts it. */
const runCommand = defineCommand({
  name: 'acp run',
  about: 'run an agent for one prompt over the agent client protocol',
  hidden: true,
  args: [{ name: 'command', about: 'the command that serves the protocol', rest: true }],
  flags: {
    promptFile: { type: 'string', value: 'file', about: 'the prompt' },
    resume: { type: 'string', value: 'session', about: 'resume this session of the agent' },
  },
  examples: ['acp run --prompt-file prompt.md -- opencode acp'],
  async run({ args, flags, cwd, env, stdout, stderr, signal }) {
    const { promptFile, resume } = flags;
    if (promptFile === undefined) {
      throw new SvcError('usage', 'svc acp run needs --prompt-file', { hint: 'svc acp run --help' });
    }
    const prompt = await readFile(promptFile, 'utf8').catch((error: Error) => {
      throw new SvcError('not_found', `no prompt in ${promptFile}: ${error.message}`, { cause: error });
    });
    const link = createEngineLink(
      // If someone has stopped the engine, a worker continues without it and does not restart it.
      () => connectToEngine({ cwd, env, daemon: getDaemonCommand(), afterCrash: true }),
      { patienceMs: Number.POSITIVE_INFINITY, waitsForFirst: true },
    );
    const [program = '', ...words] = getSvcCommand();
    const { runAcp } = await import('../../acp/run.ts');
    return runAcp({
      argv: args,
      prompt,
      resume: resume ?? null,
      cwd,
      env,
      stdout,
      stderr,
      signal,
      link,
      mcp: { command: program, args: [...words, 'mcp'] },
    });
  },
});

export const acpCommands: readonly Command[] = [runCommand];
