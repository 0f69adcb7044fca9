import { SvcError } from '../core/base/errors.ts';
import { createTail } from '../core/base/read-program-end.ts';
import { type ForgeToken, LOG_BYTES, LOG_MS, REQUEST_BYTES, REQUEST_MS } from './access.ts';
import { readForgeBody } from './read-answer.ts';
import type { ForgeTransport } from './requests.ts';

/** Loads the client of HTTP, which most engines never need. */
const loadClient = () => import('./call-with-token.ts');

/**
 * Carries requests to the API of Gitea by https with a token. No redirect is followed: another host gets no token.
 * Throws `secret_missing`.
 */
export function createTokenTransport(
  name: string,
  env: NodeJS.ProcessEnv,
  host: string,
  { variable, value: token }: ForgeToken,
): ForgeTransport {
  if (token === undefined)
    throw new SvcError('secret_missing', `${variable} is not set`, {
      hint: `write ${variable}=… into keys.env of the machine home, with a token of ${host}`,
    });
  const holder = { name: `${name} at ${host}`, root: new URL(`https://${host}/api/v1/`), token, env };
  return {
    host: name,
    hints: {
      login: `a token of ${host} in ${variable}`,
      check: `check the name of the repository, and what the token in ${variable} may read`,
    },
    send: async (wanted) =>
      (await loadClient()).callWithToken(
        holder,
        wanted,
        REQUEST_MS,
        async ({ statusCode: status, headers, body }) => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          for await (const chunk of body as AsyncIterable<Buffer>) {
            bytes += chunk.length;
            if (bytes > REQUEST_BYTES)
              throw new SvcError('program_failed', `${name} answered with more than ${REQUEST_BYTES} bytes`);
            chunks.push(chunk);
          }
          return {
            status,
            headers: new Map(Object.entries(headers).map(([key, value]) => [key, String(value)])),
            body: readForgeBody(Buffer.concat(chunks).toString('utf8')),
          };
        },
      ),
    readText: async (path) =>
      (await loadClient()).callWithToken(
        holder,
        { method: 'GET', path, headers: [], fields: {} },
        LOG_MS,
        async ({ statusCode, body }) => {
          const tail = createTail(LOG_BYTES);
          for await (const chunk of body as AsyncIterable<Buffer>) tail.add(chunk);
          if (statusCode === 200) return tail.readText();
          throw new SvcError('program_failed', `${name} answered with status ${statusCode}`);
        },
      ),
  };
}
