import type { JsonObject } from '../core/http/body.ts';
import { type Forge, type ForgeComment, type ForgeIssue, formatTime } from '../forge/index.ts';
import {
  type CodeHostOccurrence,
  type CodeHostWork,
  LABEL,
  readCodeHostOccurrence,
} from '../receiver/index.ts';
import type { SourceConfig } from './config.ts';

/** The state of a source after its last poll, so that the next one asks only for new work. */
export interface PollState {
  /** Issues that got the label earlier were not meant for svc, and comments that are older. RFC 3339, of the code host. */
  since: string;
  /** The newest comment that was seen. RFC 3339. */
  commentsSince: string;
}

/** Data that makes the next poll cheap. It may be lost. */
export interface PollCache {
  /** The tag of the first page of issues, for a conditional request; null without one. */
  issuesTag: string | null;
  commentsTag: string | null;
  /** Issues that are not new, with the time of their last change. */
  known: ReadonlyMap<number, string>;
}

export const EMPTY_CACHE: PollCache = { issuesTag: null, commentsTag: null, known: new Map() };

/** The result of a poll. */
export interface Poll {
  state: PollState;
  cache: PollCache;
  /** Oldest first. */
  works: CodeHostWork[];
  /** Issues that had the label before the source was polled first: their numbers. */
  earlier: number[];
}

/** The list of a large host may show a comment later than a newer one, ms. */
const OVERLAP_MS = 120_000;
const subtractOverlap = (time: string): string => formatTime(Date.parse(time) - OVERLAP_MS);

/** Asks a repository for issues with the label, and for comments that name a template. */
export async function pollRepository(
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
  const issuesFound: CodeHostWork[] = [];
  const commentsFound: CodeHostWork[] = [];
  const known = new Map<number, string>();
  const earlier: number[] = [];
  let repository: JsonObject | null = null;

  /** Builds the event that a hook would have sent. */
  async function readEvent(
    event: 'issues' | 'issue_comment',
    parts: JsonObject,
  ): Promise<CodeHostOccurrence> {
    repository ??= (await forge.readRepository(name)).payload;
    const payload = { ...parts, repository };
    return readCodeHostOccurrence(event, payload, Buffer.from(JSON.stringify(payload)));
  }

  const readIssueEvent = (issue: JsonObject): Promise<CodeHostOccurrence> =>
    readEvent('issues', { action: 'labeled', label: { name: LABEL }, issue });

  async function readLabelledIssue(
    { number, changedAt, createdAt, payload }: ForgeIssue,
    since: string,
  ): Promise<void> {
    if (cache.known.get(number) === changedAt) return void known.set(number, changedAt);
    const own = await readIssueEvent(payload);
    if (own.kind === 'ignored') return;
    if (isTaken(own.key)) return void known.set(number, changedAt);
    const labelling = await forge.findLabelling(name, number, label);
    if ((labelling?.at ?? createdAt) < since) {
      known.set(number, changedAt);
      return void earlier.push(number);
    }
    const whole = await readIssueEvent(await forge.addAssociation(name, payload));
    if (whole.kind !== 'ignored') issuesFound.push({ ...whole, sender: labelling?.sender ?? null });
  }

  async function pollIssues(since: string): Promise<Pick<PollCache, 'issuesTag' | 'known'>> {
    let first: { tag: string | null } | null = null;
    for await (const page of forge.listIssues(name, label, cache.issuesTag)) {
      first ??= page;
      for (const issue of page.rows) await readLabelledIssue(issue, since);
    }
    return first === null ? cache : { issuesTag: first.tag, known };
  }

  async function readCommand({ number, createdAt, body, payload }: ForgeComment, since: string) {
    if (createdAt < since || !/^\/svc(?:[ \t]|\r?$)/m.test(body)) return;
    const own = await readEvent('issue_comment', { action: 'created', comment: payload, issue: {} });
    if (own.kind === 'ignored' || isTaken(own.key)) return;
    const issue = await forge.readIssue(name, number);
    const comment = await forge.addAssociation(name, payload);
    const whole = await readEvent('issue_comment', { action: 'created', comment, issue });
    if (whole.kind !== 'ignored') commentsFound.push(whole);
  }

  async function pollComments({ since, commentsSince }: PollState) {
    let newest = commentsSince;
    let first: { tag: string | null } | null = null;
    for await (const page of forge.listComments(name, subtractOverlap(commentsSince), cache.commentsTag)) {
      first ??= page;
      for (const comment of page.rows) {
        await readCommand(comment, since);
        if (comment.changedAt > newest) newest = comment.changedAt;
      }
    }
    const { tag } = first ?? { tag: cache.commentsTag };
    // The tag belongs to the address, which names the time.
    return { commentsSince: newest, commentsTag: newest === commentsSince ? tag : null };
  }

  let state = before;
  if (state === null) {
    const answer = await forge.readRepository(name);
    repository = answer.payload;
    // Clocks differ.
    const since = formatTime(answer.at ?? now);
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
