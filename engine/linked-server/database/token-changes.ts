/** What tokens open hangs on rows of these: where one of them is removed, others go with it. */
const TABLES = /"(?:accounts|people|machines|workspaces)"/;
const CHANGES_NOTHING = /^(?:select|begin|commit|rollback|savepoint|release|pragma)\b/i;
/** Written at every sign of life; they say nothing of what a token opens. */
const SIGN_OF_LIFE =
  /^update "(?:workspaces|machines)" set (?:"(?:last_seen_at|seen_at|channels|more_decisions|command_seq)" = [^,]+?(?:, )?)+ where /;

/** Whether a statement may change what a token opens. One that cannot be told counts as if it did. */
export const mayChangeTokens = (statement: string): boolean =>
  !CHANGES_NOTHING.test(statement) && TABLES.test(statement) && !SIGN_OF_LIFE.test(statement);

/**
 * Counts what may have changed what tokens open, so that an answer is kept in memory only as long as it is right. SQLite has one
 * connection, which one process has alone: whoever asks after a change waits for the end of its transaction.
 */
export interface TokenChanges {
  count: number;
}
