import { hash, randomBytes } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { SvcError } from '../core/base/errors.ts';
import { readPrivate, replacePrivate } from '../core/base/private-files.ts';
import { deriveLeaseKey, deriveRootKey, SHORTEST_ROOT_SECRET } from '../core/link-protocol/root-key.ts';
import type { Tables } from './database/tables.ts';

const KEY_FILE = 'server.key';
/** While the key is changed: the one that follows. */
const NEXT_KEY_FILE = 'server.key.next';

/** The one secret that all others of a server are derived from. */
export interface RootSecret {
  text: string;
  /** Derives a key of 32 bytes for one purpose (HKDF with SHA-256, RFC 5869). */
  deriveKey(purpose: string): Buffer;
  /** What signs leases, and what verifies them. */
  leaseKey: ReturnType<typeof deriveLeaseKey>;
  /** The file it was made in just now, which has to be backed up; null otherwise. */
  madeFile: string | null;
}

/** The secret in `SVC_LEASE_SECRET`, else in `server.key`; null where there is neither. Throws `usage`, `storage_unsafe`. */
export function readRootSecret(folder: string, env: NodeJS.ProcessEnv): RootSecret | null {
  const given = env.SVC_LEASE_SECRET;
  if (given !== undefined && given !== '') {
    checkSecretLength(given, 'SVC_LEASE_SECRET');
    return makeRootSecret(given, null);
  }
  const file = join(folder, KEY_FILE);
  const found = readPrivate(file, 4096)?.trim();
  if (found === undefined) return null;
  if (Buffer.byteLength(found) >= SHORTEST_ROOT_SECRET) return makeRootSecret(found, null);
  throw new SvcError('storage_unsafe', `${file} holds fewer than ${SHORTEST_ROOT_SECRET} bytes`, {
    hint: 'restore its backup',
  });
}

/** Throws `usage` for a secret that can be guessed. */
export function checkSecretLength(text: string, name: string): void {
  if (Buffer.byteLength(text) < SHORTEST_ROOT_SECRET)
    throw new SvcError('usage', `${name} has fewer than ${SHORTEST_ROOT_SECRET} bytes`, {
      hint: 'openssl rand -base64 48 creates one',
    });
}

export const makeSecretText = (): string => randomBytes(SHORTEST_ROOT_SECRET).toString('base64url');

/** The same; the first start makes `server.key`. */
export function loadRootSecret(folder: string, env: NodeJS.ProcessEnv): RootSecret {
  const found = readRootSecret(folder, env);
  if (found !== null) return found;
  const file = join(folder, KEY_FILE);
  const made = makeSecretText();
  replacePrivate(file, `${made}\n`, { isDurable: true });
  return makeRootSecret(made, file);
}

const makeRootSecret = (text: string, madeFile: string | null): RootSecret => ({
  text,
  deriveKey: (purpose) => deriveRootKey(text, purpose),
  leaseKey: deriveLeaseKey(text),
  madeFile,
});

/** Where the database says with which secret it was made. */
export const ROOT_CHECK_KEY = 'root_secret_check';
/** What is encrypted in the database is so with the key for this. */
export const SEALING = 'sealing';

/** What the database keeps of a secret, to know it again. */
export const checkValueOf = (text: string): string => deriveRootKey(text, 'check').toString('hex');

/**
 * Compares the secret with the one that the database was made with, and gives the one that counts: a change of the key that
 * was cut short is brought to its end. Throws `key_mismatch`.
 */
export async function checkRootSecret(
  db: Kysely<Tables>,
  secret: RootSecret,
  folder: string,
): Promise<RootSecret> {
  const value = checkValueOf(secret.text);
  await db
    .insertInto('meta')
    .values({ key: ROOT_CHECK_KEY, value })
    .onConflict((same) => same.column('key').doNothing())
    .execute();
  const kept = await db
    .selectFrom('meta')
    .select('value')
    .where('key', '=', ROOT_CHECK_KEY)
    .executeTakeFirstOrThrow();
  if (kept.value === value) return secret;
  const next = readPrivate(join(folder, NEXT_KEY_FILE), 4096)?.trim();
  if (next !== undefined && checkValueOf(next) === kept.value) {
    takeNextKey(folder);
    return makeRootSecret(next, null);
  }
  throw new SvcError('key_mismatch', 'the database was made with another root secret', {
    hint: 'start with the SVC_LEASE_SECRET or server.key that it was made with',
  });
}

/** Before the database is changed: so that no end of the process leaves it without its key. */
export function saveNextKey(folder: string, text: string): void {
  replacePrivate(join(folder, NEXT_KEY_FILE), `${text}\n`, { isDurable: true });
}

/** After that. */
export function takeNextKey(folder: string): void {
  renameSync(join(folder, NEXT_KEY_FILE), join(folder, KEY_FILE));
}

/** A random token with its prefix, and what is kept of it. */
export function makeToken(prefix = ''): { token: string; hash: string } {
  const token = `${prefix}${randomBytes(32).toString('base64url')}`;
  return { token, hash: hashToken(token) };
}

/** What is kept of a token, a code or an address that opens something: its SHA-256, in hex. */
export const hashToken = (token: string): string => hash('sha256', token, 'hex');

/** A short id that opens nothing. */
export const makeServerId = (prefix: string): string => `${prefix}_${randomBytes(9).toString('base64url')}`;
