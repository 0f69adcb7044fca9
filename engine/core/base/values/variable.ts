import * as z from 'zod';
import { SvcError } from '../errors.ts';
import { refineWith } from './duration.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const ISSUED = /^(?:(?:whsec|sk|pk|rk|gh[a-z]|github_pat)_|eyJ)/;

/**
 * Returns the names in a comma-separated list of environment variables. A pasted secret is refused, and no message
 * repeats the text, because it would end up in a terminal's history or a log. Throws `config_invalid`.
 */
export function parseVariableNames(text: string): string[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  for (const name of names) {
    if (looksLikeSecret(name)) {
      throw new SvcError(
        'config_invalid',
        'looks like a secret itself; put the secret into an environment variable and write the name of that variable here',
      );
    }
    if (!NAME.test(name))
      throw new SvcError('config_invalid', 'expected the name of an environment variable');
  }
  return names;
}

// A variable name has words between underscores or is short; a key is long without a break.
function looksLikeSecret(name: string): boolean {
  if (name.length > 80 || (ISSUED.test(name) && name.length > 12)) return true;
  const longest = Math.max(...name.split('_').map((word) => word.length));
  return longest >= 24 || (longest >= 16 && /\d/.test(name) && /[a-z]/.test(name));
}

const checkSingle = (text: string): void => {
  if (parseVariableNames(text).length > 1)
    throw new SvcError('config_invalid', 'expected one environment variable');
};

/** Creates a key for one environment variable name; empty means none. */
export const variableKey = () => z.string().superRefine(refineWith(checkSingle));

/** Creates a key for environment variable names, separated by commas. */
export const variablesKey = () => z.string().superRefine(refineWith(parseVariableNames));

/** Creates a key for an http(s) address; empty means none unless `required`. */
export const httpUrlKey = (required = false) =>
  z.string().superRefine(
    refineWith((text) => {
      if (text === '' && !required) return;
      const protocol = URL.canParse(text) ? new URL(text).protocol : '';
      if (protocol !== 'http:' && protocol !== 'https:') {
        throw new SvcError('config_invalid', 'expected an address that starts with http:// or https://');
      }
    }),
  );
