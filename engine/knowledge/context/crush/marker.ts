/** The replacement for omitted lines: how many, of what, and how to get them back. */
export interface OmissionMarker {
  /** Number of omitted lines. */
  count: number;
  /** Their type, e.g. `passing tests`. */
  what: string;
  /** Their differences, if short; may be empty. */
  values: string;
}

const HEAD = '[svc-crush: ';

/** A line start that no program prints: a text that contains it was crushed before. */
const WRITTEN = /^\s*"?\[svc-crush: \d+ /m;

export const hasMarker = (text: string): boolean => text.includes(HEAD) && WRITTEN.test(text);

/** Formats a marker of one line; `whole` says how to get the rest back. */
export function formatMarker({ count, what, values }: OmissionMarker, whole: string): string {
  return `${HEAD}${count} ${what} left out${values === '' ? '' : ` (${values})`}; all: ${whole}]`;
}
