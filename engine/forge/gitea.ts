import { SvcError } from '../core/base/errors.ts';
import { type CommitCheck, type Forge, LABEL_COLOR, LABEL_DESCRIPTION, listFailed } from './forge.ts';
import { toIssue } from './github.ts';
import {
  findJob,
  hasLabelOf,
  readPermission,
  readRequired,
  readReviewComments,
  readStatuses,
} from './read-gitea.ts';
import { readPullRequest } from './read-github.ts';
import { asNumber, asObject, asText, asTime, asWords, listRows, requireRows } from './read-json.ts';
import { createReaders, type ForgeRequests, findStatus, postComment, readPages } from './requests.ts';

/** The largest page that Gitea gives, unless it is configured. */
const SIZE = ['limit', 50] as const;
const MOST_PAGES = 40;
/** Comments are listed in the order of their creation, so that the last page has the newest ones. */
const MOST_OF_COMMENTS = 200;

/** Asks Gitea or Forgejo: https://docs.gitea.com/api/ */
export function createGiteaForge(requests: ForgeRequests): Forge {
  const { host } = requests;
  const nameTop = (repository: string): string => `repos/${repository}`;
  const { readObject, readAll } = createReaders(requests, { size: SIZE, most: MOST_PAGES });

  const associations = new Map<string, Promise<string>>();
  /** Finds the relation of a person to a repository by their permission, which only administrators of it may see; '' for none. */
  function findAssociation(repository: string, login: string): Promise<string> {
    if (login === '') return Promise.resolve('');
    // No one else may have the login that the address of the repository starts with.
    if (repository.split('/')[0]?.toLowerCase() === login.toLowerCase()) return Promise.resolve('OWNER');
    const path = `${nameTop(repository)}/collaborators/${encodeURIComponent(login)}/permission`;
    const found =
      associations.get(path) ??
      readObject(path).then(
        (permission) => readPermission(permission, login),
        (error: unknown) => {
          const status = findStatus(error);
          if (status === 403 || status === 404) return '';
          throw error;
        },
      );
    associations.set(path, found);
    return found;
  }

  /** Finds the log of a failed job of Gitea Actions; null if there is none, as in Forgejo. */
  async function findLogPath(repository: string, head: string, context: string): Promise<string | null> {
    const top = `${nameTop(repository)}/actions`;
    const runs = await readObject(`${top}/runs?head_sha=${head}&limit=50`);
    for (const { id, head_sha: commit } of listRows(runs.workflow_runs)) {
      if (asNumber(id) === null || commit !== head) continue;
      const job = findJob(await readObject(`${top}/runs/${id}/jobs?limit=50`), context);
      if (job !== null) return `${top}/jobs/${job}/logs`;
    }
    return null;
  }

  const listAllChecks = (repository: string, commit: string): Promise<CommitCheck[]> =>
    readAll(`${nameTop(repository)}/commits/${commit}/status`, readStatuses);

  return {
    async readRepository(repository) {
      const answer = await requests.get(nameTop(repository));
      const at = Date.parse(answer?.headers.get('date') ?? '');
      return { payload: asObject(answer?.body), at: Number.isNaN(at) ? null : at };
    },
    async *listIssues(repository, label) {
      const query = { labels: label, state: 'open', type: 'issues' };
      const path = `${nameTop(repository)}/issues`;
      for await (const { body } of readPages(requests, path, { query, size: SIZE, most: MOST_PAGES }))
        yield {
          // An unknown label does not filter.
          rows: requireRows(body, host).flatMap((payload) =>
            asObject(payload.pull_request) === payload.pull_request || !hasLabelOf(payload, label)
              ? []
              : toIssue(payload),
          ),
          tag: null,
        };
    },
    async *listComments(repository, since) {
      const path = `${nameTop(repository)}/issues/comments`;
      for await (const { body } of readPages(requests, path, {
        ...{ query: { since }, size: SIZE, most: MOST_OF_COMMENTS },
      }))
        yield {
          rows: requireRows(body, host).flatMap((payload) => {
            const page = asText(payload.issue_url) || asText(payload.pull_request_url);
            const [, number] = /\/(?:issues|pulls)\/(\d+)$/.exec(page) ?? [];
            if (number === undefined) return [];
            const times = { createdAt: asTime(payload.created_at), changedAt: asTime(payload.updated_at) };
            return [{ number: Number(number), ...times, body: asText(payload.body), payload }];
          }),
          tag: null,
        };
    },
    async findLabelling(repository, number, label) {
      let found: { sender: string | null; at: string } | null = null;
      const path = `${nameTop(repository)}/issues/${number}/timeline`;
      for await (const { body } of readPages(requests, path, { size: SIZE, most: MOST_PAGES }))
        for (const { type, body: isAdded, label: given, user, created_at: at } of requireRows(body, host))
          if (type === 'label' && isAdded === '1' && asObject(given).name === label)
            found = { sender: asText(asObject(user).login) || null, at: asTime(at) };
      return found;
    },
    readIssue: (repository, number) => readObject(`${nameTop(repository)}/issues/${number}`),
    async addAssociation(repository, payload) {
      // A migrated text is shown as that of the person who migrated it.
      const isMigrated = asText(payload.original_author) !== '';
      const login = isMigrated ? '' : asText(asObject(payload.user).login);
      return { ...payload, author_association: await findAssociation(repository, login) };
    },
    async readPullRequest({ repository, number }) {
      const found = readPullRequest(await readObject(`${nameTop(repository)}/pulls/${number}`));
      if (found !== null) return found;
      throw new SvcError('program_failed', `${host} answered with something other than a pull request`);
    },
    async listChecks({ repository, head, base }) {
      const top = nameTop(repository);
      const all = await listAllChecks(repository, head);
      const isRequired = readRequired(await readObject(`${top}/branches/${encodeURIComponent(base)}`));
      return isRequired === null ? all : all.filter(({ name }) => isRequired(name));
    },
    listFailedNames: async (repository, commit) => listFailed(await listAllChecks(repository, commit)),
    async readLog({ repository, head }, { name, summary }) {
      const path = await findLogPath(repository, head, name).catch((error: unknown) => {
        if (findStatus(error) === 404) return null;
        throw error;
      });
      return path === null ? { text: summary, omittedBytes: 0 } : requests.readText(path);
    },
    async listReviews({ repository, number }, isKnown) {
      const all = await readAll(`${nameTop(repository)}/pulls/${number}/reviews`, (body) =>
        listRows(body).flatMap(({ id, user, state, dismissed, body: text }) => {
          const login = asText(asObject(user).login);
          const isMeant = (state === 'COMMENT' || state === 'REQUEST_CHANGES') && dismissed !== true;
          if (!isMeant || asNumber(id) === null || login === '' || isKnown(String(id))) return [];
          return [{ id: String(id), author: login, body: asWords(text) }];
        }),
      );
      return Promise.all(
        all.map(async (review) => ({
          ...review,
          association: await findAssociation(repository, review.author),
        })),
      );
    },
    async readReviewComments({ repository, number }, { id }) {
      const path = `${nameTop(repository)}/pulls/${number}/reviews/${id}/comments`;
      return readReviewComments((await requests.get(path))?.body);
    },
    async readName(repository) {
      return asText((await readObject(nameTop(repository))).full_name) || repository;
    },
    addComment(wanted) {
      const { repository, number, since } = wanted;
      const path = `${nameTop(repository)}/issues/${number}/comments`;
      return postComment(
        requests,
        path,
        wanted,
        readPages(requests, path, { query: { since }, size: SIZE, most: MOST_PAGES }),
      );
    },
    async hasLabel(repository, label) {
      const names = await readAll(`${nameTop(repository)}/labels`, (body) =>
        listRows(body).map(({ name }) => name),
      );
      return names.includes(label);
    },
    async createLabel(repository, name) {
      await requests.post(`${nameTop(repository)}/labels`, {
        ...{ name, color: LABEL_COLOR, description: LABEL_DESCRIPTION },
      });
    },
  };
}
