import { hash, randomBytes } from 'node:crypto';

/** The prefix of every virtual key: secret scanners detect it, and the gateway never forwards it. */
export const KEY_PREFIX = 'svc-vkey-';

/** Creates a key that is long enough to be unguessable. */
export const createVirtualKey = (): string => `${KEY_PREFIX}${randomBytes(32).toString('base64url')}`;

/** Returns the hash of a key, which is stored. */
export const hashVirtualKey = (key: string): Buffer => hash('sha256', key, 'buffer');
