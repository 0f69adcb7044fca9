import { SvcError } from '../core/base/errors.ts';
import type { JsonObject } from '../core/http/body.ts';
import {
  type CommitCheck,
  type Forge,
  type ForgeIssue,
  type ForgePage,
  LABEL_DESCRIPTION,
  listFailed,
} from './forge.ts';
import {
  chooseNewest,
  readCheckRuns,
  readPullRequest,
  readRequired,
  readResolved,
  readReviewComments,
  readReviews,
  readStatuses,
  writeThreadsQuery,
} from './read-github.ts';
import { asNumber, asObject, asText, asTime, listRows, requireRows } from './read-json.ts';
import { createReaders, type ForgeRequests, findStatus, postComment, readPages } from './requests.ts';

const SIZE = ['per_page', 100] as const;
/** Pages of issues, comments or events that one poll reads; the next one continues. */
const MOST_PAGES = 10;
/** Pages of checks and reviews. */
const MOST_OF_A_COMMIT = 20;

/** The headers of each request to GitHub. */
export const GITHUB_HEADERS = ['Accept: application/vnd.github+json', 'X-GitHub-Api-Version: 2022-11-28'];

/** Asks GitHub: https://docs.github.com/en/rest */
export function createGithubForge(requests: ForgeRequests): Forge {
  const { host } = requests;
  const nameTop = (repository: string): string => `repos/${repository}`;
  const { readObject, readAll } = createReaders(requests, { size: SIZE, most: MOST_OF_A_COMMIT });

  async function listAllChecks(repository: string, commit: string): Promise<CommitCheck[]> {
    const top = `${nameTop(repository)}/commits/${commit}`;
    const runs = chooseNewest(await readAll(`${top}/check-runs`, readCheckRuns));
    return [...runs, ...(await readAll(`${top}/status`, readStatuses))];
  }

  return {
    async readRepository(repository) {
      const answer = await requests.get(nameTop(repository));
      const at = Date.parse(answer?.headers.get('date') ?? '');
      return { payload: asObject(answer?.body), at: Number.isNaN(at) ? null : at };
    },
    async *listIssues(repository, label, tag) {
      const query = { labels: label, state: 'open', sort: 'updated', direction: 'desc' };
      const path = `${nameTop(repository)}/issues`;
      for await (const { body, headers } of readPages(requests, path, {
        ...{ query, size: SIZE, most: MOST_PAGES, tag },
      }))
        yield {
          // GitHub lists pull requests as issues; a hook sends no event of an issue for them.
          rows: requireRows(body, host).flatMap((payload) =>
            payload.pull_request === undefined ? toIssue(payload) : [],
          ),
          tag: headers.get('etag') ?? null,
        } satisfies ForgePage<ForgeIssue>;
    },
    async *listComments(repository, since, tag) {
      const query = { since, sort: 'updated', direction: 'asc' };
      const path = `${nameTop(repository)}/issues/comments`;
      for await (const { body, headers } of readPages(requests, path, {
        ...{ query, size: SIZE, most: MOST_PAGES, tag },
      }))
        yield {
          rows: requireRows(body, host).flatMap((payload) => {
            const [, number] = /\/issues\/(\d+)$/.exec(asText(payload.issue_url)) ?? [];
            if (number === undefined) return [];
            const times = { createdAt: asTime(payload.created_at), changedAt: asTime(payload.updated_at) };
            return [{ number: Number(number), ...times, body: asText(payload.body), payload }];
          }),
          tag: headers.get('etag') ?? null,
        };
    },
    async findLabelling(repository, number, label) {
      let found: { sender: string | null; at: string } | null = null;
      const path = `${nameTop(repository)}/issues/${number}/events`;
      for await (const { body } of readPages(requests, path, { size: SIZE, most: MOST_PAGES }))
        for (const { event, label: given, actor, created_at: at } of requireRows(body, host))
          if (event === 'labeled' && asObject(given).name === label)
            found = { sender: asText(asObject(actor).login) || null, at: asTime(at) };
      return found;
    },
    readIssue: (repository, number) => readObject(`${nameTop(repository)}/issues/${number}`),
    addAssociation: async (_repository, payload) => payload,
    async readPullRequest({ repository, number }) {
      const found = readPullRequest(await readObject(`${nameTop(repository)}/pulls/${number}`));
      if (found !== null) return found;
      throw new SvcError('program_failed', `${host} answered with something other than a pull request`);
    },
    async listChecks({ repository, head, base }) {
      const top = nameTop(repository);
      const all = await listAllChecks(repository, head);
      // Which ones count is only asked when that makes a difference.
      if (all.every(({ state }) => state !== 'failed')) return all;
      const required = readRequired(await readObject(`${top}/branches/${encodeURIComponent(base)}`));
      return required.size === 0 ? all : all.filter(({ name }) => required.has(name));
    },
    listFailedNames: async (repository, commit) => listFailed(await listAllChecks(repository, commit)),
    readLog: ({ repository }, { jobId }) =>
      requests.readText(`${nameTop(repository)}/actions/jobs/${jobId}/logs`),
    async listReviews({ repository, number }, isKnown) {
      const all = await readAll(`${nameTop(repository)}/pulls/${number}/reviews`, readReviews);
      return all.filter(({ id }) => !isKnown(id));
    },
    async readReviewComments({ repository, number }, { id }) {
      const path = `${nameTop(repository)}/pulls/${number}/reviews/${id}/comments?per_page=100`;
      const body = (await requests.get(path))?.body;
      if (listRows(body).length === 0) return [];
      const threads = await requests.post('graphql', { query: writeThreadsQuery(repository, number) });
      return readReviewComments(body, readResolved(threads));
    },
    async readName(repository) {
      return asText((await readObject(nameTop(repository))).full_name) || repository;
    },
    addComment(wanted) {
      const path = `${nameTop(wanted.repository)}/issues/${wanted.number}/comments`;
      const query = { since: wanted.since };
      return postComment(
        requests,
        path,
        wanted,
        readPages(requests, path, { query, size: SIZE, most: MOST_PAGES }),
      );
    },
    async hasLabel(repository, label) {
      try {
        await requests.get(`${nameTop(repository)}/labels/${encodeURIComponent(label)}`);
        return true;
      } catch (error) {
        if (findStatus(error) === 404) return false;
        throw error;
      }
    },
    async createLabel(repository, name) {
      await requests.post(`${nameTop(repository)}/labels`, { name, description: LABEL_DESCRIPTION });
    },
  };
}

/** Reads an issue of a list of GitHub or Gitea. */
export function toIssue(payload: JsonObject): ForgeIssue[] {
  const number = asNumber(payload.number);
  if (number === null) return [];
  const times = { createdAt: asTime(payload.created_at), changedAt: asTime(payload.updated_at) };
  return [{ number, ...times, payload }];
}
