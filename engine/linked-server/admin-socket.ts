import { request } from 'node:http';
import { join } from 'node:path';
import { z } from 'zod';
import { isErrorCode, SvcError } from '../core/base/errors.ts';
import { LONGEST_SOCKET_PATH } from '../core/base/paths.ts';
import type { AdminVerb } from './administer.ts';

/** The name of the socket in the server's data folder. */
const SOCKET_NAME = 'server.sock';

/** Returns the socket path for the commands of a server folder. Throws `usage` if the folder's path leaves no room for a socket. */
export function findAdminSocket(folder: string): string {
  const path = join(folder, SOCKET_NAME);
  const bytes = Buffer.byteLength(path);
  if (bytes > LONGEST_SOCKET_PATH)
    throw new SvcError(
      'usage',
      `the path of the data folder is too long: ${path} has ${bytes} bytes; a socket may have at most ${LONGEST_SOCKET_PATH}`,
      { hint: 'choose a shorter one with --data' },
    );
  return path;
}

/** The time limit for a command, ms; an export of a large database takes long. */
const PATIENCE_MS = 10_000;
const EXPORT_PATIENCE_MS = 600_000;

const answer = z.union([
  z.object({ result: z.unknown() }),
  z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }),
]);

/**
 * Asks the server that runs on the folder; undefined if none does. Throws the server's error, and `storage_failed` if
 * it does not answer.
 */
export async function askRunningServer(
  folder: string,
  verb: AdminVerb,
  input: unknown,
): Promise<{ result: unknown } | undefined> {
  const socketPath = findAdminSocket(folder);
  const timeout = verb === 'export' ? EXPORT_PATIENCE_MS : PATIENCE_MS;
  let text: string;
  try {
    text = await post({ socketPath, path: `/${verb}`, timeout }, JSON.stringify(input));
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return undefined;
    if (code === 'EACCES' || code === 'EPERM')
      throw new SvcError('storage_failed', `you may not open ${socketPath}`, {
        hint: 'run it as the user who runs the server',
        cause,
      });
    throw noAnswer(socketPath, message, cause);
  }
  let read: z.output<typeof answer>;
  try {
    read = answer.parse(JSON.parse(text));
  } catch (cause) {
    throw noAnswer(socketPath, 'its answer is invalid', cause);
  }
  if ('result' in read) return { result: read.result };
  const { code, message, hint } = read;
  throw new SvcError(isErrorCode(code) ? code : 'internal', message, hint === undefined ? {} : { hint });
}

const noAnswer = (socket: string, why: string, cause: unknown): SvcError =>
  new SvcError('storage_failed', `the server at ${socket} does not answer: ${why}`, {
    hint: 'see its log; once it is stopped, the command works without it',
    cause,
  });

/** Resolves with the whole answer, regardless of its status. */
function post(
  { timeout, ...place }: { socketPath: string; path: string; timeout: number },
  body: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ ...place, timeout, method: 'POST', agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('error', reject);
      response.on('end', () => resolve(text));
    });
    asked.on('timeout', () => asked.destroy(new Error(`nothing arrived within ${timeout / 1000} seconds`)));
    asked.on('error', reject);
    asked.end(body);
  });
}
