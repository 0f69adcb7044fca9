import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { Log } from '../../core/base/log.ts';
import type { ChangeLog } from '../change-log.ts';
import type { LinkedWorkspace, Tables } from '../database/tables.ts';
import type { TokenChanges } from '../database/token-changes.ts';
import type { DecisionFollower } from '../decision-follower.ts';
import type { AccountPlans } from '../plans/plans.ts';
import { createWorkspaceEnds, type WorkspaceEnds } from './end-workspaces.ts';
import { cleanWorkspaceName, createWorkspaceLinker, type WorkspaceLinker } from './link-workspace.ts';
import { createSightings } from './sightings.ts';
import { createWorkspaceLists, type WorkspaceLists } from './workspace-lists.ts';
import { createWorkspaceTokens, type WorkspaceReporter, type WorkspaceTokens } from './workspace-tokens.ts';

/** Workspaces linked from machines of an account, each with its own token. */
export interface WorkspaceLinks extends WorkspaceLists, WorkspaceLinker, WorkspaceTokens, WorkspaceEnds {
  /** Finds a workspace of the account; null for any other. */
  find(account: string, id: string): Promise<LinkedWorkspace | null>;
  /** Finds a linked workspace of any account; null for any other. */
  findLinked(id: string): Promise<LinkedWorkspace | null>;
  rename(workspace: WorkspaceReporter, name: string): Promise<void>;
  /** Writes the last-seen times. */
  close(): Promise<void>;
}

export function createWorkspaces({
  db,
  clock,
  log,
  changes,
  plans,
  follower,
  tokenChanges,
  eraseDeleted,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  log: Log;
  changes: ChangeLog;
  plans: Pick<AccountPlans, 'requireRoom'>;
  follower: DecisionFollower;
  tokenChanges: TokenChanges | null;
  eraseDeleted(): Promise<void>;
}): WorkspaceLinks {
  const sightings = createSightings({ db, clock, log });
  return {
    ...createWorkspaceLists(db),
    ...createWorkspaceLinker({ db, clock, changes, plans }),
    ...createWorkspaceTokens({ db, tokenChanges, sightings }),
    ...createWorkspaceEnds({ db, clock, changes, follower, eraseDeleted }),
    async find(account, id) {
      const found = await db
        .selectFrom('workspaces')
        .selectAll()
        .where('id', '=', id)
        .where('account_id', '=', account)
        .executeTakeFirst();
      return found ?? null;
    },
    async findLinked(id) {
      const found = await db
        .selectFrom('workspaces')
        .selectAll()
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .executeTakeFirst();
      return found ?? null;
    },
    async rename(workspace, name) {
      const next = cleanWorkspaceName(name);
      if (next !== workspace.name)
        await db.updateTable('workspaces').set({ name: next }).where('id', '=', workspace.id).execute();
    },
    close: sightings.close,
  };
}
