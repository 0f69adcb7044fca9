import { SvcError } from '../../core/base/errors.ts';

/** Letters with their combining marks, except invisible ones; digits and a few signs. */
const NAME =
  /^(?=.{1,48}$)(?!.*\p{Default_Ignorable_Code_Point})[\p{L}\p{N}]\p{M}{0,3}(?:[\p{L}\p{N}]\p{M}{0,3}|[ ._-])*$/u;

/** Normalizes a name for comparison and for counting attempts: one key for all spellings. */
export const nameKey = (name: string): string => name.trim().normalize('NFKC').toLowerCase();

/** Validates the name of a person or an account, as it is stored. Throws `fields_invalid`. */
export function checkName(name: string, what: string): string {
  const normal = name.normalize('NFC').trim();
  if (!NAME.test(normal))
    throw new SvcError(
      'fields_invalid',
      `${what} has 1 to 48 letters, digits, spaces, dots, dashes and underscores`,
      { data: { fields: ['name'] } },
    );
  return normal;
}

export const takenError = (name: string): SvcError =>
  new SvcError('conflict', `${JSON.stringify(name)} is taken`, { hint: 'choose another name' });
