import { hash } from 'node:crypto';
import { isJsonObject } from '../core/base/json-object.ts';
import { type FieldProblem, fieldsInvalidError, type JsonObject } from '../core/http/body.ts';

/** The label that turns an issue into a task. */
export const LABEL = 'svc';

/** The place of the pull requests that an event is about. */
export interface PullRequestNews {
  kind: 'pull_request';
  /** The code host, with its port if it has one; '' if the payload does not name it. */
  host: string;
  /** `owner/repo`. */
  repository: string;
}

/** An issue or a comment in svc's terms. */
export type CodeHostOccurrence =
  | { kind: 'ignored'; reason: string }
  | {
      kind: 'issue' | 'comment';
      /** Permanent id of the issue or comment. */
      key: string;
      /** `owner/repo#9`. */
      ref: string;
      /** Login of the text's author; null when the payload has none. */
      author: string | null;
      /** Login of the user who opened, labeled or commented; null when the payload has none. */
      sender: string | null;
      /** Login of the repository's owner. */
      owner: string | null;
      /** The author's relation to the repository; null when the service does not report it, as Gitea and Forgejo never do. */
      association: string | null;
      url: string | null;
      title: string;
      /** The issue's body, or the first line of a comment. */
      text: string;
      /** The lines below the first one of a comment; '' for none. */
      below: string;
    };

/** Events about checks, reviews and the end of pull requests; those of Gitea and Forgejo have longer names. */
const PULL_REQUEST_EVENT =
  /^(?:check_run|check_suite|workflow_run|workflow_job|status|pull_request(?:_\w+)?)$/;

/** An event of the code host in svc's terms. */
export type CodeHostEvent = CodeHostOccurrence | PullRequestNews;

const ignoreOccurrence = (reason: string): CodeHostOccurrence => ({ kind: 'ignored', reason });

/** Infers the event's name from its payload, when no header gives it. */
function inferEventName(payload: JsonObject): string | null {
  if (isJsonObject(payload.comment) && isJsonObject(payload.issue)) return 'issue_comment';
  if (isJsonObject(payload.issue)) return 'issues';
  return typeof payload.zen === 'string' && payload.hook_id !== undefined ? 'ping' : null;
}

/** Reads the payload of an issue or comment. Throws `fields_invalid`, naming each missing field. */
export const readCodeHostOccurrence = (
  name: 'issues' | 'issue_comment',
  payload: JsonObject,
  body: Buffer,
): CodeHostOccurrence => (name === 'issues' ? readIssue(payload, body) : readComment(payload, body));

/** Reads a payload of `name` (null: inferred). Throws `fields_invalid`, naming each missing field. */
export function readCodeHostEvent(name: string | null, payload: JsonObject, body: Buffer): CodeHostEvent {
  const event = name ?? inferEventName(payload);
  if (event === null) return ignoreOccurrence('the payload is not of an event that creates tasks');
  if (event === 'ping') return ignoreOccurrence('ping');
  if (event === 'issues' || event === 'issue_comment') return readCodeHostOccurrence(event, payload, body);
  const repository = asText(asObject(payload.repository).full_name);
  if (PULL_REQUEST_EVENT.test(event) && repository !== null)
    return { kind: 'pull_request', host: readRepositoryHost(payload), repository };
  return ignoreOccurrence(`the event ${JSON.stringify(event.slice(0, 60))} does not create tasks`);
}

function readIssue(payload: JsonObject, body: Buffer): CodeHostOccurrence {
  const action = asText(payload.action);
  const issue = asObject(payload.issue);
  const labeled =
    (action === 'labeled' && asText(asObject(payload.label).name) === LABEL) ||
    // Gitea and Forgejo send the issue with all its labels.
    (action === 'label_updated' && hasLabel(issue.labels));
  if (action !== 'opened' && !labeled) {
    return ignoreOccurrence(
      action === 'labeled'
        ? `only the label ${LABEL} creates a task`
        : 'only opened or labeled issues create tasks',
    );
  }
  const title = asText(issue.title);
  if (title === null) throw missingFieldsError(['issue.title']);
  return {
    kind: 'issue',
    key: buildOccurrenceKey('issue', payload, issue, body),
    ref: formatReference(payload, issue),
    ...readPeople(payload, issue),
    url: asText(issue.html_url),
    title,
    text: asText(issue.body) ?? '',
    below: '',
  };
}

function readComment(payload: JsonObject, body: Buffer): CodeHostOccurrence {
  if (asText(payload.action) !== 'created') return ignoreOccurrence('only created comments create tasks');
  const comment = asObject(payload.comment);
  const issue = asObject(payload.issue);
  const written = asText(comment.body);
  if (written === null) throw missingFieldsError(['comment.body']);
  const line = /^[^\r\n]*/.exec(written)![0];
  if (!/^\/svc(?:[ \t]|$)/.test(line)) return ignoreOccurrence('the comment does not start with /svc');
  return {
    kind: 'comment',
    key: buildOccurrenceKey('comment', payload, comment, body),
    ref: formatReference(payload, issue),
    ...readPeople(payload, comment),
    url: asText(comment.html_url),
    title: asText(issue.title) ?? '',
    text: line,
    below: written.slice(line.length).replaceAll('\r\n', '\n').trim(),
  };
}

/** Reads who wrote an issue or comment, and who caused the event. */
function readPeople(payload: JsonObject, thing: JsonObject) {
  const author = asText(asObject(thing.user).login);
  return {
    author,
    sender: asText(asObject(payload.sender).login) ?? author,
    owner: asText(asObject(asObject(payload.repository).owner).login),
    association: asText(thing.author_association),
  };
}

/**
 * Builds a permanent key from the payload's ids. It includes the host, since every service numbers from 1. A payload
 * without ids is keyed by its digest.
 */
function buildOccurrenceKey(kind: string, payload: JsonObject, thing: JsonObject, body: Buffer): string {
  const repository = asObject(payload.repository);
  const place = asScalar(repository.id) ?? asText(repository.full_name) ?? '';
  const id = asScalar(thing.id) ?? asScalar(thing.number);
  if (id === null) return `${kind}:${hash('sha256', body)}`;
  return `${kind}:${readRepositoryHost(payload)}:${place}:${id}`;
}

function formatReference(payload: JsonObject, issue: JsonObject): string {
  const name = asText(asObject(payload.repository).full_name) ?? 'repository';
  return `${name}#${asScalar(issue.number) ?? '?'}`.slice(0, 300);
}

function readRepositoryHost({ repository }: JsonObject): string {
  const url = asText(asObject(repository).html_url);
  return url !== null && URL.canParse(url) ? new URL(url).host : '';
}

const hasLabel = (labels: unknown): boolean =>
  Array.isArray(labels) && labels.some((label) => asObject(label).name === LABEL);

const NONE: JsonObject = Object.freeze({});
const asObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : NONE);
const asText = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const asScalar = (value: unknown): string | null =>
  typeof value === 'number' || typeof value === 'string' ? String(value) : null;

const missingFieldsError = (names: readonly string[]) =>
  fieldsInvalidError(names.map((field): FieldProblem => ({ field, problem: 'must be a string' })));
