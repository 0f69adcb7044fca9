import { request } from 'undici';
import { SvcError } from '../core/base/errors.ts';
import { createTail } from '../core/base/read-program-end.ts';
import { createOutgoing, describeUnreachable } from '../core/http/outgoing.ts';
import { readProxies } from '../core/http/proxies.ts';
import { type ForgeToken, LOG_BYTES, LOG_MS, REQUEST_BYTES, REQUEST_MS } from './access.ts';
import { readForgeBody } from './read-answer.ts';
import type { ForgeTransport } from './requests.ts';

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
  const root = new URL(`https://${host}/api/v1/`);
  const unknown = (error: unknown): SvcError =>
    new SvcError('program_failed', describeUnreachable(`${name} at ${host}`, error));

  /** Calls `use` with the answer, whose body it reads, and closes the connection. */
  async function call<T>(
    { method, path, headers, fields }: Parameters<ForgeTransport['send']>[0],
    timeoutMs: number,
    use: (answer: Awaited<ReturnType<typeof request>>) => Promise<T>,
  ): Promise<T> {
    const dispatcher = createOutgoing(root, readProxies(env));
    const sent = Object.keys(fields).length === 0 ? null : JSON.stringify(fields);
    const given = headers.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]);
    try {
      return await use(
        await request(new URL(path, root), {
          ...{ method, dispatcher, body: sent, signal: AbortSignal.timeout(timeoutMs) },
          headers: {
            ...{ accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'svc' },
            ...{ ...Object.fromEntries(given), authorization: `token ${token}` },
          },
        }),
      );
    } catch (error) {
      throw error instanceof SvcError ? error : unknown(error);
    } finally {
      void dispatcher.destroy();
    }
  }

  return {
    host: name,
    hints: {
      login: `a token of ${host} in ${variable}`,
      check: `check the name of the repository, and what the token in ${variable} may read`,
    },
    send: (wanted) =>
      call(wanted, REQUEST_MS, async ({ statusCode: status, headers, body }) => {
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
      }),
    readText: (path) =>
      call({ method: 'GET', path, headers: [], fields: {} }, LOG_MS, async ({ statusCode, body }) => {
        const tail = createTail(LOG_BYTES);
        for await (const chunk of body as AsyncIterable<Buffer>) tail.add(chunk);
        if (statusCode === 200) return tail.readText();
        throw new SvcError('program_failed', `${name} answered with status ${statusCode}`);
      }),
  };
}
