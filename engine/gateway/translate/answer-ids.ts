import { randomBytes } from 'node:crypto';

/** Returns a new id for something that the provider gave none. */
export const makeId = (prefix: string): string => `${prefix}${randomBytes(12).toString('hex')}`;

/** Returns the provider's id of an answer in the caller's form. */
export const adaptId = (prefix: string, id: string | null): string => {
  if (id === null) return makeId(prefix);
  const plain = id.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 100);
  return plain.startsWith(prefix) ? plain : `${prefix}${plain}`;
};

/** Returns the current time in whole seconds since 1970, the creation time of an answer in some protocols. */
export const nowSec = (): number => Math.floor(Date.now() / 1000);
