import { basename } from 'node:path';
import { asSvcError, type ProblemDetails, SvcError, toProblem } from '../../core/base/errors.ts';
import {
  type GitRepository,
  readCommonDir,
  realFolder,
  SESSION_PREFIX,
} from '../../workers/runner/worktrees/index.ts';
import type { WorktreeActionsDeps } from './deps.ts';

/** A repository that could not be fully read, and why. */
export interface RepositoryProblem extends ProblemDetails {
  /** Its top folder, or the project's folder if that is unknown. */
  repository: string;
}

/** The repositories that contain a workspace's projects. */
export interface WorkspaceRepositories {
  /**
   * Lists each repository once, with any number of projects, and unreadable ones. Throws if none can be read, or the
   * named project's cannot.
   */
  findRepositories(project?: string): Promise<{ found: GitRepository[]; problems: RepositoryProblem[] }>;
  /** Finds which session worktrees belong to other repositories, since all of them share one folder. */
  findForeignFolders(
    all: readonly GitRepository[],
  ): (repository: GitRepository) => (folder: string) => boolean;
}

/** Converts a problem to an error. */
export const problemToError = ({ code, message, hint }: ProblemDetails): SvcError =>
  new SvcError(code, message, hint === null ? {} : { hint });

export function createWorkspaceRepositories({
  sessions,
  worktrees,
  worktreesDir,
  resolveFolder: folderOf,
  listProjects,
}: Pick<
  WorktreeActionsDeps,
  'sessions' | 'worktrees' | 'worktreesDir' | 'resolveFolder' | 'listProjects'
>): WorkspaceRepositories {
  /** A project without a repository is only a problem if its sessions have worktrees. */
  const isWithoutRepository = (project: string | null, problem: ProblemDetails): boolean =>
    ['not_a_repository', 'repository_empty'].includes(problem.code) &&
    !sessions
      .list({ limit: 100_000 })
      .some((session) => session.project === project && session.worktree !== null);

  return {
    async findRepositories(project) {
      const found = new Map<string, GitRepository>();
      const problems: RepositoryProblem[] = [];
      for (const each of project === undefined ? listProjects() : [project]) {
        const folder = folderOf(each);
        try {
          const repository = await worktrees.findRepository(folder);
          found.set(repository.commonDir, repository);
        } catch (error) {
          if (project !== undefined) throw error;
          const problem = toProblem(asSvcError(error));
          if (!isWithoutRepository(each, problem)) problems.push({ repository: folder, ...problem });
        }
      }
      if (found.size === 0 && problems.length > 0) throw problemToError(problems[0]!);
      return { found: [...found.values()], problems };
    },

    findForeignFolders(all) {
      const owners = worktrees.findOwners(
        worktreesDir,
        all.map(({ commonDir }) => commonDir),
      );
      // A worktree unknown to every repository belongs to its session's, otherwise to the workspace's own.
      const findOfSession = (folder: string): string | null => {
        const session = sessions.byBranch(`${SESSION_PREFIX}${basename(folder)}`);
        return readCommonDir(session?.repository ?? folderOf(null));
      };
      return ({ commonDir }) =>
        (folder) => {
          const owner = owners.get(realFolder(folder)) ?? findOfSession(folder);
          return owner !== null && owner !== realFolder(commonDir);
        };
    },
  };
}
