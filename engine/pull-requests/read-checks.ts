import { asObject, asText, listRows } from '../forge/index.ts';

/** A check of a commit, as the code host reports it. */
export interface CommitCheck {
  name: string;
  state: 'pending' | 'passed' | 'failed';
  /** The id of its job in GitHub Actions, whose log can be read; null for any other check. */
  jobId: number | null;
  url: string | null;
  /** Its own words about its result. */
  summary: string;
}

/** Conclusions that a person has to act on: https://docs.github.com/en/rest/checks/runs */
const FAILED = new Set(['failure', 'timed_out', 'startup_failure', 'action_required']);

/** Counts the rows of a page of any of these lists. */
export function countRows(body: unknown): number {
  const { check_runs: runs, statuses } = asObject(body);
  return listRows(Array.isArray(body) ? body : (runs ?? statuses)).length;
}

/** A check run, which may have been repeated under the same name. */
export interface CheckRun extends CommitCheck {
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
    const isDone = run.status === 'completed';
    return {
      id: Number(run.id),
      name: asText(run.name),
      state: !isDone ? 'pending' : FAILED.has(asText(run.conclusion)) ? 'failed' : 'passed',
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

/** A pull request, as the code host reports it. */
export interface ReportedPullRequest {
  state: 'open' | 'merged' | 'closed';
  /** The commit at the end of its branch. */
  head: string;
}

/** Reads a pull request; null for anything else. */
export function readPullRequest(body: unknown): ReportedPullRequest | null {
  const { state, merged, head } = asObject(body);
  const { sha } = asObject(head);
  if ((state !== 'open' && state !== 'closed') || typeof sha !== 'string') return null;
  return { state: merged === true ? 'merged' : state, head: sha };
}

/** Where a pull request is, read from the address of its page. */
export interface PullRequestPlace {
  host: string;
  /** `owner/repo`. */
  repository: string;
  number: number;
}

/** Reads the place of a pull request of GitHub; null for another address. */
export function readPlace(url: string | null): PullRequestPlace | null {
  if (url === null || !URL.canParse(url)) return null;
  const { host, pathname } = new URL(url);
  const [, repository, number] = /^\/([\w.-]+\/[\w.-]+)\/pull\/(\d+)$/.exec(pathname) ?? [];
  return repository === undefined ? null : { host, repository, number: Number(number) };
}
