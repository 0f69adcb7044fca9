import type { CompiledQuery, Kysely } from 'kysely';
import { SvcError } from '../../core/base/errors.ts';
import { createGroupReads } from '../database/group-reads.ts';
import type { LinkedWorkspace, Tables } from '../database/tables.ts';
import type { TokenChanges } from '../database/token-changes.ts';
import { hashToken, makeToken } from '../secrets.ts';
import type { createSightings } from './sightings.ts';

/** The sender of a report: these fields of a workspace change only with the validity of its token. */
export type WorkspaceReporter = Pick<LinkedWorkspace, 'id' | 'account_id' | 'name'>;

/** With the id of its machine; null if that was logged out. */
type FoundWorkspace = LinkedWorkspace & { logged_in: string | null };

/** Size of the cache. */
const MOST_TELLERS = 10_000;

/** The tokens of workspaces. */
export interface WorkspaceTokens {
  /** Finds the owner of a token. Throws `token_invalid` for an unknown one, `revoked`. */
  findByToken(token: string): Promise<LinkedWorkspace>;
  /** Does the same, mostly from a cache. */
  findTeller(token: string): Promise<WorkspaceReporter>;
  /** Creates a token that replaces the current one, which is valid until the new one was used. */
  rotateToken(workspace: LinkedWorkspace): Promise<string>;
}

export function createWorkspaceTokens({
  db,
  tokenChanges,
  sightings,
}: {
  db: Kysely<Tables>;
  tokenChanges: TokenChanges | null;
  sightings: Pick<ReturnType<typeof createSightings>, 'note'>;
}): WorkspaceTokens {
  /** By number of tokens: building a query takes longer than running it, and every request of a workspace does. */
  const queries = new Map<number, CompiledQuery<FoundWorkspace>>();
  function selectByTokens(hashes: readonly string[]): CompiledQuery<FoundWorkspace> {
    const known = queries.get(hashes.length);
    if (known !== undefined) return { ...known, parameters: [...hashes, ...hashes] };
    const query = db
      .selectFrom('workspaces')
      .leftJoin('machines', 'machines.id', 'workspaces.machine_id')
      .selectAll('workspaces')
      .select('machines.id as logged_in')
      .where((where) =>
        where.or([
          where('workspaces.token_hash', 'in', hashes),
          where('workspaces.next_token_hash', 'in', hashes),
        ]),
      )
      .compile();
    queries.set(hashes.length, query);
    return query;
  }
  const findTogether = createGroupReads(async (hashes) => {
    const { rows } = await db.executeQuery(selectByTokens(hashes));
    return new Map(
      rows.flatMap((row) =>
        [row.token_hash, row.next_token_hash].flatMap((hash) => (hash === null ? [] : [[hash, row]])),
      ),
    );
  });

  /** Recent senders, by the hashes of their tokens, as of a number of changes. */
  const tellers = new Map<string, WorkspaceReporter & { last_seen_at: number | null }>();
  let tellersAsOf = 0;

  async function findByHash(hash: string): Promise<LinkedWorkspace> {
    const found = await findTogether(hash);
    if (found === undefined)
      throw new SvcError('token_invalid', 'the token does not belong to a workspace here');
    const { logged_in, ...workspace } = found;
    if (workspace.revoked_at !== null) throw new SvcError('revoked', 'this workspace was unlinked');
    if (logged_in === null) throw new SvcError('revoked', 'the machine of this workspace was logged out');
    if (workspace.next_token_hash === hash)
      await db
        .updateTable('workspaces')
        .set({ token_hash: hash, next_token_hash: null })
        .where('id', '=', workspace.id)
        .where('next_token_hash', '=', hash)
        .execute();
    sightings.note(workspace);
    return workspace;
  }

  return {
    findByToken: (token) => findByHash(hashToken(token)),
    async findTeller(token) {
      const hash = hashToken(token);
      if (tokenChanges === null) return findByHash(hash);
      const asOf = tokenChanges.count;
      if (tellersAsOf !== asOf) tellers.clear();
      tellersAsOf = asOf;
      const known = tellers.get(hash);
      if (known !== undefined) {
        sightings.note(known);
        return known;
      }
      const { id, account_id, name, last_seen_at } = await findByHash(hash);
      const found = { id, account_id, name, last_seen_at };
      // A change in the meantime may have affected this.
      if (tokenChanges.count === asOf) tellers.set(hash, found);
      if (tellers.size > MOST_TELLERS) tellers.delete(tellers.keys().next().value ?? '');
      return found;
    },
    async rotateToken(workspace) {
      const { token, hash } = makeToken('svcw_');
      await db
        .updateTable('workspaces')
        .set({ next_token_hash: hash })
        .where('id', '=', workspace.id)
        .execute();
      return token;
    },
  };
}
