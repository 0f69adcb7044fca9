import type { JsonObject } from '../core/http/body.ts';
import type { ForgeKind } from './config.ts';

/** A page of a list, with the tag for the next conditional request; null if there is none. */
export interface ForgePage<T> {
  rows: T[];
  tag: string | null;
}

/** An issue of a list. Times are RFC 3339 UTC, in seconds. */
export interface ForgeIssue {
  number: number;
  createdAt: string;
  changedAt: string;
  /** The issue as a hook's payload has it. */
  payload: JsonObject;
}

/** A comment on an issue. Times are RFC 3339 UTC, in seconds. */
export interface ForgeComment {
  /** The number of its issue. */
  number: number;
  createdAt: string;
  changedAt: string;
  body: string;
  /** The comment as a hook's payload has it. */
  payload: JsonObject;
}

/** A check of a commit, as the code host reports it. */
export interface CommitCheck {
  name: string;
  /** A cancelled one has neither passed nor failed, and no result comes. */
  state: 'pending' | 'passed' | 'failed' | 'cancelled';
  /** The id of its log; null if there is none that can be read. */
  jobId: number | null;
  url: string | null;
  /** Its own words about its result. */
  summary: string;
}

/** The end of a log. */
export interface ForgeText {
  text: string;
  /** Bytes before that part. */
  omittedBytes: number;
}

/** A pull request, as the code host reports it. */
export interface ReportedPullRequest {
  state: 'open' | 'merged' | 'closed';
  /** The commit at the end of its branch. */
  head: string;
}

/** The place of a pull request, read from the address of its page. */
export interface PullRequestPlace {
  kind: ForgeKind;
  host: string;
  /** `owner/repo`. */
  repository: string;
  number: number;
  /** How the code host refers to it: `owner/repo#9`. */
  reference: string;
}

/** A submitted review. */
export interface SubmittedReview {
  id: string;
  author: string;
  /** The author's relation to the repository, as the code host says: `OWNER`; '' if it does not. */
  association: string;
  body: string;
}

/** A comment of a review on a line. */
export interface ReviewComment {
  path: string;
  side: 'new' | 'old';
  /** From 1; null for the file. */
  line: number | null;
  /** The line itself, as the review shows it; '' if it does not. */
  text: string;
  body: string;
  head: string;
}

/** A pull request of a repository. */
export interface ForgePullRequest {
  repository: string;
  number: number;
  /** The commit that was pushed. */
  head: string;
  /** The branch it is to be merged into. */
  base: string;
}

/** The start of the mark in each comment of svc; a reader does not see it. */
export const COMMENT_MARK = '<!-- svc ';

export const listFailed = (checks: readonly CommitCheck[]): string[] =>
  checks.filter(({ state }) => state === 'failed').map(({ name }) => name);

/** A comment to post. */
export interface WantedComment {
  on: 'issue' | 'pull_request';
  repository: string;
  number: number;
  text: string;
  /** A part of the text that no other comment has. */
  mark: string;
  /** When it was first wanted, RFC 3339 UTC. */
  since: string;
}

/**
 * Asks a code host about one of its repositories, `owner/repo`. Each method throws `tool_missing` and `program_failed`;
 * after a rate limit with the pause that the host asks for, `data.retry_after_s`.
 */
export interface Forge {
  /** Reads a repository as a hook's payload has it, and the time of the code host, Unix ms; null for no time. */
  readRepository(repository: string): Promise<{ payload: JsonObject; at: number | null }>;
  /** Lists the open issues with a label, those that changed last first. Yields nothing if the first page is still that of `tag`. */
  listIssues(repository: string, label: string, tag: string | null): AsyncIterable<ForgePage<ForgeIssue>>;
  /** Lists the comments since a time, oldest first. Yields nothing if the first page is still that of `tag`. */
  listComments(repository: string, since: string, tag: string | null): AsyncIterable<ForgePage<ForgeComment>>;
  /** Finds who gave an issue its label last, and when; null if no event says so. */
  findLabelling(
    repository: string,
    number: number,
    label: string,
  ): Promise<{ sender: string | null; at: string } | null>;
  readIssue(repository: string, number: number): Promise<JsonObject>;
  /** Adds the relation of its author to the repository to an issue or comment, as `author_association`. */
  addAssociation(repository: string, payload: JsonObject): Promise<JsonObject>;
  readPullRequest(pull: ForgePullRequest): Promise<ReportedPullRequest>;
  /** Lists the checks of a commit that count: the required ones, if the base branch requires any. */
  listChecks(pull: ForgePullRequest): Promise<CommitCheck[]>;
  /** Lists the names of the checks that have failed at any commit of a repository. */
  listFailedNames(repository: string, commit: string): Promise<string[]>;
  /** Reads the end of the log of a check that has a `jobId`. */
  readLog(pull: ForgePullRequest, check: CommitCheck): Promise<ForgeText>;
  /** Lists the reviews that may want something and are not known yet; an approval without words does not. */
  listReviews(pull: ForgePullRequest, isKnown: (id: string) => boolean): Promise<SubmittedReview[]>;
  readReviewComments(pull: ForgePullRequest, review: SubmittedReview): Promise<ReviewComment[]>;
  /** Posts a comment, unless an earlier attempt has. */
  addComment(wanted: WantedComment): Promise<void>;
  /** Returns the name of a repository as the code host writes it. */
  readName(repository: string): Promise<string>;
  hasLabel(repository: string, label: string): Promise<boolean>;
  createLabel(repository: string, label: string): Promise<void>;
}

/** The description of a label that svc creates. */
export const LABEL_DESCRIPTION = 'A task for svc';
/** Its color, where the code host asks for one. */
export const LABEL_COLOR = '#6f42c1';
