import type { Board } from '../../board/index.ts';
import { findProjectEntry } from '../../core/workspace/project-entry.ts';
import type { Dispatcher } from '../../dispatch/index.ts';
import {
  combinePolicies,
  createAutomaticPullRequests,
  createPullRequestOrders,
  createPullRequestRecords,
  type PullRequestPolicy,
} from '../../pull-requests/index.ts';
import { buildPersonEnvironment } from './person-environment.ts';
import type { SharedDependencies } from './shared-dependencies.ts';
import type { WorkerModules } from './workers.ts';

/** Builds `engine/pull-requests`. */
export function createPullRequestModule(
  shared: SharedDependencies,
  { sessions, worktrees }: WorkerModules,
  board: Board<Dispatcher>,
) {
  const { storage, events, clock, log, root, config, closing } = shared;
  const preparation = {
    sessions,
    worktrees,
    records: createPullRequestRecords(storage, clock),
    readEvidence: board.evidence,
    getTask: board.tasks.get,
    readPolicy: ({
      template,
      project,
    }: {
      template: string | null;
      project: string | null;
    }): PullRequestPolicy =>
      combinePolicies(
        template === null ? undefined : config().webhook.templates[template],
        findProjectEntry(root, config(), project),
      ),
  };
  const orders = createPullRequestOrders(storage, clock);
  const automatic = createAutomaticPullRequests({
    ...{ ...preparation, storage, events, clock, log, orders },
    env: () => buildPersonEnvironment(shared),
  });
  closing(automatic.close);
  return { preparation, orders, automatic };
}
