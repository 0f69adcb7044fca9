import { realpathSync } from 'node:fs';
import { asSvcError, SvcError } from '../../../core/base/errors.ts';
import type { AgentRegistry } from '../../agents/index.ts';
import { resolveProgram } from '../processes/index.ts';
import type { WorktreeSetup } from '../setup/index.ts';
import type { WorktreeStart, Worktrees } from '../worktrees/index.ts';
import type { ProjectCheckout, ProjectReader, RunOrigin } from './runner.ts';

const followLinks = (path: string): string => {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
};

/** A folder outside any repository is fine for work in the folder itself: then there is nothing to count at its end. */
async function findOriginInside(
  worktrees: Pick<Worktrees, 'findRepository'>,
  folder: string,
): Promise<RunOrigin> {
  const repository = await worktrees.findRepository(folder).catch((error: unknown) => {
    if (asSvcError(error).code === 'worktree_unsafe') throw error;
    return null;
  });
  return {
    folder,
    repository: repository?.root ?? null,
    inside: '',
    base: repository?.head ?? null,
    baseCommit: repository?.headCommit ?? null,
    inplace: true,
  };
}

async function findStartOfWorktree(
  worktrees: Pick<Worktrees, 'findStart'>,
  folder: string,
  base: string | null,
): Promise<WorktreeStart> {
  try {
    const wanted = base === null ? {} : { base };
    return await worktrees.findStart({ repositoryPath: folder, projectPath: folder, ...wanted });
  } catch (error) {
    const { code, message } = asSvcError(error);
    if (code !== 'not_a_repository') throw error;
    throw new SvcError(code, message, {
      cause: error,
      hint: 'run git init and commit, or dispatch with --inplace to work in the folder itself',
    });
  }
}

export function createProjectReader(deps: {
  worktrees: Pick<Worktrees, 'findCheckedOut' | 'findStart' | 'findRepository' | 'findUserIdentity'>;
  setup: Pick<WorktreeSetup, 'readProjectSetup' | 'digestProjectSetup' | 'checkConsent'>;
  agents: Pick<AgentRegistry, 'resolveFolder'>;
  environment(extra: Record<string, string>): Record<string, string>;
}): ProjectReader {
  /** Cached until the current synchronous work is done: requests that are committed together read the disk once. */
  const checkouts = new Map<string, ProjectCheckout>();
  return {
    readCheckout(path) {
      const before = checkouts.get(path);
      if (before !== undefined) return before;
      const folder = followLinks(path);
      const found = { folder, base: deps.worktrees.findCheckedOut(folder) };
      if (checkouts.size === 0) queueMicrotask(() => checkouts.clear());
      checkouts.set(path, found);
      return found;
    },
    async findOrigin({ project, base, inplace }) {
      const folder = deps.agents.resolveFolder(project);
      if (inplace) return findOriginInside(deps.worktrees, folder);
      return { folder, ...(await findStartOfWorktree(deps.worktrees, folder, base)), inplace };
    },
    findAuthor: (folder) => deps.worktrees.findUserIdentity(folder).catch(() => ({})),
    readSetup: deps.setup.readProjectSetup,
    digestSetup: deps.setup.digestProjectSetup,
    checkConsent: deps.setup.checkConsent,
    checkProgram: (program, folder) => void resolveProgram(program, folder, deps.environment({}).PATH),
  };
}
