import { realpathSync } from 'node:fs';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { toPrintable } from '../../../engine/core/base/text.ts';
import { agentPrograms, findWorkspace } from '../../../engine/index.ts';
import type { CommandContext } from '../../command.ts';
import { askForYes } from '../../confirm.ts';
import { renderSummary } from '../../help.ts';
import { canShowDashboard, openDashboardOf } from './dash.ts';
import { findGitRoot } from './init.ts';

type Around = Pick<CommandContext, 'cwd' | 'env' | 'stdin' | 'stdout' | 'stderr' | 'signal'>;

/**
 * Runs `svc` without arguments outside a workspace: introduces svc and, at a terminal in a git repository, offers to
 * create the workspace and its first task. Returns the exit code; null inside a workspace.
 * @param run runs another command line
 */
export async function introduceSvc(
  around: Around,
  run: (words: readonly string[]) => Promise<number>,
): Promise<number | null> {
  if (!isOutsideWorkspace(around)) return null;
  const { cwd, env, stdin, stdout, stderr } = around;
  stdout.write(renderSummary());
  if (!stdin.isTTY || !stdout.isTTY) return 0;
  const root = await findGitRoot(cwd, env);
  if (root === undefined) return 0;
  stderr.write('\n');
  const where = root === realpathSync(cwd) ? '' : ` in ${root}`;
  const isWanted = await askForYes(around, `No workspace here yet. Create one${where}?`, { usual: 'yes' });
  if (!isWanted) return 0;
  const code = await run(['init', '--dir', root]);
  if (code !== 0 || !canShowDashboard(around) || !(await hasAgent(env))) return code;
  for (const line of await openDashboardOf(around, { cwd: root, env, firstTask: true }))
    stdout.write(`${toPrintable(line)}\n`);
  stderr.write('the engine keeps running; svc down stops it\n');
  return 0;
}

/** Throws the error of a workspace that cannot be used, such as a wrong SVC_CONFIG. */
function isOutsideWorkspace({ cwd, env }: Pick<Around, 'cwd' | 'env'>): boolean {
  try {
    findWorkspace({ cwd, env });
    return false;
  } catch (error) {
    if (error instanceof SvcError && error.code === 'no_workspace' && !env.SVC_CONFIG) return true;
    throw error;
  }
}

/** Without an agent a first task would only fail. */
async function hasAgent(env: NodeJS.ProcessEnv): Promise<boolean> {
  const { detectAgents, HEADLESS } = await agentPrograms();
  return detectAgents(HEADLESS, env).length > 0;
}
