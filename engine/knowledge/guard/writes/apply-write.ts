import type { PlannedWrite } from '../../../bus/hooks/index.ts';

/** Maximum size of a file after a write that is still checked. */
const LONGEST = 2 * 1024 * 1024;

/** Returns the future content of a file; null if it is longer than any source. */
export function applyWrite(
  { text, edits = [] }: Omit<PlannedWrite, 'path'>,
  before: string | null,
): string | null {
  let after = text ?? before ?? '';
  for (const edit of edits) {
    after = applyEdit(after, edit);
    if (after.length > LONGEST) return null;
  }
  return after.length > LONGEST ? null : after;
}

function applyEdit(
  text: string,
  { old, new: replacement, all }: NonNullable<PlannedWrite['edits']>[number],
): string {
  const at = old === '' ? -1 : text.indexOf(old);
  // An editor that tolerates different whitespace may match text that does not occur literally.
  if (at < 0) return text === '' || text.endsWith('\n') ? text + replacement : `${text}\n${replacement}`;
  if (!all) return text.slice(0, at) + replacement + text.slice(at + old.length);
  const count = text.split(old).length - 1;
  const isTooLong = text.length + count * (replacement.length - old.length) > LONGEST;
  return isTooLong ? text.padEnd(LONGEST + 1) : text.replaceAll(old, () => replacement);
}
