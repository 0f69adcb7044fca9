import { SvcError } from '../core/base/errors.ts';
import { toPrintable } from '../core/base/text.ts';
import type { JsonObject } from '../core/http/body.ts';
import type { ForgeText } from './forge.ts';
import { type ForgeAnswer, readForgeMessage, readRateLimit } from './read-answer.ts';
import { asObject, asText, listRows } from './read-json.ts';

/** A request to the API of a code host. */
export interface ForgeRequest {
  method: 'GET' | 'POST';
  path: string;
  /** `Name: value`. */
  headers: readonly string[];
  /** Texts of the body. */
  fields: Readonly<Record<string, string>>;
}

/** Carries requests to one code host. */
export interface ForgeTransport {
  /** Its name for people: `GitHub`. */
  host: string;
  /** How a person logs in again, and what to check after another refusal. */
  hints: { login: string; check: string };
  /** Returns the answer, whatever its status. Throws `tool_missing` and `program_failed` if there is none. */
  send(request: ForgeRequest): Promise<ForgeAnswer>;
  /** Reads the end of a text of any size, such as a log. Throws `tool_missing` and `program_failed`. */
  readText(path: string): Promise<ForgeText>;
}

/** Asks one code host. Throws `tool_missing` and `program_failed`; after a rate limit with `data.retry_after_s`. */
export interface ForgeRequests {
  host: string;
  /** Returns the answer to a GET request; null if it is still the one of `tag`. */
  get(path: string, tag?: string | null): Promise<ForgeAnswer | null>;
  /** Returns the body of the answer. */
  post(path: string, fields: Readonly<Record<string, string>>): Promise<unknown>;
  readText(path: string): Promise<ForgeText>;
}

/** The status of a refusal; null for any other error. */
export const findStatus = (error: unknown): number | null =>
  error instanceof SvcError && typeof error.data.status === 'number' ? error.data.status : null;

/** @param headers those of each request */
export function createRequests(
  transport: ForgeTransport,
  now: () => number,
  headers: readonly string[] = [],
): ForgeRequests {
  const { host, hints } = transport;

  function explainRefusal(path: string, answer: ForgeAnswer): SvcError {
    const { status } = answer;
    const said = toPrintable(readForgeMessage(answer) ?? `HTTP ${status}`).slice(0, 300);
    const pauseMs = readRateLimit(answer, now());
    const pause = pauseMs === null ? {} : { retry_after_s: pauseMs / 1000 };
    if (status >= 500 || status < 400)
      return new SvcError('program_failed', `${host} answered with status ${status}: ${said}`, {
        data: pause,
      });
    if (pauseMs !== null)
      return new SvcError('program_failed', `${host} limits the requests: ${said}`, { data: pause });
    return new SvcError(
      'program_failed',
      `${host} refused ${decodeURIComponent(path.split('?')[0] ?? '')}: ${said}`,
      {
        hint: status === 401 ? `${hints.login} logs in again` : hints.check,
        data: { status },
      },
    );
  }

  const isSuccess = ({ status }: ForgeAnswer): boolean => status >= 200 && status < 300;

  return {
    host,
    readText: transport.readText,
    async get(path, tag = null) {
      const all = [...headers, ...(tag === null ? [] : [`If-None-Match: ${tag}`])];
      const answer = await transport.send({ method: 'GET', path, headers: all, fields: {} });
      if (answer.status === 304 && tag !== null) return null;
      if (isSuccess(answer) && answer.body !== undefined) return answer;
      throw explainRefusal(path, answer);
    },
    async post(path, fields) {
      const answer = await transport.send({ method: 'POST', path, headers, fields });
      if (isSuccess(answer)) return answer.body;
      throw explainRefusal(path, answer);
    },
  };
}

/** The last answers to requests, by path. */
export type ForgeMemory = Map<string, ForgeAnswer>;

/** Makes each request conditional on the last answer, and returns that one again while it holds. */
export const rememberAnswers = (requests: ForgeRequests, memory: ForgeMemory): ForgeRequests => ({
  ...requests,
  async get(path) {
    const known = memory.get(path);
    const answer = (await requests.get(path, known?.headers.get('etag') ?? null)) ?? known ?? null;
    if (answer?.headers.has('etag')) memory.set(path, answer);
    return answer;
  },
});

/** Reports whether an answer is followed by another page: https://www.rfc-editor.org/rfc/rfc8288 */
const hasNextPage = ({ headers }: ForgeAnswer): boolean => /rel="?next"?/.test(headers.get('link') ?? '');

/**
 * Reads the pages of a list, as long as there is a next one. Yields nothing if the first one is still that of `tag`.
 * @param size the parameter of a page's size and its value
 */
export async function* readPages(
  requests: Pick<ForgeRequests, 'get'>,
  path: string,
  {
    query = {},
    size: [name, size],
    most,
    tag = null,
  }: {
    query?: Readonly<Record<string, string>>;
    size: readonly [name: string, size: number];
    /** The most pages that are read. */
    most: number;
    tag?: string | null;
  },
): AsyncGenerator<ForgeAnswer> {
  for (let page = 1; page <= most; page += 1) {
    const parts = new URLSearchParams({ ...query, [name]: String(size), page: String(page) });
    const answer = await requests.get(`${path}?${parts}`, page === 1 ? tag : null);
    if (answer === null) return;
    yield answer;
    if (!hasNextPage(answer)) return;
  }
}

/** Creates what reads an object, and all rows of a list as far as `most` pages. */
export const createReaders = (
  requests: Pick<ForgeRequests, 'get'>,
  pages: Pick<Parameters<typeof readPages>[2], 'size' | 'most'>,
) => ({
  readObject: async (path: string): Promise<JsonObject> => asObject((await requests.get(path))?.body),
  async readAll<T>(path: string, read: (body: unknown) => T[]): Promise<T[]> {
    const found: T[] = [];
    for await (const { body } of readPages(requests, path, pages)) found.push(...read(body));
    return found;
  },
});

/**
 * Posts a comment to the path of its list, unless a page of that list has its mark.
 * @param pages those that may have it
 */
export async function postComment(
  requests: Pick<ForgeRequests, 'post'>,
  path: string,
  { text, mark }: { text: string; mark: string },
  pages: AsyncIterable<Pick<ForgeAnswer, 'body'>>,
): Promise<void> {
  for await (const { body } of pages)
    if (listRows(body).some((comment) => asText(comment.body).includes(mark))) return;
  await requests.post(path, { body: text });
}
