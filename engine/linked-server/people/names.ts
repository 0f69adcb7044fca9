import { SvcError } from '../../core/base/errors.ts';

/** Letters with the marks that many scripts write on them, but for marks that nobody sees; digits and a few signs. */
const NAME =
  /^(?=.{1,48}$)(?!.*\p{Default_Ignorable_Code_Point})[\p{L}\p{N}]\p{M}{0,3}(?:[\p{L}\p{N}]\p{M}{0,3}|[ ._-])*$/u;

/** A name as it is compared, and as tries of it are counted: one key, in whatever way it was typed. */
export const nameKey = (name: string): string => name.trim().normalize('NFKC').toLowerCase();

/** The name of a person or an account, as it is kept. Throws `fields_invalid`. */
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
