import { hash, randomBytes } from 'node:crypto';

/** The prefix of every virtual key: secret scanners detect it, and the gateway never forwards it. */
export const KEY_PREFIX = 'svc-vkey-';

/** Long enough to be unguessable. */
export const createVirtualKey = (): string => `${KEY_PREFIX}${randomBytes(32).toString('base64url')}`;

/** The stored hash of a key. */
export const hashVirtualKey = (key: string): Buffer => hash('sha256', key, 'buffer');
