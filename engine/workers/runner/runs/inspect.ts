import { type ProblemDetails, toProblem } from '../../../core/base/errors.ts';
import { resolveProgram } from '../processes/index.ts';
import { SESSION_PREFIX } from '../worktrees/index.ts';
import type { LocalRunnerDeps } from './deps.ts';
import type { InspectOrder, RunInspection } from './runner.ts';

/** See `Runner.inspect`. */
export async function inspectProject(
  deps: Pick<LocalRunnerDeps, 'agents' | 'setup' | 'worktrees' | 'environment' | 'checkConfinement'>,
  { project, programs, base, isConfined }: InspectOrder,
): Promise<RunInspection> {
  let problem: ProblemDetails | null = null;
  /** The first problem is the one that a run would fail with. */
  async function tryTo<T>(look: () => T | Promise<T>): Promise<T | null> {
    try {
      return await look();
    } catch (thrown) {
      const found = toProblem(thrown);
      problem ??= found;
      return null;
    }
  }
  const folder = await tryTo(() => deps.agents.resolveFolder(project));
  if (folder !== null)
    await tryTo(() => deps.setup.checkConsent({ project, inplace: false, worktree: null, continues: null }));
  const carries = folder === null ? null : await tryTo(() => deps.setup.readProjectSetup(project));
  const origin =
    folder === null
      ? null
      : await tryTo(() =>
          deps.worktrees.findOrigin({
            repositoryPath: folder,
            projectPath: folder,
            ...(base === null ? {} : { base }),
          }),
        );
  if (folder !== null)
    for (const program of programs)
      await tryTo(() => resolveProgram(program, folder, deps.environment({}).PATH));
  if (isConfined) await tryTo(() => deps.checkConfinement());
  return {
    folder,
    carries,
    repository: origin?.repository ?? null,
    base: origin?.base ?? origin?.baseCommit ?? null,
    baseCommit: origin?.baseCommit ?? null,
    branchPrefix: SESSION_PREFIX,
    problem,
  };
}
