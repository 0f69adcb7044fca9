import { asSvcError } from '../core/base/errors.ts';
import type { ServerConfig } from './config.ts';
import type { LinkRow, LinkRows } from './rows.ts';
import type { TokenFile } from './token-file.ts';

/** The stored link of this workspace, and whether it can be used. */
export interface LinkRecord {
  /** Returns null if the workspace is not linked. */
  row(): LinkRow | null;
  setRow(row: LinkRow | null): void;
  /** Returns the row if it can be used, by the current settings and token; null otherwise. */
  checkUsable(): LinkRow | null;
  /** Returns why it could not be used at the last check, although there is a row. */
  problem(): string | null;
  /** Reports whether events are queued: while there is a server to notify, even if it does not answer or is being linked again. */
  isOn(): boolean;
}

export function createLinkRecord(deps: {
  rows: Pick<LinkRows, 'readLink'>;
  tokenFile: Pick<TokenFile, 'read' | 'path'>;
  config(): { server: ServerConfig };
}): LinkRecord {
  const { tokenFile } = deps;
  let row = deps.rows.readLink();
  let problem: string | null = null;

  /** Returns why a row cannot be used; null if it can. */
  function checkRow(linked: LinkRow): string | null {
    const { url } = deps.config().server;
    if (linked.revokedAt !== null)
      return `${linked.server} no longer accepts the token; svc link links it again`;
    if (url === '') return 'server.url is not set; svc link sets it';
    if (URL.parse(url)?.origin !== linked.server)
      return `server.url names ${URL.parse(url)?.origin ?? 'no server'}, but the token belongs to ${linked.server}; svc link links it again`;
    if (tokenFile.read() === null) return `${tokenFile.path()} has no token; svc link creates one`;
    return null;
  }

  function findProblem(): string | null {
    try {
      return row === null ? null : checkRow(row);
    } catch (thrown) {
      // A token file that is a link, or belongs to another user, is not opened.
      return asSvcError(thrown).message;
    }
  }

  function checkUsable(): LinkRow | null {
    problem = findProblem();
    return problem === null ? row : null;
  }

  // Events before the link is stored are for the server only if the link can be stored.
  checkUsable();
  return {
    row: () => row,
    setRow(changed) {
      row = changed;
    },
    checkUsable,
    problem: () => problem,
    isOn: () => row?.revokedAt === null && problem === null,
  };
}
