import { SvcError } from '../core/base/errors.ts';
import { isJsonObject } from '../core/base/json-object.ts';
import type { JsonObject } from '../core/http/body.ts';
import { asObject, asText, type Forge, type ForgeAnswer } from '../forge/index.ts';
import {
  type CodeHostOccurrence,
  type CodeHostWork,
  LABEL,
  readCodeHostOccurrence,
} from '../receiver/index.ts';
import type { SourceConfig } from './config.ts';

/** What a source knows from its last poll, so that the next one asks only for what is new. */
export interface PollState {
  /** Issues that got the label earlier were not meant for svc, and comments that are older. RFC 3339, of the code host. */
  since: string;
  /** The newest comment that was seen. RFC 3339. */
  commentsSince: string;
}

/** What makes the next poll cheap. It may be lost. */
export interface PollCache {
  /** The tag of the first page of issues, for a conditional request; null before that. */
  issuesTag: string | null;
  commentsTag: string | null;
  /** Issues that are no new ones, with the time of their last change. */
  known: ReadonlyMap<number, string>;
}

export const EMPTY_CACHE: PollCache = { issuesTag: null, commentsTag: null, known: new Map() };

/** What a poll has found. */
export interface Poll {
  state: PollState;
  cache: PollCache;
  /** Oldest first. */
  works: CodeHostWork[];
  /** Issues that had the label before the source was polled first: their numbers. */
  earlier: number[];
}

const PAGE = 100;
/** Pages of issues, comments or events that one poll reads; the next one continues. */
const MOST_PAGES = 10;

/** The list of a large host may show a comment later than a newer one, ms. */
const OVERLAP_MS = 120_000;
const subtractOverlap = (time: string): string => formatTime(Date.parse(time) - OVERLAP_MS);
const formatTime = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');

const listObjects = ({ body }: Pick<ForgeAnswer, 'body'>): JsonObject[] => {
  if (Array.isArray(body)) return body.filter(isJsonObject);
  throw new SvcError('program_failed', 'GitHub answered with something other than a list');
};

/** Reads the time of the code host from an answer: clocks differ. */
const readDate = ({ headers }: ForgeAnswer, otherwise: number): string => {
  const at = Date.parse(headers.get('date') ?? '');
  return formatTime(Number.isNaN(at) ? otherwise : at);
};

