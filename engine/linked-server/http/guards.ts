import { getCookie, setCookie } from 'hono/cookie';
import type { MiddlewareHandler } from 'hono/types';
import { SvcError } from '../../core/base/errors.ts';
import { findClientAddress } from '../client-address.ts';
import type { PageWish } from '../database/list-page.ts';
import type { SignedIn } from '../people/people.ts';
import { readHeader, type ServerContext, type ServerEnv, type ServerParts } from './context.ts';

type Guard = MiddlewareHandler<ServerEnv>;

/** Guards that refuse a request before it reaches a route; null to let it pass. */
type Check = (context: ServerContext) => Response | Promise<Response> | null;

/** Different programs could read different ones of two headers (RFC 9112, section 3.2). */
function isNamedOnce(rawHeaders: readonly string[], name: string): boolean {
  let found = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === name) found += 1;
  return found === 1;
}

/** A `Host` other than the public one is 421: this server answers under one name only (RFC 9110, section 15.5.20). */
export const checkHost = (origin: string): Check => {
  const { host, protocol } = new URL(origin);
  // Without TLS it is on loopback, and the client is on this machine.
  const answer = protocol === 'https:' ? 'this server has another name' : `this server is at ${origin}`;
  /** An absolute target overrides the header's host (RFC 9112, section 3.2.2). */
  const isOther = (target = ''): boolean => !target.startsWith('/') && URL.parse(target)?.host !== host;
  return (context) => {
    const { url, rawHeaders } = context.env.incoming;
    const isOurs = readHeader(context, 'host')?.toLowerCase() === host && isNamedOnce(rawHeaders, 'host');
    return isOurs && !isOther(url) ? null : context.text(`${answer}\n`, 421);
  };
};

/** Refuses an address with a NUL: PostgreSQL accepts none in a text. */
export const refuseNul: Check = (context) => (context.req.url.includes('%00') ? context.notFound() : null);

/** Returns the client's address, behind trusted proxies. */
export const findAddress = (context: ServerContext, { isTrustedProxy }: ServerParts): string =>
  findClientAddress(
    context.env.incoming.socket.remoteAddress ?? '',
    readHeader(context, 'x-forwarded-for'),
    isTrustedProxy,
  );

/**
 * Requires that requests with a cookie come from our own pages: `Sec-Fetch-Site: same-origin`, or our `Origin`, for
 * any content type. Applies to every form, before sign-in too.
 */
export const checkSameOrigin =
  (origin: string): Guard =>
  async (context, next) => {
    const { method } = context.req;
    if (method !== 'GET' && method !== 'HEAD') {
      const site = readHeader(context, 'sec-fetch-site');
      const isOurs = site === undefined ? readHeader(context, 'origin') === origin : site === 'same-origin';
      if (!isOurs) return context.text('this did not come from a page of this server\n', 403);
    }
    await next();
  };

/** Returns the cookie's name: with `__Host-` over https; a plain one on loopback, where not every browser accepts Secure. */
const cookieName = (origin: string): string => (origin.startsWith('https:') ? '__Host-svc' : 'svc');

export const readSessionCookie = (context: ServerContext, origin: string): string | undefined =>
  getCookie(context, cookieName(origin));

/** Sets the browser's session cookie, or clears it with ''. */
export function writeSessionCookie(context: ServerContext, origin: string, token: string): void {
  setCookie(context, cookieName(origin), token, {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    secure: origin.startsWith('https:'),
    ...(token === '' ? { maxAge: 0 } : { maxAge: 30 * 24 * 3600 }),
  });
}

/** Returns the signed-in person; null for none. */
export async function findVisitor(
  context: ServerContext,
  { people, origin }: ServerParts,
): Promise<SignedIn | null> {
  const token = readSessionCookie(context, origin);
  return token === undefined || token === '' ? null : people.findSignedIn(token);
}

/** Requires sign-in; the requested page opens afterwards. */
export const requireSignedIn =
  (parts: ServerParts): Guard =>
  async (context, next) => {
    const visitor = await findVisitor(context, parts);
    if (visitor === null) {
      const url = new URL(context.req.url);
      const next =
        context.req.method === 'GET' ? `?next=${encodeURIComponent(url.pathname + url.search)}` : '';
      return context.redirect(`/sign-in${next}`, 303);
    }
    context.set('signedIn', visitor);
    await next();
  };

/** Hides operator pages from others: 404, like missing pages. */
export const requireOperator: Guard = async (context, next) => {
  if (context.get('signedIn').person.is_operator !== 1) return context.notFound();
  await next();
};

/** Restricts changes of an account to admins; others see no such page. */
export const requireAdmin: Guard = async (context, next) => {
  if (context.get('signedIn').person.role !== 'admin') return context.notFound();
  await next();
};

/** Checks a browser's text; no one types a NUL, and PostgreSQL accepts none. */
const readFormText = (value: unknown): string =>
  typeof value === 'string' ? value.replaceAll('\0', '') : '';

/** Throws `body_invalid` for bodies that no browser sends, such as parts without a boundary. */
async function parseForm(context: ServerContext): Promise<Record<string, unknown>> {
  try {
    return await context.req.parseBody({ all: true });
  } catch (cause) {
    throw new SvcError('body_invalid', 'the form cannot be read', { cause });
  }
}

/** Returns a field of a form: its last value, as text. */
export async function readForm(context: ServerContext): Promise<(name: string) => string> {
  const field = await readFormLists(context);
  return (name) => field(name).at(-1) ?? '';
}

/** Returns all values of each field of a form, as text. */
export async function readFormLists(context: ServerContext): Promise<(name: string) => string[]> {
  const body = await parseForm(context);
  return (name) =>
    [body[name] ?? []]
      .flat()
      .filter((value) => typeof value === 'string')
      .map(readFormText);
}

/** Reads the requested page of a list from the address. */
export const readPageWish = (context: ServerContext): PageWish => ({
  after: context.req.query('after'),
  before: context.req.query('before'),
});

/** Returns a page of this server to redirect to, from outside input; `/app` for anything else. */
export const readNextPage = (text: string): string =>
  /^\/(?![/\\])[\x21-\x7e]*$/.test(text) && text.length < 500 ? text : '/app';

/** The notice of a page after a change: the address carries its key, never the sentence. */
export function readSaid(context: ServerContext, sentences: Readonly<Record<string, string>>): string | null {
  const word = context.req.query('said') ?? '';
  return Object.hasOwn(sentences, word) ? (sentences[word] ?? null) : null;
}
