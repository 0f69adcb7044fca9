import type { Transaction } from 'kysely';
import type { Tables } from './database/tables.ts';

/** Shows decisions elsewhere, such as messages in chats, and follows their state. */
export interface DecisionFollower {
  /**
   * Follows the pending decisions of a workspace, in the transaction that writes them. Call `wake` after the commit.
   * @param isAllChanged something other than the list has changed too
   */
  followDecisions(change: Transaction<Tables>, workspace: string, isAllChanged: boolean): Promise<void>;
  /** Called when something may have become due. */
  wake(): void;
}
