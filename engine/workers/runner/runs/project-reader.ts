import { realpathSync } from 'node:fs';
import { resolveProgram } from '../processes/index.ts';
import type { WorktreeSetup } from '../setup/index.ts';
import type { Worktrees } from '../worktrees/index.ts';
import type { ProjectCheckout, ProjectReader } from './runner.ts';

const followLinks = (path: string): string => {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
};

export function createProjectReader(deps: {
  worktrees: Pick<Worktrees, 'findCheckedOut'>;
  setup: Pick<WorktreeSetup, 'digestProjectSetup' | 'checkConsent'>;
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
    digestSetup: deps.setup.digestProjectSetup,
    checkConsent: deps.setup.checkConsent,
    checkProgram: (program, folder) => void resolveProgram(program, folder, deps.environment({}).PATH),
  };
}
