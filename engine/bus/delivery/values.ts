import { SvcError } from '../../core/base/errors.ts';
import { toPrintable } from '../../core/base/text.ts';
import type { MessageRow } from '../messages/rows.ts';
import type { NoticeTarget } from './targets.ts';

/** Values of the placeholders in `agents.notify`. All of them are untrusted input. */
export type TemplateValues = Readonly<Record<string, string>>;

/** Collects the values of a message, without control characters: notices are read in terminals. */
export function buildNoticeValues(row: MessageRow, target: NoticeTarget): TemplateValues {
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

const mapValues = (values: TemplateValues, change: (value: string, name: string) => string): TemplateValues =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));

/** Escapes headings in the body that would look like the start of another notice. */
export const escapeForBlock = (values: TemplateValues): TemplateValues => ({
  ...values,
  body: (values.body ?? '').replace(/^(?=[ \t]*#+[ \t]*Message \d)/gim, '\\'),
});

/** Allows only plain file names in a path, so that it leads nowhere else. Using any other value throws `path_outside`. */
export function restrictToFileNames(values: TemplateValues): TemplateValues {
  const names: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(names, name, { enumerable: true, get: () => checkFileName(name, value) });
  }
  return names;
}

function checkFileName(name: string, value: string): string {
  if (value.length <= 200 && !/[/\\\0]/.test(value) && value !== '.' && value !== '..') return value;
  throw new SvcError('path_outside', `${name} is not a file name: ${JSON.stringify(value.slice(0, 80))}`);
}

/** Escapes values for JSON text, between the quotes of the template. */
export const escapeForJson = (values: TemplateValues): TemplateValues =>
  mapValues(values, (value) => JSON.stringify(value).slice(1, -1));

/** Escapes values for a URL; `notify_base` is a URL itself. */
export const escapeForUrl = (values: TemplateValues): TemplateValues =>
  mapValues(values, (value, name) =>
    name === 'notify_base' ? value.replace(/\/+$/, '') : encodeURIComponent(value),
  );

/** Reduces values to one line of printable ASCII, for a header. */
export const escapeForHeader = (values: TemplateValues): TemplateValues =>
  mapValues(values, (value) => value.replace(/\s+/g, ' ').replace(/[^\u0020-\u007e]/g, '?'));

/** An argument of a program may have at most 128 KiB on Linux. */
const ARGUMENT_MAX_BYTES = 100 * 1024;

export const shortenForArgument = (values: TemplateValues): TemplateValues =>
  mapValues(values, (value) =>
    Buffer.byteLength(value) <= ARGUMENT_MAX_BYTES
      ? value
      : `${Buffer.from(value).subarray(0, ARGUMENT_MAX_BYTES).toString('utf8')}… (svc msg inbox shows the rest)`,
  );
