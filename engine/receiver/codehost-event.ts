import { hash } from 'node:crypto';
import { type FieldProblem, fieldsInvalid, isObject, type JsonObject } from './body.ts';

/** The label that makes an issue a task. */
export const LABEL = 'svc';

/** What an event of the code host means here. */
export type Occurrence =
  | { kind: 'ignored'; reason: string }
  | {
      kind: 'issue' | 'comment';
      /** Names the issue or comment for good. */
      key: string;
      /** `owner/repo#9`. */
      ref: string;
      /** Login of who wrote the text; null where the payload has none. */
      author: string | null;
      /** Login of whose doing the event is: who opened, labeled or commented; null where the payload has none. */
      sender: string | null;
      /** Login of whose repository it is. */
      owner: string | null;
      /** The author's relation to the repository, null where the service does not say: Gitea and Forgejo never do. */
      association: string | null;
      url: string | null;
      title: string;
      /** Of the issue; of a comment its first line. */
      text: string;
    };

const ignored = (reason: string): Occurrence => ({ kind: 'ignored', reason });

/** The event's name where no header gives it. */
function inferred(payload: JsonObject): string | null {
  if (isObject(payload.comment) && isObject(payload.issue)) return 'issue_comment';
  if (isObject(payload.issue)) return 'issues';
  return typeof payload.zen === 'string' && payload.hook_id !== undefined ? 'ping' : null;
}

/** Reads a payload of `name` (null: inferred). Throws `fields_invalid`, naming each missing field. */
export function readEvent(name: string | null, payload: JsonObject, body: Buffer): Occurrence {
  const event = name ?? inferred(payload);
  if (event === null) return ignored('the payload is of no event that makes tasks');
  if (event === 'ping') return ignored('ping');
  if (event === 'issues') return readIssue(payload, body);
  if (event === 'issue_comment') return readComment(payload, body);
  return ignored(`the event ${JSON.stringify(event.slice(0, 60))} makes no tasks`);
}

function readIssue(payload: JsonObject, body: Buffer): Occurrence {
  const action = text(payload.action);
  const issue = object(payload.issue);
  const labeled =
    (action === 'labeled' && text(object(payload.label).name) === LABEL) ||
    // Gitea and Forgejo send the issue with all its labels.
    (action === 'label_updated' && hasLabel(issue.labels));
  if (action !== 'opened' && !labeled) {
    return ignored(
      action === 'labeled'
        ? `only the label ${LABEL} makes a task`
        : 'only opened or labeled issues make tasks',
    );
  }
  const title = text(issue.title);
  if (title === null) throw missing(['issue.title']);
  return {
    kind: 'issue',
    key: keyOf('issue', payload, issue, body),
    ref: refOf(payload, issue),
    ...peopleOf(payload, issue),
    url: text(issue.html_url),
    title,
    text: text(issue.body) ?? '',
  };
}

function readComment(payload: JsonObject, body: Buffer): Occurrence {
  if (text(payload.action) !== 'created') return ignored('only created comments make tasks');
  const comment = object(payload.comment);
  const issue = object(payload.issue);
  const written = text(comment.body);
  if (written === null) throw missing(['comment.body']);
  const line = /^[^\r\n]*/.exec(written)![0];
  if (!/^\/svc(?:[ \t]|$)/.test(line)) return ignored('the comment does not start with /svc');
  return {
    kind: 'comment',
    key: keyOf('comment', payload, comment, body),
    ref: refOf(payload, issue),
    ...peopleOf(payload, comment),
    url: text(comment.html_url),
    title: text(issue.title) ?? '',
    text: line,
  };
}

/** Who wrote an issue or comment, and who sent it here. */
function peopleOf(payload: JsonObject, thing: JsonObject) {
  const author = text(object(thing.user).login);
  return {
    author,
    sender: text(object(payload.sender).login) ?? author,
    owner: text(object(object(payload.repository).owner).login),
    association: text(thing.author_association),
  };
}

/**
 * From the payload's own ids. The host is part of it, because two services count from 1 both; a payload without ids is
 * its own key.
 */
function keyOf(kind: string, payload: JsonObject, thing: JsonObject, body: Buffer): string {
  const repository = object(payload.repository);
  const place = scalar(repository.id) ?? text(repository.full_name) ?? '';
  const id = scalar(thing.id) ?? scalar(thing.number);
  if (id === null) return `${kind}:${hash('sha256', body)}`;
  return `${kind}:${hostOf(text(repository.html_url))}:${place}:${id}`;
}

function refOf(payload: JsonObject, issue: JsonObject): string {
  const name = text(object(payload.repository).full_name) ?? 'repository';
  return `${name}#${scalar(issue.number) ?? '?'}`.slice(0, 300);
}

const hostOf = (url: string | null): string => (url !== null && URL.canParse(url) ? new URL(url).host : '');

const hasLabel = (labels: unknown): boolean =>
  Array.isArray(labels) && labels.some((label) => object(label).name === LABEL);

const NONE: JsonObject = Object.freeze({});
const object = (value: unknown): JsonObject => (isObject(value) ? value : NONE);
const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const scalar = (value: unknown): string | null =>
  typeof value === 'number' || typeof value === 'string' ? String(value) : null;

const missing = (names: readonly string[]) =>
  fieldsInvalid(names.map((field): FieldProblem => ({ field, problem: 'must be a string' })));
