import { SvcError } from '../../core/base/errors.ts';
import { openServerDatabase, readDatabaseUrl, type ServerDatabase } from '../database/open.ts';
import {
  checkRootSecret,
  checkSecretLength,
  checkValueOf,
  loadRootSecret,
  makeSecretText,
  readRootSecret,
  saveNextKey,
  takeNextKey,
} from '../secrets.ts';
import { importDatabase } from './import.ts';
import { encryptAnew } from './rotate-key.ts';

// Operations on a stopped server: the lock on its database ensures that.

interface Closed {
  folder: string;
  env: NodeJS.ProcessEnv;
}

async function withDatabase<T>(
  { folder, env }: Closed,
  work: (open: ServerDatabase) => Promise<T>,
): Promise<T> {
  const database = await openServerDatabase(folder, readDatabaseUrl(env));
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Fills a new server from an export. Throws as `importDatabase`. */
export async function importServer(
  closed: Closed,
  file: string,
): Promise<{ rows: number; database: string }> {
  const secret = readRootSecret(closed.folder, closed.env);
  if (secret === null)
    throw new SvcError('key_mismatch', 'an export does not include the root secret, and there is none here', {
      hint: `put the server.key of that server into ${closed.folder}, or set its SVC_LEASE_SECRET`,
    });
  return withDatabase(closed, async ({ db, name }) => ({
    ...(await importDatabase(db, file, checkValueOf(secret.text))),
    database: name,
  }));
}

/**
 * Re-encrypts everything with a new root secret, which is written to `server.key`; with `SVC_LEASE_SECRET` it is the
 * given one, and the operator sets it there. Throws `usage`, `key_mismatch`.
 */
export async function rotateServerKey(
  closed: Closed,
  given: string | null,
): Promise<{ values: number; file: string | null }> {
  const { folder, env } = closed;
  const isFromEnvironment = (env.SVC_LEASE_SECRET ?? '') !== '';
  if (isFromEnvironment && given === null)
    throw new SvcError('usage', 'the root secret is in SVC_LEASE_SECRET, so the new one must be given', {
      hint: 'openssl rand -base64 48 | tee new-secret | svc server rotate-key --secret -',
    });
  if (given !== null) checkSecretLength(given, 'the new secret');
  const after = given ?? makeSecretText();
  return withDatabase(closed, async ({ db }) => {
    const before = await checkRootSecret(db, loadRootSecret(folder, env), folder);
    if (before.text === after) throw new SvcError('usage', 'this is already its secret');
    if (!isFromEnvironment) saveNextKey(folder, after);
    const { values } = await encryptAnew(db, { before: before.text, after });
    if (!isFromEnvironment) takeNextKey(folder);
    return { values, file: isFromEnvironment ? null : `${folder}/server.key` };
  });
}
