import { SvcError } from '../../core/base/errors.ts';
import { EVENT_NAMES } from '../../notify/sending/index.ts';
import type { ChangeEntry } from '../change-log.ts';
import type { TargetRow } from '../database/tables.ts';
import type { WorkspaceWish } from './chosen-workspaces.ts';

const LONGEST_URL = 2000;

/** The fields of the form. */
export interface TargetWish {
  name: string;
  /** Empty keeps the saved one. */
  url: string;
  events: readonly string[];
  workspaces: WorkspaceWish;
}

export const createInvalidTargetError = (field: string, message: string, hint?: string): SvcError =>
  new SvcError('fields_invalid', message, {
    data: { fields: [field] },
    ...(hint === undefined ? {} : { hint }),
  });

export function readUrl(text: string): string {
  const url = URL.parse(text.trim());
  if (url === null || !['http:', 'https:'].includes(url.protocol) || text.length > LONGEST_URL)
    throw createInvalidTargetError(
      'url',
      'this is not an address that events can be posted to',
      'it must start with https://',
    );
  if (url.username !== '' || url.password !== '')
    throw createInvalidTargetError('url', 'an address with a user name and a password is refused');
  url.hash = '';
  return url.href;
}

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,47}$/u;

export function readNameAndEvents({ name, events }: TargetWish) {
  const normal = name.normalize('NFC').trim();
  if (!NAME.test(normal))
    throw createInvalidTargetError(
      'name',
      'a name has 1 to 48 letters, digits, spaces, dots, dashes and underscores',
    );
  const chosen = EVENT_NAMES.filter((event) => events.includes(event));
  if (chosen.length === 0 || chosen.length !== new Set(events).size)
    throw createInvalidTargetError('events', 'choose at least one event from the list');
  return { name: normal, events: JSON.stringify(chosen) };
}

/** Returns the entry of the account's log about a target. */
export const entryOf = ({ account_id, kind, name }: TargetRow, what: string, actor: string): ChangeEntry => ({
  account: account_id,
  actor,
  what,
  detail: `${name} (${kind})`,
});
