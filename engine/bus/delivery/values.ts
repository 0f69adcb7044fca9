import { SvcError } from '../../base/errors.ts';
import { toPrintable } from '../../base/text.ts';
import type { MessageRow } from '../messages/rows.ts';
import type { Target } from './targets.ts';

/** What the placeholders of `agents.notify` stand for. Everything but the configuration's own text comes from outside. */
export type Values = Readonly<Record<string, string>>;

/** Control characters are taken out: a notice is read in terminals. */
export function valuesOf(row: MessageRow, target: Target): Values {
  return {
    msg_id: String(row.id),
    kind: row.kind,
    from_agent: toPrintable(row.from_agent ?? ''),
    from_session: toPrintable(row.from_session ?? ''),
    to_agent: toPrintable(row.to_agent ?? target.agent ?? ''),
    to_session: toPrintable(target.session),
    body: toPrintable(row.body, { lines: true }),
    notify_base: target.notifyBase ?? '',
  };
}

const each = (values: Values, change: (value: string, name: string) => string): Values =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));

/** A body cannot begin a notice of its own. */
export const inBlock = (values: Values): Values => ({
  ...values,
  body: (values.body ?? '').replace(/^(?=[ \t]*#+[ \t]*Message \d)/gim, '\\'),
});

/** As a part of a path a value is one plain name, so that it leads nowhere else. Throws `path_outside` when it is used. */
export function inPath(values: Values): Values {
  const names: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(names, name, { enumerable: true, get: () => fileName(name, value) });
  }
  return names;
}

function fileName(name: string, value: string): string {
  if (value.length <= 200 && !/[/\\\0]/.test(value) && value !== '.' && value !== '..') return value;
  throw new SvcError('path_outside', `${name} is no file name: ${JSON.stringify(value.slice(0, 80))}`);
}

/** As a part of JSON text, between the quotes of the template. */
export const inJson = (values: Values): Values => each(values, (value) => JSON.stringify(value).slice(1, -1));

/** As a part of an address; the base is one itself. */
export const inUrl = (values: Values): Values =>
  each(values, (value, name) =>
    name === 'notify_base' ? value.replace(/\/+$/, '') : encodeURIComponent(value),
  );

/** As a part of a header: one line of what HTTP can carry. */
export const inHeader = (values: Values): Values =>
  each(values, (value) => value.replace(/\s+/g, ' ').replace(/[^\u0020-\u007e]/g, '?'));

/** An argument of a program has at most 128 KiB on Linux. */
const ARGUMENT_MAX_BYTES = 100 * 1024;

export const inArgument = (values: Values): Values =>
  each(values, (value) =>
    Buffer.byteLength(value) <= ARGUMENT_MAX_BYTES
      ? value
      : `${Buffer.from(value).subarray(0, ARGUMENT_MAX_BYTES).toString('utf8')}… (svc msg inbox has all of it)`,
  );
