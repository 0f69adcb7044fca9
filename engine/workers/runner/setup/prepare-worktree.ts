import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { SvcError } from '../../../core/base/errors.ts';
import { makePrivateFolder } from '../../../core/base/private-files.ts';
import { sentence } from '../../../core/base/sentence.ts';
import { appendLogNote, type CommandSupervision, runCommands } from './commands.ts';
import {
  buildSetupEnvironment,
  type PreparedSetup,
  type SetupDeps,
  sessionLog,
  setupFolder,
} from './deps.ts';
import { copyEnvFiles } from './env-files.ts';
import { leadsInto } from './leads-into.ts';
import { type ProjectSetup, requireConsent } from './projects.ts';

function checkInside(worktree: string, place: string): void {
  if (!leadsInto(worktree, place))
    throw new SvcError('worktree_unsafe', `${place} leads out of the worktree`);
}

const markerPath = (worktree: string): string => join(worktree, '.svc', 'set-up');

async function copyProjectFiles(
  deps: SetupDeps,
  project: ProjectSetup,
  { placement, logFile }: Pick<PreparedSetup, 'placement'> & { logFile: string },
  worktree: string,
) {
  const inside = relative(worktree, placement.cwd);
  const left = await copyEnvFiles({
    files: project.envFiles,
    from: project.folder,
    to: placement.cwd,
    scratch: join(worktree, '.svc'),
    isIgnored: (file) => deps.worktrees.isIgnored(worktree, join(inside, file)),
  });
  for (const { file, why } of left) appendLogNote(logFile, 'setup', `${file} was not copied: ${why}`);
}

/** See `WorktreeSetup.prepareWorktree`. */
export async function prepareWorktree(
  deps: SetupDeps,
  run: PreparedSetup,
  follow: CommandSupervision,
): Promise<boolean> {
  const { processes, agentsDir } = deps;
  const { session, placement, runId } = run;
  const { sessionId } = session;
  const logFile = run.logFile ?? sessionLog(agentsDir, sessionId);
  const { worktree, cwd } = placement;
  const folder = setupFolder(agentsDir, sessionId, runId);
  if (worktree === null) return false;
  // A repeated call has the answer of the first.
  if (existsSync(markerPath(worktree))) return existsSync(folder);
  const project = run.setup;
  requireConsent(project);
  if (project.setup.length + project.envFiles.length === 0) return false;
  const failed = (what: string): SvcError =>
    new SvcError('setup_failed', `setup of the project ${project.id}: ${what}`, {
      hint:
        run.logFile === undefined
          ? sentence`{session.log ${sessionId}} shows its output`
          : `${logFile} shows its output`,
    });
  makePrivateFolder(agentsDir, join(agentsDir, sessionId));
  makePrivateFolder(worktree, join(worktree, '.svc'));
  // A repository may hold links in these places.
  for (const place of [join(worktree, '.svc'), cwd]) checkInside(worktree, place);
  if (!existsSync(folder)) await copyProjectFiles(deps, project, { placement, logFile }, worktree);
  makePrivateFolder(agentsDir, folder);
  const env = buildSetupEnvironment(deps, { ...session, port: placement.port });
  const isOfWorkers = session.profile === 'strict' && (await run.isOfWorkers());
  const problem = await runCommands(
    processes,
    {
      what: 'setup',
      commands: project.setup,
      cwd,
      env,
      runId,
      folder,
      logFile,
      confine: async (argv) =>
        isOfWorkers ? deps.confine({ ...session, worktree }, { argv, cwd, env }) : argv,
      isConfined: isOfWorkers,
    },
    follow,
  );
  if (problem !== null) throw failed(problem);
  // The commands may be a worker's, and so may a link here.
  checkInside(worktree, join(worktree, '.svc'));
  rmSync(markerPath(worktree), { force: true });
  writeFileSync(markerPath(worktree), '', { mode: 0o600, flag: 'wx' });
  return true;
}
