import { SvcError } from '../../engine/core/base/errors.ts';
import { parseOlder } from './older.ts';

/** Converts a time, or an age such as `30d`, to RFC 3339. Throws `usage`, which names the flag. */
export function parseMoment(text: string, flag: string): string {
  if (/^\d+[smhdw]$/.test(text)) return new Date(Date.now() - parseOlder(text) * 1000).toISOString();
  const at = /^\d{4}-\d\d-\d\d(?:T|$)/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw new SvcError('usage', `--${flag} ${text} is neither a date nor an age`, {
      hint: 'write it like 30d or 2026-01-31',
    });
  return new Date(at).toISOString();
}
