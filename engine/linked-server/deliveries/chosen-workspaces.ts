import type { Kysely } from 'kysely';
import { SvcError } from '../../core/base/errors.ts';
import type { Tables, TargetRow } from '../database/tables.ts';

/** Maximum number of workspaces chosen for a target; the whole list is read with each event. */
const MOST_CHOSEN = 5000;

/** The workspaces of a target, as entered in its form. */
export interface WorkspaceWish {
  /**
   * `all` of the account, including later ones; the `ticked` ones of the form; the `listed` ones, which are chosen on
   * a separate page.
   */
  scope: 'all' | 'ticked' | 'listed';
  /** Ids of workspaces. */
  ticked: readonly string[];
}

/** Parses the ids of a target's workspaces; null for all of the account, including later ones. */
export const readWorkspaces = (target: Pick<TargetRow, 'workspaces'>): string[] | null =>
  JSON.parse(target.workspaces) as string[] | null;

const createChoiceError = (message: string): SvcError =>
  new SvcError('fields_invalid', message, { data: { fields: ['workspaces'] } });

const listIds = async (db: Kysely<Tables>, account: string): Promise<string[]> => {
  const own = await db.selectFrom('workspaces').select('id').where('account_id', '=', account).execute();
  return own.map(({ id }) => id);
};

const writeChosen = (ids: readonly string[]): string => {
  if (ids.length > MOST_CHOSEN)
    throw createChoiceError(
      `a target covers at most ${MOST_CHOSEN} chosen workspaces, or all of the account`,
    );
  return JSON.stringify(ids);
};

/**
 * Applies a form's choice to a target, as stored in the database; a new one has none. Throws `fields_invalid`, also
 * for a workspace of another account.
 */
export async function readWorkspaceWish(
  db: Kysely<Tables>,
  { scope, ticked }: WorkspaceWish,
  { account, before }: { account: string; before?: TargetRow },
): Promise<string> {
  if (scope === 'all') {
    if (ticked.length > 0)
      throw createChoiceError('some workspaces are ticked: choose only the ticked ones, or untick them');
    return 'null';
  }
  if (scope === 'listed') return JSON.stringify((before && readWorkspaces(before)) ?? []);
  if (ticked.length === 0)
    throw createChoiceError('tick at least one workspace, or choose all of the account');
  const wanted = new Set(ticked);
  const chosen = (await listIds(db, account)).filter((id) => wanted.has(id));
  if (chosen.length !== wanted.size) throw createChoiceError('choose workspaces from the list');
  return writeChosen(chosen);
}

/**
 * Adds workspaces to a target and removes others; unknown ones are ignored. Throws `fields_invalid` if none would be
 * left, `conflict` if someone else has changed it.
 */
export async function changeChosen(
  db: Kysely<Tables>,
  target: TargetRow,
  { add, leave }: { add: readonly string[]; leave: readonly string[] },
): Promise<void> {
  const [added, left, before] = [new Set(add), new Set(leave), new Set(readWorkspaces(target))];
  const chosen = (await listIds(db, target.account_id)).filter(
    (id) => added.has(id) || (before.has(id) && !left.has(id)),
  );
  if (chosen.length === 0) throw createChoiceError('choose at least one workspace');
  const { numUpdatedRows } = await db
    .updateTable('targets')
    .set({ workspaces: writeChosen(chosen) })
    .where('id', '=', target.id)
    .where('workspaces', '=', target.workspaces)
    .executeTakeFirst();
  if (Number(numUpdatedRows) === 0)
    throw new SvcError('conflict', 'another person has just chosen others', { hint: 'reload this page' });
}
