import { hash, randomBytes } from 'node:crypto';

/** What every virtual key begins with: a scanner for secrets finds it, and the gateway never sends it on. */
export const KEY_PREFIX = 'svc-vkey-';

/** Long enough that it cannot be guessed. */
export const createVirtualKey = (): string => `${KEY_PREFIX}${randomBytes(32).toString('base64url')}`;

/** What is kept of a key. */
export const hashVirtualKey = (key: string): Buffer => hash('sha256', key, 'buffer');
