import type { JsonObject } from '../core/http/body.ts';
import type { CommitCheck, ReviewComment } from './forge.ts';
import { findLastLine } from './read-github.ts';
import { asNumber, asObject, asText, asWords, listRows } from './read-json.ts';

/** The permissions that allow to write, as relations to the repository. */
const RELATIONS: Readonly<Record<string, string>> = {
  owner: 'OWNER',
  admin: 'COLLABORATOR',
  write: 'COLLABORATOR',
};

/** Reads the relation of a person to a repository from their permission; '' for none. */
export function readPermission({ permission, user }: JsonObject, login: string): string {
  const isTheirs = asText(asObject(user).login).toLowerCase() === login.toLowerCase();
  return isTheirs && Object.hasOwn(RELATIONS, asText(permission))
    ? (RELATIONS[asText(permission)] ?? '')
    : '';
}

/** Reports whether an issue of a list has a label. */
export const hasLabelOf = ({ labels }: JsonObject, label: string): boolean =>
  listRows(labels).some(({ name }) => name === label);

const FAILED = new Set(['failure', 'error']);

/** Reads the last statuses of a commit, each with the name of its context. */
export const readStatuses = (body: unknown): CommitCheck[] =>
  listRows(asObject(body).statuses).map(({ id, status, context, target_url: url, description }) => ({
    name: asText(context),
    state: status === 'pending' ? 'pending' : FAILED.has(asText(status)) ? 'failed' : 'passed',
    jobId: /\/actions\/runs\/\d+/.test(asText(url)) ? asNumber(id) : null,
    url: /^https?:\/\//.test(asText(url)) ? asText(url) : null,
    summary: asText(description),
  }));

/** Reads which checks a branch requires; null if all count. */
export function readRequired(branch: JsonObject): ((name: string) => boolean) | null {
  const { enable_status_check: isEnabled, status_check_contexts: contexts } = branch;
  const patterns = Array.isArray(contexts) ? contexts.map(asText) : [];
  // A pattern with braces or brackets is not understood: no failed check may get lost.
  if (isEnabled !== true || patterns.length === 0 || patterns.some((each) => /[[\]{}\\]/.test(each)))
    return null;
  const all = patterns.map((pattern) => {
    const parts = pattern
      .split(/([*?])/)
      .map((part) => (part === '*' ? '[^]*' : part === '?' ? '[^]' : part.replace(/[.+^$()|]/g, '\\$&')));
    return new RegExp(`^${parts.join('')}$`);
  });
  return (name) => all.some((each) => each.test(name));
}

/** Finds the id of the failed job whose context a check has, `workflow / job (event)`; null for none. */
export const findJob = (body: unknown, context: string): number | null => {
  const { jobs, workflow_jobs: former } = asObject(body);
  const found = listRows(jobs ?? former).find(
    ({ name, conclusion }) => conclusion === 'failure' && context.includes(`/ ${asText(name)} (`),
  );
  return asNumber(found?.id);
};

/** Reads the comments of a review that are not resolved. */
export const readReviewComments = (body: unknown): ReviewComment[] =>
  listRows(body).flatMap(({ path, position, original_position: old, diff_hunk: hunk, resolver, ...row }) => {
    if (resolver !== null && resolver !== undefined) return [];
    const line = asNumber(position);
    return [
      {
        path: asText(path),
        side: line === null && asNumber(old) !== null ? 'old' : 'new',
        line: line ?? asNumber(old),
        text: findLastLine(hunk),
        body: asWords(row.body),
        head: asText(row.original_commit_id) || asText(row.commit_id),
      },
    ];
  });
