import type { WireValue } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import type { LoggedEvent } from '../../storage/index.ts';
import type { Api } from '../compose/compose.ts';

/** The resources that a client can read and follow, in addition to the tools. */
export const TEMPLATES = [
  {
    uriTemplate: 'svc://inbox/{session}',
    name: 'inbox',
    title: 'Inbox of a session',
    description: 'Messages to a session, the unread ones first; chair is the inbox of this project’s Chair.',
    mimeType: 'application/json',
  },
  {
    uriTemplate: 'svc://task/{id}',
    name: 'task',
    title: 'A task',
    description: 'One task with its decision, sessions and timeline.',
    mimeType: 'application/json',
  },
];

export const inboxUri = (session: string): string => `svc://inbox/${encodeURIComponent(session)}`;
export const taskUri = (id: string): string => `svc://task/${encodeURIComponent(id)}`;

/** Finds the operation that reads a resource. Throws `not_found`. */
export function readerOf(
  uri: string,
):
  | { operation: 'msg.inbox'; input: Api['msg.inbox']['input'] }
  | { operation: 'task.show'; input: Api['task.show']['input'] } {
  const match = /^svc:\/\/(inbox|task)\/([^/?#]+)$/.exec(uri);
  const name = match === null ? '' : decodeSegment(match[2] ?? '');
  if (match?.[1] === 'inbox' && name !== '')
    return { operation: 'msg.inbox', input: { session: name, unread: false } };
  if (match?.[1] === 'task' && name !== '') return { operation: 'task.show', input: { id: name } };
  throw new SvcError('not_found', `no resource ${uri}`, {
    hint: 'svc://inbox/{session} and svc://task/{id}',
  });
}

function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/**
 * Reports whether an event changes a resource: mail to a Chair's seat, a worker or an agent is in the inbox of its
 * current holder, which only reading the inbox shows.
 */
export function isChangedBy(
  { kind, task_id, data }: WireValue<LoggedEvent>,
  uri: string,
): boolean | 'perhaps' {
  if (!uri.startsWith('svc://inbox/')) return task_id !== null && uri === taskUri(task_id);
  if (kind !== 'message_sent' && kind !== 'message_acked') return false;
  const { to, to_kind } = data as { to?: unknown; to_kind?: unknown };
  const isToAnother =
    to_kind === 'session' && typeof to === 'string' && !to.startsWith('chair') && uri !== inboxUri(to);
  return isToAnother ? false : 'perhaps';
}
