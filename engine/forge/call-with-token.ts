import { request } from 'undici';
import { SvcError } from '../core/base/errors.ts';
import { createOutgoing, describeUnreachable } from '../core/http/outgoing.ts';
import { readProxies } from '../core/http/proxies.ts';
import type { ForgeRequest } from './requests.ts';

/** An API, and who asks it. */
export interface TokenHolder {
  /** The code host with its name for people: `Gitea at git.example.org`. */
  name: string;
  /** The address of its API. */
  root: URL;
  token: string;
  env: NodeJS.ProcessEnv;
}

/** Sends a request with a token, calls `use` with the answer, whose body it reads, and closes the connection. */
export async function callWithToken<T>(
  { name, root, token, env }: TokenHolder,
  { method, path, headers, fields }: ForgeRequest,
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
    throw error instanceof SvcError
      ? error
      : new SvcError('program_failed', describeUnreachable(name, error));
  } finally {
    void dispatcher.destroy();
  }
}
