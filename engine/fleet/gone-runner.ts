import { SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import { NO_FACTS } from '../workers/agents/index.ts';
import { countBranch, type MachineRunner, NOTHING_KEPT } from '../workers/runner/runs/index.ts';
import type { Worktrees } from '../workers/runner/worktrees/index.ts';

/** Ends the sessions of a machine that was removed: their runs were ended there, and their work is what has arrived here. */
export function createGoneRunner(id: string, worktrees: Pick<Worktrees, 'diffBranch'>): MachineRunner {
  const goneError = (): SvcError =>
    new SvcError('no_runner', `the machine ${id} was removed`, {
      hint: sentence`{runner.list} lists the machines`,
    });
  const refuse = async (): Promise<never> => {
    throw goneError();
  };
  const exit = { code: null, signal: null };
  return {
    place: refuse,
    prepare: refuse,
    start: refuse,
    adopt: async () => ({ state: 'ended', exit }),
    watch: async () => exit,
    stop: async () => undefined,
    collect: async () => ({ facts: NO_FACTS, hasSpoken: true, hasLostSession: false }),
    async keep({ placement, message }) {
      const left = [`its machine ${id} was removed: what had not arrived from there is gone`];
      const { repository = null, branch = null, baseCommit = null } = placement ?? {};
      if (message === null || repository === null || branch === null || baseCommit === null)
        return { ...NOTHING_KEPT, left };
      const kept = await countBranch(worktrees, { repository, head: branch, baseCommit }).catch(
        () => NOTHING_KEPT,
      );
      return { ...kept, left };
    },
    discard: async () => undefined,
    clear: async () => [],
  };
}
