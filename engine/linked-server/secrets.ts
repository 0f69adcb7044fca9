import { hash, randomBytes } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { SvcError } from '../core/base/errors.ts';
import { readPrivate, replacePrivate } from '../core/base/private-files.ts';
import { deriveLeaseKey, deriveRootKey, SHORTEST_ROOT_SECRET } from '../core/link-protocol/root-key.ts';
import type { Tables } from './database/tables.ts';

const KEY_FILE = 'server.key';
/** During a key change: the next one. */
const NEXT_KEY_FILE = 'server.key.next';

/** The root secret that all others of a server are derived from. */
export interface RootSecret {
  text: string;
  /** Derives a key of 32 bytes for one purpose (HKDF with SHA-256, RFC 5869). */
  deriveKey(purpose: string): Buffer;
  /** The key pair for leases. */
  leaseKey: ReturnType<typeof deriveLeaseKey>;
  /** The file of a newly created secret, which has to be backed up; null otherwise. */
  madeFile: string | null;
}

/**
 * Reads the secret in `SVC_LEASE_SECRET`, otherwise in `server.key`; null if there is neither. Throws `usage`,
 * `storage_unsafe`.
 */
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

/** Throws `usage` for a guessable secret. */
export function checkSecretLength(text: string, name: string): void {
  if (Buffer.byteLength(text) < SHORTEST_ROOT_SECRET)
    throw new SvcError('usage', `${name} has fewer than ${SHORTEST_ROOT_SECRET} bytes`, {
      hint: 'openssl rand -base64 48 creates one',
    });
}

export const makeSecretText = (): string => randomBytes(SHORTEST_ROOT_SECRET).toString('base64url');

/** Reads it; the first start creates `server.key`. */
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

/** The database key of the root secret's check value. */
export const ROOT_CHECK_KEY = 'root_secret_check';
/** The purpose of the key for encrypted values in the database. */
export const SEALING = 'sealing';

/** Returns the check value of a secret for the database. */
export const checkValueOf = (text: string): string => deriveRootKey(text, 'check').toString('hex');

/**
 * Compares the secret with the database's, and returns the valid one: completes an interrupted key change. Throws
 * `key_mismatch`.
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

/** Before the database is changed: so that no crash leaves it without its key. */
export function saveNextKey(folder: string, text: string): void {
  replacePrivate(join(folder, NEXT_KEY_FILE), `${text}\n`, { isDurable: true });
}

/** Afterwards. */
export function takeNextKey(folder: string): void {
  renameSync(join(folder, NEXT_KEY_FILE), join(folder, KEY_FILE));
}

/** Creates a random token with its prefix, and its stored form. */
export function makeToken(prefix = ''): { token: string; hash: string } {
  const token = `${prefix}${randomBytes(32).toString('base64url')}`;
  return { token, hash: hashToken(token) };
}

/** Returns the stored form of a token, code or secret address: its SHA-256, in hex. */
export const hashToken = (token: string): string => hash('sha256', token, 'hex');

/** Creates a short id that grants no access. */
export const makeServerId = (prefix: string): string => `${prefix}_${randomBytes(9).toString('base64url')}`;
