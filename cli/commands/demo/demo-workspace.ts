import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { locateProgram } from '../../../engine/core/base/own-package.ts';
import { readProgram } from '../../../engine/core/base/run-program.ts';
import { configuration } from '../../../engine/index.ts';
import type { CommandContext } from '../../command.ts';
import { SVC } from '../../self.ts';

export const DEMO_PROMPT = 'Write a greeting for the readers of this repository.';

/** Creates a repository and a workspace with the scripted agent, and returns the environment of its engine. */
export async function makeDemoWorkspace(
  context: Pick<CommandContext, 'env'>,
  folder: string,
  secret: string,
  sections: Readonly<Record<string, unknown>>,
): Promise<NodeJS.ProcessEnv> {
  const readDemoGit = (...args: string[]) => readProgram('git', ['-C', folder, ...args]);
  await mkdir(folder);
  await readDemoGit('init', '-q', '-b', 'main');
  await readDemoGit('config', 'user.name', 'Demo');
  await readDemoGit('config', 'user.email', 'demo@example.invalid');
  await writeFile(join(folder, 'README.md'), '# A small repository\n');
  const more = Object.entries(sections).map(([name, section]) => `${name}: ${JSON.stringify(section)}\n`);
  await writeFile(
    join(folder, 'svc.yaml'),
    `# The scripted agent is a small program that stands in for a coding agent; it is not a model.
workspace: { name: demo }
agents:
  default_preset: scripted
  cmds:
    scripted: ${JSON.stringify(`${quoteForShell(process.execPath)} ${quoteForShell(locateProgram('demo-agent'))} -- {{prompt}}`)}
webhook: { secret_env: SVC_WEBHOOK_SECRET }
${more.join('')}ui: { addr: "127.0.0.1:0" }
`,
  );
  await writeFile(join(folder, '.gitignore'), '.svc/\n');
  const own = Object.entries(context.env).filter(([name]) => !name.startsWith('SVC_'));
  const env = {
    // Keep variables of the caller's own workspace out of the demo.
    ...Object.fromEntries(own),
    SVC_CONFIG: join(folder, 'svc.yaml'),
    SVC_HOME: join(dirname(folder), 'home'),
    SVC_WEBHOOK_SECRET: secret,
  };
  (await configuration()).agreeToFile({ file: env.SVC_CONFIG, env });
  await readDemoGit('add', '.');
  await readDemoGit('commit', '-q', '-m', 'First commit');
  return env;
}

const quoteForShell = (word: string): string => `'${word.replaceAll("'", `'"'"'`)}'`;

/** Runs `svc webhook test` as a separate process, as a person would. */
export async function sendSample(env: NodeJS.ProcessEnv, args: string[]) {
  const answer = await readProgram(process.execPath, [SVC, 'webhook', 'test', '--json', ...args], { env });
  return JSON.parse(answer) as { status: number; body: Record<string, string | boolean | null> };
}
