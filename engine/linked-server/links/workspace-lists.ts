import { type Kysely, sql } from 'kysely';
import { type ListOrder, type ListPage, type PageWish, readListPage } from '../database/list-page.ts';
import type { LinkedWorkspace, Tables } from '../database/tables.ts';

/** A workspace as pages list it. */
export type ListedWorkspace = LinkedWorkspace & { machine: string | null };

/** A filter for workspaces of an account. */
export interface WorkspaceFilter {
  /** A part of the name of the workspace or its machine, in any case; empty for all. */
  find?: string;
  /** Only these. */
  ids?: readonly string[];
}

/** Lists workspaces of an account, by name. */
export interface WorkspaceLists {
  list(account: string): Promise<ListedWorkspace[]>;
  /** Lists them a page at a time. */
  listPage(account: string, wish: PageWish, filter?: WorkspaceFilter): Promise<ListPage<ListedWorkspace>>;
  /** Lists the ids of all matching workspaces. */
  listIds(account: string, filter: WorkspaceFilter): Promise<string[]>;
  /** Counts linked workspaces. */
  countLinked(account: string): Promise<number>;
}

const BY_NAME: ListOrder = {
  columns: { 'workspaces.name': 'text', 'workspaces.id': 'text' },
  direction: 'asc',
};

export function createWorkspaceLists(db: Kysely<Tables>): WorkspaceLists {
  const selectWorkspaces = (account: string) =>
    db
      .selectFrom('workspaces')
      .leftJoin('machines', 'machines.id', 'workspaces.machine_id')
      .selectAll('workspaces')
      .select('machines.name as machine')
      .where('workspaces.account_id', '=', account);

  function filtered(account: string, { find = '', ids }: WorkspaceFilter) {
    let query = selectWorkspaces(account);
    if (ids !== undefined)
      query = ids.length === 0 ? query.where(sql<boolean>`1 = 0`) : query.where('workspaces.id', 'in', ids);
    if (find === '') return query;
    const pattern = `%${find.replace(/[\\%_]/g, '\\$&')}%`;
    // SQLite ignores case of ASCII only: other letters must match exactly.
    const tests = (['workspaces.name', 'machines.name'] as const).flatMap((column) => [
      sql<boolean>`lower(${sql.ref(column)}) LIKE ${pattern.toLowerCase()} ESCAPE '\\'`,
      sql<boolean>`${sql.ref(column)} LIKE ${pattern} ESCAPE '\\'`,
    ]);
    return query.where(({ or }) => or(tests));
  }

  return {
    list: (account) =>
      selectWorkspaces(account).orderBy('workspaces.name').orderBy('workspaces.id').execute(),
    listPage: (account, wish, filter = {}) => readListPage(filtered(account, filter), BY_NAME, wish),
    async listIds(account, filter) {
      const found = await filtered(account, filter).clearSelect().select('workspaces.id').execute();
      return found.map(({ id }) => id);
    },
    async countLinked(account) {
      const { count } = await db
        .selectFrom('workspaces')
        .select(({ fn }) => fn.countAll().as('count'))
        .where('account_id', '=', account)
        .where('revoked_at', 'is', null)
        .executeTakeFirstOrThrow();
      return Number(count);
    },
  };
}
