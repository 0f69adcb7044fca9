import { readFileSync, statSync } from 'node:fs';
import { SvcError } from '../../core/base/errors.ts';
import { toPrintable } from '../../core/base/text.ts';
import type { NamedPath } from '../../core/workspace/workspace-path.ts';
import { type ParsedLedger, parseLedger } from './parse.ts';

/** Far more than a checklist needs, and little enough to be read synchronously. */
const MAX_BYTES = 1024 * 1024;

/** Reads a ledger; null if the file does not exist. Throws `fields_invalid` if it is not a readable file. */
export function readLedger({ absolute, key }: NamedPath): ParsedLedger | null {
  try {
    const found = statSync(absolute, { throwIfNoEntry: false });
    if (found === undefined) return null;
    // Reading a pipe would never end.
    if (!found.isFile()) throw ledgerInvalidError(key, 'is not a file');
    if (found.size > MAX_BYTES) throw ledgerInvalidError(key, `has more than ${MAX_BYTES / 1024 ** 2} MiB`);
    return parseLedger(readFileSync(absolute, 'utf8'));
  } catch (error) {
    if (error instanceof SvcError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw ledgerInvalidError(key, `cannot be read: ${code ?? message}`);
  }
}

const ledgerInvalidError = (key: string, why: string): SvcError =>
  new SvcError('fields_invalid', `ledger: ${toPrintable(key)} ${why}`, {
    hint: 'a ledger is a Markdown file with a checklist',
    data: { ledger: key },
  });
