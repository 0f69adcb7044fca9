import { toPrintable } from '../../../../core/base/text.ts';

/** How much of a filter's output goes into a message. */
const FILTER_LINES = 3;
const LINE_CHARACTERS = 300;

const GIT_LINE = /^(?:fatal|error|warning|hint): /;
const FAILED_FILTER = /^(?:fatal|error): .*\bfilter\b.* failed/;

/** Returns git's own message about a failure, without its prefix; for a failed filter, with its last lines too. Empty for none. */
export function describeFailure(stderr: string): string {
  const lines = stderr.split(/[\r\n]+/).filter((line) => line.trim() !== '');
  const failed = lines.filter((line) => FAILED_FILTER.test(line)).at(-1);
  const line = failed ?? lines.find((text) => /^(?:fatal|error):/.test(text)) ?? lines[0] ?? '';
  const reason = line.replace(/^(?:fatal|error): /, '').trim();
  const printed =
    failed === undefined ? [] : lines.filter((each) => !GIT_LINE.test(each)).slice(-FILTER_LINES);
  if (printed.length === 0) return reason;
  const last = printed.map((each) => each.trim().slice(0, LINE_CHARACTERS)).join(' / ');
  return toPrintable(`${reason}; the filter printed: ${last}`);
}
