import { SvcError } from '../core/base/errors.ts';
import type { JsonObject } from '../core/http/body.ts';
import {
  type CommitCheck,
  type Forge,
  type ForgeComment,
  type ForgePullRequest,
  LABEL_COLOR,
  LABEL_DESCRIPTION,
} from './forge.ts';
import {
  cleanTrace,
  type GitlabNote,
  readDiscussion,
  readFailedNames,
  readJobs,
  readMember,
  readMergeRequest,
  readPosition,
  readStatuses,
  toHookIssue,
} from './read-gitlab.ts';
import {
  asNumber,
  asObject,
  asText,
  asTime,
  asWords,
  formatTime,
  listRows,
  requireRows,
} from './read-json.ts';
import { createReaders, type ForgeRequests, findStatus, postComment, readPages } from './requests.ts';

const SIZE = ['per_page', 100] as const;
const MOST_PAGES = 20;
/** GitLab gives up on pages of its events before that. */
const MOST_EVENTS = 500;
const DAY_MS = 24 * 3_600_000;

/** Asks GitLab: https://docs.gitlab.com/api/rest/ */
export function createGitlabForge(requests: ForgeRequests): Forge {
  const { host } = requests;
  const nameTop = (repository: string): string => `projects/${encodeURIComponent(repository)}`;
  const nameMerge = ({ repository, number }: Pick<ForgePullRequest, 'repository' | 'number'>): string =>
    `${nameTop(repository)}/merge_requests/${number}`;
  const { readObject, readAll } = createReaders(requests, { size: SIZE, most: MOST_PAGES });

  /** Returns an answer's object; an empty one if there is none, or if this person may not see it. */
  const readOptional = (path: string): Promise<JsonObject> =>
    readObject(path).catch((error: unknown) => {
      const status = findStatus(error);
      if (status === 403 || status === 404) return {};
      throw error;
    });

  const associations = new Map<string, Promise<string>>();
  /** Finds the relation of a person to a repository by their role; '' for no one who is known to be a member. */
  function findAssociation(repository: string, userId: unknown): Promise<string> {
    const id = asNumber(userId);
    if (id === null) return Promise.resolve('');
    const path = `${nameTop(repository)}/members/all/${id}`;
    const found = associations.get(path) ?? readOptional(path).then((member) => readMember(member, id));
    associations.set(path, found);
    return found;
  }

  const readProject = async (repository: string) => {
    const answer = await requests.get(nameTop(repository));
    const { id, path_with_namespace: name, web_url: page, owner } = asObject(answer?.body);
    const at = Date.parse(answer?.headers.get('date') ?? '');
    const login = asText(asObject(owner).username);
    return {
      payload: { id, full_name: name, html_url: page, owner: login === '' ? null : { login } },
      at: Number.isNaN(at) ? null : at,
    };
  };

  /** Reads the events of comments back to a time, newest first; null if the first page is still that of `tag`. */
  async function readCommentEvents(repository: string, since: string, tag: string | null) {
    // A day that is named is left out, in the time zone of the server.
    const after = formatTime(Date.parse(since) - 2 * DAY_MS).slice(0, 10);
    // With target_type=note, GitLab would leave out comments in threads.
    const query = { action: 'commented', after, sort: 'desc' };
    let first: { tag: string | null } | null = null;
    const notes: JsonObject[] = [];
    const path = `${nameTop(repository)}/events`;
    for await (const { body, headers } of readPages(requests, path, {
      ...{ query, size: SIZE, most: MOST_EVENTS, tag },
    })) {
      first ??= { tag: headers.get('etag') ?? null };
      const events = requireRows(body, host);
      notes.push(...events.map(({ note }) => asObject(note)));
      if (events.some(({ created_at: at }) => asTime(at) < since)) break;
    }
    return first === null ? null : { notes, tag: first.tag };
  }

  /** Lists the checks of the pipeline, if it is that of the commit; GitLab may still show the one before. */
  async function listJobs(
    { repository, head }: ForgePullRequest,
    pipeline: JsonObject,
  ): Promise<CommitCheck[]> {
    const { id, sha } = pipeline;
    if (asNumber(id) === null) return [];
    const top = nameTop(repository);
    if (sha !== head) {
      // A pipeline of merged results runs on a merge of the commit.
      const { parent_ids: parents } = await readOptional(
        `${top}/repository/commits/${encodeURIComponent(asText(sha))}`,
      );
      if (!Array.isArray(parents) || !parents.includes(head)) return [];
    }
    const jobs = await readAll(`${top}/pipelines/${id}/jobs`, readJobs);
    if (jobs.length > 0 || pipeline.status !== 'failed') return jobs;
    return [
      {
        ...{ name: 'pipeline', state: 'failed', jobId: null, url: asText(pipeline.web_url) || null },
        summary: asText(pipeline.yaml_errors),
      },
    ];
  }

  return {
    readRepository: readProject,
    async *listIssues(repository, label, tag) {
      const query = { labels: label, state: 'opened', order_by: 'updated_at', sort: 'desc' };
      const path = `${nameTop(repository)}/issues`;
      for await (const { body, headers } of readPages(requests, path, {
        ...{ query, size: SIZE, most: MOST_PAGES, tag },
      }))
        yield {
          rows: requireRows(body, host).flatMap((issue) => {
            const number = asNumber(issue.iid);
            const { labels } = issue;
            if (number === null || !Array.isArray(labels) || !labels.includes(label)) return [];
            const times = { createdAt: asTime(issue.created_at), changedAt: asTime(issue.updated_at) };
            return [{ number, ...times, payload: toHookIssue(issue) }];
          }),
          tag: headers.get('etag') ?? null,
        };
    },
    async *listComments(repository, since, tag) {
      const found = await readCommentEvents(repository, since, tag);
      if (found === null) return;
      const notes = found.notes.filter(
        ({ noteable_type: type, system, created_at: at }) =>
          type === 'Issue' && system !== true && asTime(at) >= since,
      );
      const page = notes.length === 0 ? '' : asText((await readProject(repository)).payload.html_url);
      const rows = notes.reverse().flatMap((note): ForgeComment[] => {
        const number = asNumber(note.noteable_iid);
        const id = asNumber(note.id);
        if (number === null || id === null) return [];
        const { username, id: userId } = asObject(note.author);
        const body = asText(note.body);
        const at = asTime(note.created_at);
        const payload = {
          ...{ id, body, user: { id: userId, login: username } },
          html_url: `${page}/-/issues/${number}#note_${id}`,
        };
        return [{ number, createdAt: at, changedAt: at, body, payload }];
      });
      yield { rows, tag: found.tag };
    },
    async findLabelling(repository, number, label) {
      let found: { sender: string | null; at: string } | null = null;
      const path = `${nameTop(repository)}/issues/${number}/resource_label_events`;
      for await (const { body } of readPages(requests, path, { size: SIZE, most: MOST_PAGES }))
        for (const { action, label: given, user, created_at: at } of requireRows(body, host))
          if (action === 'add' && asObject(given).name === label)
            found = { sender: asText(asObject(user).username) || null, at: asTime(at) };
      return found;
    },
    readIssue: async (repository, number) =>
      toHookIssue(await readObject(`${nameTop(repository)}/issues/${number}`)),
    addAssociation: async (repository, payload) => ({
      ...payload,
      author_association: await findAssociation(repository, asObject(payload.user).id),
    }),
    async readPullRequest(pull) {
      const found = readMergeRequest(await readObject(nameMerge(pull)));
      if (found !== null) return found;
      throw new SvcError('program_failed', `${host} answered with something other than a merge request`);
    },
    async listChecks(pull) {
      const { head_pipeline: pipeline } = await readObject(nameMerge(pull));
      const jobs = await listJobs(pull, asObject(pipeline));
      const path = `${nameTop(pull.repository)}/repository/commits/${pull.head}/statuses`;
      const names = new Set(jobs.map(({ name }) => name));
      const statuses = await readAll(path, readStatuses);
      return [...jobs, ...statuses.filter(({ name }) => !names.has(name))];
    },
    listFailedNames: async (repository, commit) =>
      // Those of jobs, too.
      readAll(`${nameTop(repository)}/repository/commits/${commit}/statuses`, readFailedNames),
    async readLog({ repository }, { jobId }) {
      const { text, omittedBytes } = await requests.readText(`${nameTop(repository)}/jobs/${jobId}/trace`);
      return { text: cleanTrace(text), omittedBytes };
    },
    async listReviews(pull, isKnown) {
      const all = await readAll(`${nameMerge(pull)}/discussions`, (body) =>
        listRows(body).flatMap(readDiscussion),
      );
      const fresh = all.filter(({ id }) => !isKnown(String(id)));
      const asking = fresh.some(({ kind }) => kind === 'plain')
        ? await readAll(`${nameMerge(pull)}/reviewers`, (body) =>
            listRows(body).flatMap(({ state, user }) =>
              state === 'requested_changes' ? [asObject(user).id] : [],
            ),
          )
        : [];
      const isMeant = ({ kind, author }: GitlabNote): boolean =>
        kind !== 'plain' || asking.includes(author.id);
      return Promise.all(
        fresh.filter(isMeant).map(async ({ id, author, kind, body }) => ({
          ...{ id: String(id), author: author.username, body: kind === 'line' ? '' : body },
          association: await findAssociation(pull.repository, author.id),
        })),
      );
    },
    async readReviewComments(pull, { id }) {
      const note = await readObject(`${nameMerge(pull)}/notes/${id}`);
      const place = readPosition(note.position);
      return place === null ? [] : [{ ...place, text: '', body: asWords(note.body) }];
    },
    async readName(repository) {
      return asText((await readProject(repository)).payload.full_name) || repository;
    },
    addComment(wanted) {
      const { on, repository, number } = wanted;
      const path = `${nameTop(repository)}/${on === 'issue' ? 'issues' : 'merge_requests'}/${number}/notes`;
      // The newest come first; GitLab has no parameter for a time.
      const query = { order_by: 'created_at', sort: 'desc' };
      return postComment(requests, path, wanted, readPages(requests, path, { query, size: SIZE, most: 1 }));
    },
    async hasLabel(repository, label) {
      const { name } = await readObject(`${nameTop(repository)}/labels/${encodeURIComponent(label)}`).catch(
        (error: unknown): JsonObject => {
          if (findStatus(error) === 404) return {};
          throw error;
        },
      );
      return name === label;
    },
    async createLabel(repository, name) {
      await requests.post(`${nameTop(repository)}/labels`, {
        ...{ name, color: LABEL_COLOR, description: LABEL_DESCRIPTION },
      });
    },
  };
}
