import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { SvcError } from '../base/errors.ts';
import { readPrivate, replacePrivate } from '../base/private-files.ts';
import type { Tables } from './database/tables.ts';

/** Secrets shorter than this are refused, bytes. */
const SHORTEST_BYTES = 32;

/** The one secret that all others of a server are derived from. */
export interface RootSecret {
  /** Derives a key of 32 bytes for one purpose (HKDF with SHA-256, RFC 5869). */
  deriveKey(purpose: string): Buffer;
  /** The file it was made in just now, which has to be backed up; null otherwise. */
  madeFile: string | null;
}

/** Reads the secret from `SVC_LEASE_SECRET`, else `server.key`, which the first start makes. Throws `usage`, `storage_unsafe`. */
export function loadRootSecret(folder: string, env: NodeJS.ProcessEnv): RootSecret {
  const given = env.SVC_LEASE_SECRET;
  if (given !== undefined && given !== '') {
    if (Buffer.byteLength(given) < SHORTEST_BYTES)
      throw new SvcError('usage', `SVC_LEASE_SECRET has fewer than ${SHORTEST_BYTES} bytes`, {
        hint: 'openssl rand -base64 48 makes one',
      });
    return makeRootSecret(given, null);
  }
  const file = join(folder, 'server.key');
  const found = readPrivate(file, 4096)?.trim();
  if (found !== undefined && Buffer.byteLength(found) >= SHORTEST_BYTES) return makeRootSecret(found, null);
  if (found !== undefined)
    throw new SvcError('storage_unsafe', `${file} holds fewer than ${SHORTEST_BYTES} bytes`, {
      hint: 'put its backup in its place',
    });
  const made = randomBytes(SHORTEST_BYTES).toString('base64url');
  replacePrivate(file, `${made}\n`, { isDurable: true });
  return makeRootSecret(made, file);
}

const makeRootSecret = (text: string, madeFile: string | null): RootSecret => ({
  deriveKey: (purpose) => Buffer.from(hkdfSync('sha256', text, '', `svc ${purpose}`, 32)),
  madeFile,
});

const CHECK_KEY = 'root_secret_check';

/** Compares the secret with the one that the database was made with. Throws `key_mismatch`. */
export async function checkRootSecret(db: Kysely<Tables>, secret: RootSecret): Promise<void> {
  const value = secret.deriveKey('check').toString('hex');
  await db
    .insertInto('meta')
    .values({ key: CHECK_KEY, value })
    .onConflict((same) => same.column('key').doNothing())
    .execute();
  const kept = await db
    .selectFrom('meta')
    .select('value')
    .where('key', '=', CHECK_KEY)
    .executeTakeFirstOrThrow();
  if (kept.value !== value)
    throw new SvcError('key_mismatch', 'the database was made with another root secret', {
      hint: 'start with the SVC_LEASE_SECRET or server.key that it was made with',
    });
}

/** A random token with its prefix, and what is kept of it. */
export function makeToken(prefix = ''): { token: string; hash: string } {
  const token = `${prefix}${randomBytes(32).toString('base64url')}`;
  return { token, hash: hashToken(token) };
}

/** What is kept of a token, a code or an address that opens something: its SHA-256, in hex. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex');

/** A short id that opens nothing. */
export const makeServerId = (prefix: string): string => `${prefix}_${randomBytes(9).toString('base64url')}`;
