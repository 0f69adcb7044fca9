import type { Storage } from '../../storage/index.ts';
import type { SavedRef, Worktrees } from '../../workers/runner/worktrees/index.ts';
import { defineRetentionKind, type RemovableItem, type RetentionKind } from './kind.ts';
import { IS_SETTLED } from './settled.ts';

interface RepositoryRef extends SavedRef {
  repository: string;
  sessionId: number;
}

interface OwnerRow {
  id: number;
  head_commit: string | null;
  branch_state: string | null;
  /** The latest time when its branch was removed. */
  over_at: number;
  is_settled: number;
  discarded_at: number | null;
  head: string | null;
  detached: string | null;
  files: string | null;
}

type Wanted = Pick<Worktrees, 'listSavedRefs' | 'deleteSavedRefs' | 'isTakenIn'>;

/**
 * Saved commits of removed branches. `merged`: of work in other branches; `discarded`: of discarded work, which can
 * be restored until then. Refs of another workspace, and all others, are left alone.
 */
export function refRetention({
  of,
  storage,
  worktrees,
}: {
  of: 'merged' | 'discarded';
  storage: Storage;
  worktrees: Wanted;
}): RetentionKind {
  const { db } = storage;
  const repositories = db.prepare<unknown[], { repository: string }>(
    'SELECT DISTINCT repository FROM session WHERE repository IS NOT NULL AND branch IS NOT NULL',
  );
  const ownerOf = db.prepare<unknown[], OwnerRow>(`SELECT s.id, s.head_commit, s.branch_state,
      max(coalesce(s.promoted_at, 0), s.ended_at) AS over_at, ${IS_SETTLED} AS is_settled,
      w.at AS discarded_at, w.head, w.detached, w.files
    FROM session s LEFT JOIN discarded_work w ON w.session_id = s.id AND w.is_done = 1
    WHERE s.branch = ? AND s.repository = ? ORDER BY s.id DESC LIMIT 1`);
  const forget = db.prepare('DELETE FROM discarded_work WHERE session_id = ? AND is_done = 1 AND at < ?');

  /** Reports whether a ref is of this kind, and old enough. */
  async function isExpiredRef(
    { repository, commit }: RepositoryRef,
    owner: OwnerRow,
    cutoff: number,
  ): Promise<boolean> {
    const isDiscarded = [owner.head, owner.detached, owner.files].includes(commit);
    if (owner.discarded_at !== null && isDiscarded)
      return of === 'discarded' && owner.branch_state === 'discarded' && owner.discarded_at < cutoff;
    if (of === 'discarded' || owner.is_settled !== 1 || owner.over_at >= cutoff) return false;
    if (owner.branch_state === 'discarded' || owner.branch_state === 'gone')
      return worktrees.isTakenIn(repository, commit);
    // A person may have committed on it after the run.
    return commit === owner.head_commit || worktrees.isTakenIn(repository, commit);
  }

  return defineRetentionKind<RepositoryRef>({
    key: of === 'merged' ? 'refs' : 'discarded',
    label: of === 'merged' ? 'saved commits of merged branches' : 'discarded work that can be restored',
    async *find(cutoff) {
      for (const { repository } of repositories.all()) {
        const refs = await worktrees.listSavedRefs(repository).catch(() => []);
        const found: RemovableItem<RepositoryRef>[] = [];
        for (const ref of refs) {
          const owner = ownerOf.get(ref.branch, repository);
          if (owner === undefined) continue;
          const item = { ...ref, repository, sessionId: owner.id };
          if (await isExpiredRef(item, owner, cutoff)) found.push({ item, bytes: 0 });
        }
        yield found;
      }
    },
    async remove(part, cutoff, writer) {
      const gone: RemovableItem<RepositoryRef>[] = [];
      for (const [repository, group] of Map.groupBy(part, ({ item }) => item.repository)) {
        await worktrees.deleteSavedRefs(
          repository,
          group.map(({ item }) => item),
        );
        gone.push(...group);
      }
      const sessions = [...new Set(gone.map(({ item }) => item.sessionId))];
      if (of === 'discarded') await writer.writeEach(sessions, (id) => forget.run(id, cutoff));
      return gone;
    },
  });
}
