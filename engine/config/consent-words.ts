import { SvcError } from '../core/base/errors.ts';
import type { PendingKey } from './consent.ts';
import { isTree } from './layers.ts';

/** One difference: a key, or an entry of a map below it, with each side as one line. */
export interface DifferenceLine {
  key: string;
  /** The value in use; null is the default, or no entry. */
  old: string | null;
  /** The value in the file. */
  new: string | null;
}

/** Escapes characters that a terminal hides, reorders or interprets: a person must see everything they agree to. */
const escapeUnseen = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}\p{DI}]|(?! )\p{Zs}/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );

const formatForConsent = (value: unknown): string | null =>
  value === null || value === undefined ? null : escapeUnseen(JSON.stringify(value));

/** Lists the waiting values, entry by entry, safe for a terminal. */
export function listPendingLines(pending: readonly PendingKey[]): DifferenceLine[] {
  return pending.flatMap(({ key, old, new: now }) => listDifferenceLines(escapeUnseen(key), old, now));
}

function listDifferenceLines(key: string, old: unknown, now: unknown): DifferenceLine[] {
  // A value that changed between map and non-map is shown as a whole.
  const isMap = (value: unknown): boolean => isTree(value) || value === null || value === undefined;
  if ((isTree(old) || isTree(now)) && isMap(old) && isMap(now)) {
    const [before, after] = [isTree(old) ? old : {}, isTree(now) ? now : {}];
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    const lines = names.flatMap((name) =>
      listDifferenceLines(`${key}.${escapeUnseen(name)}`, before[name], after[name]),
    );
    return lines.length > 0 ? lines : [{ key, old: formatForConsent(old), new: formatForConsent(now) }];
  }
  const [before, after] = [formatForConsent(old), formatForConsent(now)];
  return before === after ? [] : [{ key, old: before, new: after }];
}

/** Creates the error for starting anything before a person has agreed to the workspace's configuration. */
export const consentMissingForStart = (file: string, pending: readonly PendingKey[]): SvcError =>
  new SvcError(
    'consent_missing',
    `no one on this machine has trusted ${file} (${pending.map(({ key }) => key).join(', ')}), so nothing is started`,
    {
      hint: 'svc trust shows the values and asks for consent',
      data: { keys: pending.map(({ key }) => key) },
    },
  );
