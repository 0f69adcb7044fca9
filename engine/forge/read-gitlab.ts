import type { JsonObject } from '../core/http/body.ts';
import type { CommitCheck, ReportedPullRequest, ReviewComment } from './forge.ts';
import { asNumber, asObject, asText, asWords, listRows } from './read-json.ts';

/** Returns an issue as a hook of GitHub would have it. */
export function toHookIssue({ id, iid, title, description, web_url: page, author }: JsonObject): JsonObject {
  const { id: userId, username } = asObject(author);
  return {
    ...{ id, number: iid, title, body: description, html_url: page },
    user: { id: userId, login: username },
  };
}

/** Roles with write access: https://docs.gitlab.com/api/access_requests/#valid-access-levels */
const DEVELOPER = 30;
const OWNER = 50;

/** Reads the relation of a person to a repository from their membership; '' for none. */
export function readMember({ id, state, access_level: level }: JsonObject, userId: number): string {
  if (id !== userId || state !== 'active' || typeof level !== 'number' || level < DEVELOPER) return '';
  return level >= OWNER ? 'OWNER' : 'MEMBER';
}

/** Reads a merge request; null for anything else. */
export function readMergeRequest({ state, sha }: JsonObject): ReportedPullRequest | null {
  if (typeof sha !== 'string') return null;
  if (state === 'merged' || state === 'closed') return { state, head: sha };
  // A locked one is being merged.
  return state === 'opened' || state === 'locked' ? { state: 'open', head: sha } : null;
}

/** The states of jobs and statuses that still change: https://docs.gitlab.com/api/jobs/ */
const PENDING = new Set([
  ...['created', 'waiting_for_resource', 'preparing', 'waiting_for_callback', 'pending', 'running'],
  ...['canceling', 'scheduled'],
]);

function readState(status: unknown, mayFail: unknown): CommitCheck['state'] {
  if (PENDING.has(asText(status))) return 'pending';
  if (status === 'canceled' && mayFail !== true) return 'cancelled';
  return status === 'failed' && mayFail !== true ? 'failed' : 'passed';
}

/** Reads the jobs of a pipeline, without earlier attempts. */
export const readJobs = (body: unknown): CommitCheck[] =>
  listRows(body).map(
    ({ id, name, status, allow_failure: mayFail, web_url: url, failure_reason: reason }) => ({
      name: asText(name),
      state: readState(status, mayFail),
      jobId: asNumber(id),
      url: asText(url) || null,
      summary: asText(reason),
    }),
  );

/** Reads the names of the failed jobs and statuses of a commit. */
export const readFailedNames = (body: unknown): string[] =>
  listRows(body).flatMap(({ name, status, allow_failure: mayFail }) =>
    readState(status, mayFail) === 'failed' ? [asText(name)] : [],
  );

/** Reads the statuses of a commit, which other programs set: https://docs.gitlab.com/api/commits/#list-commit-statuses */
export const readStatuses = (body: unknown): CommitCheck[] =>
  listRows(body).flatMap(({ name, status, allow_failure: mayFail, target_url: url, description }) =>
    // Jobs of all pipelines are listed, too.
    /\/-\/jobs\/\d+$/.test(asText(url))
      ? []
      : [
          {
            name: asText(name),
            state: readState(status, mayFail),
            jobId: null,
            url: asText(url) || null,
            summary: asText(description),
          },
        ],
  );

/** Removes from a log what only GitLab needs: marks of sections, and times with the number of the stream. */
export const cleanTrace = (text: string): string =>
  text
    .replace(/section_(?:start|end):\d+:[^\r\n]*\r\u001b\[0K/g, '')
    .replace(/\n\d{4}-\d\d-\d\dT[\d:.]+Z \d\d[OE]\+/g, '')
    .replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z \d\d[OE] ?/gm, '');

/** A comment of a person on a merge request that is not resolved. */
export interface GitlabNote {
  id: number;
  author: { id: number; username: string };
  /** On a line, in a thread that can be resolved, or neither. */
  kind: 'line' | 'thread' | 'plain';
  body: string;
}

/** Reads the comments of a discussion: https://docs.gitlab.com/api/discussions/#merge-requests */
export const readDiscussion = ({ notes }: JsonObject): GitlabNote[] =>
  listRows(notes).flatMap(({ id, author, system, resolvable, resolved, type, body }) => {
    const { username, id: userId } = asObject(author);
    const known = { id: asNumber(id), userId: asNumber(userId) };
    if (known.id === null || known.userId === null || typeof username !== 'string') return [];
    if (system === true || resolved === true) return [];
    const kind = type === 'DiffNote' ? 'line' : resolvable === true ? 'thread' : 'plain';
    return [{ id: known.id, author: { id: known.userId, username }, kind, body: asWords(body) }];
  });

/** Reads the place of a comment on a line; null for none. */
export function readPosition(position: unknown): Omit<ReviewComment, 'text' | 'body'> | null {
  const {
    new_path: newPath,
    old_path: oldPath,
    new_line: newLine,
    old_line: oldLine,
    head_sha: head,
  } = asObject(position);
  const isOld = asNumber(newLine) === null && asNumber(oldLine) !== null;
  const path = asText(isOld ? oldPath : newPath);
  if (path === '') return null;
  return { path, side: isOld ? 'old' : 'new', line: asNumber(isOld ? oldLine : newLine), head: asText(head) };
}
