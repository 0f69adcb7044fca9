/** What stands where lines were left out: how many, of what, and how to get them back. */
export interface Marker {
  /** Lines that are not shown. */
  count: number;
  /** What they are, e.g. `passing tests`. */
  what: string;
  /** What they differ in, when that is little; may be empty. */
  values: string;
}

const HEAD = '[svc-crush: ';

/** What no output of a program begins a line with: a text that has it was crushed before. */
const WRITTEN = /^\s*"?\[svc-crush: \d+ /m;

export const hasMarker = (text: string): boolean => text.includes(HEAD) && WRITTEN.test(text);

/** One line; `whole` says how to get the rest back. */
export function formatMarker({ count, what, values }: Marker, whole: string): string {
  return `${HEAD}${count} ${what} left out${values === '' ? '' : ` (${values})`}; all: ${whole}]`;
}
