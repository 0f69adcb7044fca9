import { randomBytes } from 'node:crypto';

/** A new id, for what the provider gave none. */
export const makeId = (prefix: string): string => `${prefix}${randomBytes(12).toString('hex')}`;

/** The provider's id of an answer in the caller's form, so that one can be found by the other. */
export const adaptId = (prefix: string, id: string | null): string => {
  if (id === null) return makeId(prefix);
  const plain = id.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 100);
  return plain.startsWith(prefix) ? plain : `${prefix}${plain}`;
};

/** Now, in whole seconds since 1970: when an answer was made, for protocols that say so. */
export const nowSec = (): number => Math.floor(Date.now() / 1000);
