/** Tables that determine the validity of tokens: removing rows cascades. */
const TABLES = /"(?:accounts|people|machines|workspaces)"/;
const CHANGES_NOTHING = /^(?:select|begin|commit|rollback|savepoint|release|pragma)\b/i;
/** Written at every sign of life; they do not affect tokens. */
const SIGN_OF_LIFE =
  /^update "(?:workspaces|machines)" set (?:"(?:last_seen_at|seen_at|channels|more_decisions|command_seq)" = [^,]+?(?:, )?)+ where /;

/** Reports whether a statement may change the validity of a token. True when in doubt. */
export const mayChangeTokens = (statement: string): boolean =>
  !CHANGES_NOTHING.test(statement) && TABLES.test(statement) && !SIGN_OF_LIFE.test(statement);

/**
 * Counts changes that may affect tokens, so that cached answers are only used while they are right. SQLite has one
 * connection, used by one process: a query after a change waits for the end of its transaction.
 */
export interface TokenChanges {
  count: number;
}