/** Asks a repository of GitHub for issues with the label, and for comments that name a template. */
export async function pollGithub(
  forge: Forge,
  { repository: name, label }: Pick<SourceConfig, 'repository' | 'label'>,
  {
    state: before,
    cache,
    now,
    isTaken,
  }: {
    /** Null for the first poll. */
    state: PollState | null;
    cache: PollCache;
    now: number;
    /** Reports whether an issue or comment has become a task, by its key. */
    isTaken(key: string): boolean;
  },
): Promise<Poll> {
  const top = `repos/${name}`;
  const issuesFound: CodeHostWork[] = [];
  const commentsFound: CodeHostWork[] = [];
  const known = new Map<number, string>();
  const earlier: number[] = [];
  let repository: JsonObject | null = null;

  /** The repository as a hook names it. */
  async function readRepository(): Promise<JsonObject> {
    repository ??= asObject((await forge.get(top))?.body);
    return repository;
  }

  /** Builds the event that a hook would have sent. */
  async function readEvent(
    event: 'issues' | 'issue_comment',
    parts: JsonObject,
  ): Promise<CodeHostOccurrence> {
    const payload = { ...parts, repository: await readRepository() };
    return readCodeHostOccurrence(event, payload, Buffer.from(JSON.stringify(payload)));
  }

  /** Reads the pages of a list. None if the first one is still that of `tag`. */
  async function* readPages(path: string, query: Record<string, string>, tag: string | null = null) {
    for (let page = 1; page <= MOST_PAGES; page += 1) {
      const parts = new URLSearchParams({ ...query, per_page: String(PAGE), page: String(page) });
      const answer = await forge.get(`${top}/${path}?${parts}`, page === 1 ? tag : null);
      if (answer === null) return;
      const rows = listObjects(answer);
      yield { rows, tag: page === 1 ? (answer.headers.get('etag') ?? null) : null };
      if (rows.length < PAGE) return;
    }
  }

  /** Finds who gave an issue its label last, and when; null if no event says so. */
  async function findLabelling(number: number): Promise<{ sender: JsonObject; at: string } | null> {
    let found: { sender: JsonObject; at: string } | null = null;
    for await (const { rows } of readPages(`issues/${number}/events`, {}))
      for (const { event, label: given, actor, created_at: at } of rows)
        if (event === 'labeled' && asObject(given).name === label)
          found = { sender: asObject(actor), at: asText(at) };
    return found;
  }

  async function readLabelledIssue(issue: JsonObject, since: string): Promise<void> {
    // GitHub lists pull requests as issues; a hook sends no event of an issue for them.
    if (issue.pull_request !== undefined) return;
    const number = Number(issue.number);
    const changedAt = asText(issue.updated_at);
    if (cache.known.get(number) === changedAt) return void known.set(number, changedAt);
    const own = await readEvent('issues', { action: 'labeled', label: { name: LABEL }, issue });
    if (own.kind === 'ignored' || isTaken(own.key)) return;
    const labelling = await findLabelling(number);
    if ((labelling?.at ?? asText(issue.created_at)) < since) {
      known.set(number, changedAt);
      return void earlier.push(number);
    }
    const { login } = labelling?.sender ?? {};
    issuesFound.push({ ...own, sender: typeof login === 'string' ? login : null });
  }

  async function pollIssues(since: string): Promise<Pick<PollCache, 'issuesTag' | 'known'>> {
    const query = { labels: label, state: 'open', sort: 'updated', direction: 'desc' };
    let first: { tag: string | null } | null = null;
    for await (const page of readPages('issues', query, cache.issuesTag)) {
      first ??= page;
      for (const issue of page.rows) await readLabelledIssue(issue, since);
    }
    return first === null ? cache : { issuesTag: first.tag, known };
  }

  async function readCommand(comment: JsonObject, since: string): Promise<void> {
    if (asText(comment.created_at) < since || !/^\/svc(?:[ \t]|\r?$)/m.test(asText(comment.body))) return;
    const own = await readEvent('issue_comment', { action: 'created', comment, issue: {} });
    if (own.kind === 'ignored' || isTaken(own.key)) return;
    const [, number] = /\/issues\/(\d+)$/.exec(asText(comment.issue_url)) ?? [];
    if (number === undefined) return;
    const issue = asObject((await forge.get(`${top}/issues/${number}`))?.body);
    const whole = await readEvent('issue_comment', { action: 'created', comment, issue });
    if (whole.kind !== 'ignored') commentsFound.push(whole);
  }

  async function pollComments({ since, commentsSince }: PollState) {
    const query = { since: subtractOverlap(commentsSince), sort: 'updated', direction: 'asc' };
    let newest = commentsSince;
    let first: { tag: string | null } | null = null;
    for await (const page of readPages('issues/comments', query, cache.commentsTag)) {
      first ??= page;
      for (const comment of page.rows) {
        await readCommand(comment, since);
        const at = asText(comment.updated_at);
        if (at > newest) newest = at;
      }
    }
    const { tag } = first ?? { tag: cache.commentsTag };
    // The tag belongs to the address, which names the time.
    return { commentsSince: newest, commentsTag: newest === commentsSince ? tag : null };
  }

  let state = before;
  if (state === null) {
    const answer = await forge.get(top);
    repository = asObject(answer?.body);
    const since = answer === null ? formatTime(now) : readDate(answer, now);
    state = { since, commentsSince: since };
  }
  const { issuesTag, known: stillKnown } = await pollIssues(state.since);
  const { commentsSince, commentsTag } = await pollComments(state);
  return {
    state: { since: state.since, commentsSince },
    cache: { issuesTag, known: stillKnown, commentsTag },
    works: [...issuesFound.reverse(), ...commentsFound],
    earlier,
  };
}
