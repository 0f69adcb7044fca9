import type { JsonObject } from '../core/http/body.ts';
import type { CommitCheck, ReportedPullRequest, ReviewComment, SubmittedReview } from './forge.ts';
import { asObject, asText, asWords, listRows } from './read-json.ts';

/** Conclusions that a person has to act on: https://docs.github.com/en/rest/checks/runs */
const FAILED = new Set(['failure', 'timed_out', 'startup_failure', 'action_required']);
/** Conclusions without a result. */
const CANCELLED = new Set(['cancelled', 'stale']);

function readConclusion({ status, conclusion }: JsonObject): CommitCheck['state'] {
  if (status !== 'completed') return 'pending';
  const word = asText(conclusion);
  return FAILED.has(word) ? 'failed' : CANCELLED.has(word) ? 'cancelled' : 'passed';
}

/** A check run, which may have been repeated under the same name. */
interface CheckRun extends CommitCheck {
  id: number;
}

/** Chooses the newest run of each name. */
export function chooseNewest(runs: readonly CheckRun[]): CommitCheck[] {
  const newest = new Map<string, CheckRun>();
  for (const run of runs) if (run.id > (newest.get(run.name)?.id ?? -1)) newest.set(run.name, run);
  return [...newest.values()];
}

/** Reads the check runs of a commit. */
export function readCheckRuns(body: unknown): CheckRun[] {
  return listRows(asObject(body).check_runs).map((run): CheckRun => {
    const output = asObject(run.output);
    const isAction = asObject(run.app).slug === 'github-actions';
    return {
      id: Number(run.id),
      name: asText(run.name),
      state: readConclusion(run),
      jobId: isAction && Number.isSafeInteger(run.id) ? Number(run.id) : null,
      url: asText(run.html_url) || null,
      summary: [output.title, output.summary, output.text].map(asText).filter(Boolean).join('\n\n'),
    };
  });
}

/** Reads the statuses of a commit: https://docs.github.com/en/rest/commits/statuses */
export const readStatuses = (body: unknown): CommitCheck[] =>
  listRows(asObject(body).statuses).map(({ context, state, target_url: url, description }) => ({
    name: asText(context),
    state: state === 'pending' ? 'pending' : state === 'success' ? 'passed' : 'failed',
    jobId: null,
    url: asText(url) || null,
    summary: asText(description),
  }));

/** Reads the names of the checks that a branch requires; empty if it requires none, or that is not shown. */
export function readRequired(body: unknown): ReadonlySet<string> {
  const required = asObject(asObject(asObject(body).protection).required_status_checks);
  const contexts = Array.isArray(required.contexts)
    ? required.contexts.filter((each) => typeof each === 'string')
    : [];
  return new Set(contexts as string[]);
}

/** Reads a pull request of GitHub or Gitea; null for anything else. */
export function readPullRequest(body: unknown): ReportedPullRequest | null {
  const { state, merged, head } = asObject(body);
  const { sha } = asObject(head);
  if ((state !== 'open' && state !== 'closed') || typeof sha !== 'string') return null;
  return { state: merged === true ? 'merged' : state, head: sha };
}

/** Reads submitted reviews that may want something. */
export const readReviews = (body: unknown): SubmittedReview[] =>
  listRows(body).flatMap(({ id, user, state, author_association: association, body: text }) => {
    const isSubmitted = state === 'COMMENTED' || state === 'CHANGES_REQUESTED';
    const { login } = asObject(user);
    if (!isSubmitted || !Number.isSafeInteger(id) || typeof login !== 'string') return [];
    return [{ id: String(id), author: login, association: asText(association), body: asWords(text) }];
  });

/** Returns the last line of a part of a diff, without its sign. */
export const findLastLine = (hunk: unknown): string => (asText(hunk).split('\n').at(-1) ?? '').slice(1);

/** Asks for the threads of a pull request, which REST does not show: https://docs.github.com/en/graphql */
export function writeThreadsQuery(repository: string, number: number): string {
  const [owner, name] = repository.split('/').map((each) => JSON.stringify(each));
  const threads = 'reviewThreads(first:100){nodes{isResolved,comments(first:100){nodes{databaseId}}}}';
  return `query{repository(owner:${owner},name:${name}){pullRequest(number:${number}){${threads}}}}`;
}

/** Reads the ids of the comments whose threads are resolved. */
export function readResolved(body: unknown): ReadonlySet<unknown> {
  const { pullRequest } = asObject(asObject(asObject(body).data).repository);
  const threads = listRows(asObject(asObject(pullRequest).reviewThreads).nodes);
  const resolved = threads.filter(({ isResolved }) => isResolved === true);
  return new Set(
    resolved.flatMap(({ comments }) => listRows(asObject(comments).nodes)).map((each) => each.databaseId),
  );
}

/** Reads the comments of a review that are not resolved: https://docs.github.com/en/rest/pulls/reviews */
export const readReviewComments = (body: unknown, resolved: ReadonlySet<unknown>): ReviewComment[] =>
  listRows(body)
    .filter(({ id }) => !resolved.has(id))
    .map((row) => {
      const line = row.line ?? row.original_line;
      return {
        path: asText(row.path),
        side: row.side === 'LEFT' ? 'old' : 'new',
        line: Number.isSafeInteger(line) ? Number(line) : null,
        text: findLastLine(row.diff_hunk),
        body: asWords(row.body),
        head: asText(row.original_commit_id) || asText(row.commit_id),
      };
    });
