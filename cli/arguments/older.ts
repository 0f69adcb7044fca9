import { SvcError } from '../../engine/core/base/errors.ts';

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Parses an age such as `90d` or `36h` into seconds. Throws `usage`. */
export function parseOlder(text: string): number {
  const [, number, unit] = /^(\d+)([smhdw])$/.exec(text) ?? [];
  if (number === undefined || unit === undefined)
    throw new SvcError('usage', `--older ${text} is not an age`, { hint: 'write it like 90d or 36h' });
  return Number(number) * UNIT_SECONDS[unit]!;
}
