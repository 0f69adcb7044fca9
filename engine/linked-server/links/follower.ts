import type { Transaction } from 'kysely';
import type { Tables } from '../database/tables.ts';

/** Shows decisions elsewhere, as messages in chats do, and follows what becomes of them. */
export interface DecisionFollower {
  /**
   * Follows what waits in a workspace, in the transaction that writes it. Call `wake` after the commit.
   * @param isAllChanged something else than the list has changed too
   */
  followDecisions(change: Transaction<Tables>, workspace: string, isAllChanged: boolean): Promise<void>;
  /** Something may have become due. */
  wake(): void;
}
