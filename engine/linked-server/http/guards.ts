import { getCookie, setCookie } from 'hono/cookie';
import type { MiddlewareHandler } from 'hono/types';
import { SvcError } from '../../core/base/errors.ts';
import type { PageWish } from '../database/list-page.ts';
import type { SignedIn } from '../people/people.ts';
import { findClientAddress } from './client-address.ts';
import { readHeader, type ServerContext, type ServerEnv, type ServerParts } from './context.ts';

type Guard = MiddlewareHandler<ServerEnv>;

/** What refuses a request before any route sees it; null for one that may go on. */
type Check = (context: ServerContext) => Response | Promise<Response> | null;

/** A second one would be read by somebody else than the first (RFC 9112, section 3.2). */
function isNamedOnce(rawHeaders: readonly string[], name: string): boolean {
  let found = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === name) found += 1;
  return found === 1;
}

/** Another `Host` than the public one is 421: this server answers under one name only (RFC 9110, section 15.5.20). */
export const checkHost = (origin: string): Check => {
  const { host, protocol } = new URL(origin);
  // Without TLS it is on loopback, and whoever asks is on this machine.
  const answer = protocol === 'https:' ? 'this server has another name' : `this server is at ${origin}`;
  /** A target with a whole address names the host instead of the header (RFC 9112, section 3.2.2). */
  const isOther = (target = ''): boolean => !target.startsWith('/') && URL.parse(target)?.host !== host;
  return (context) => {
    const { url, rawHeaders } = context.env.incoming;
    const isOurs = readHeader(context, 'host')?.toLowerCase() === host && isNamedOnce(rawHeaders, 'host');
    return isOurs && !isOther(url) ? null : context.text(`${answer}\n`, 421);
  };
};

/** An address with a NUL in it leads nowhere: PostgreSQL takes none in a text. */
export const refuseNul: Check = (context) => (context.req.url.includes('%00') ? context.notFound() : null);

/** The client's address, behind trusted proxies. */
export const findAddress = (context: ServerContext, { isTrustedProxy }: ServerParts): string =>
  findClientAddress(
    context.env.incoming.socket.remoteAddress ?? '',
    readHeader(context, 'x-forwarded-for'),
    isTrustedProxy,
  );

/**
 * What a browser sends with a cookie comes from our own pages: `Sec-Fetch-Site: same-origin`, or an `Origin` that is ours,
 * whatever the content type. Applies to every form, before sign-in too.
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

/** The cookie's name: with `__Host-` over https; a plain one on loopback, where not every browser takes Secure. */
const cookieName = (origin: string): string => (origin.startsWith('https:') ? '__Host-svc' : 'svc');

export const readSessionCookie = (context: ServerContext, origin: string): string | undefined =>
  getCookie(context, cookieName(origin));

/** Gives the browser its session, or takes it away with ''. */
export function writeSessionCookie(context: ServerContext, origin: string, token: string): void {
  setCookie(context, cookieName(origin), token, {
    path: '/',
    httpOnly: true,
    sameSite: 'Lax',
    secure: origin.startsWith('https:'),
    ...(token === '' ? { maxAge: 0 } : { maxAge: 30 * 24 * 3600 }),
  });
}

/** Who is signed in; null for nobody. */
export async function findVisitor(
  context: ServerContext,
  { people, origin }: ServerParts,
): Promise<SignedIn | null> {
  const token = readSessionCookie(context, origin);
  return token === undefined || token === '' ? null : people.findSignedIn(token);
}

/** Lets only people in who are signed in; a page that was asked for is opened after they are. */
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

/** Hides from others what only operators see: 404, like what does not exist. */
export const requireOperator: Guard = async (context, next) => {
  if (context.get('signedIn').person.is_operator !== 1) return context.notFound();
  await next();
};

/** Lets only admins change their account; others see no such page. */
export const requireAdmin: Guard = async (context, next) => {
  if (context.get('signedIn').person.role !== 'admin') return context.notFound();
  await next();
};

/** What a browser sends of a text; nobody types a NUL, and PostgreSQL takes none. */
const readText = (value: unknown): string => (typeof value === 'string' ? value.replaceAll('\0', '') : '');

/** Throws `body_invalid` for what no browser sends, such as parts without a boundary. */
async function parseForm(context: ServerContext): Promise<Record<string, unknown>> {
  try {
    return await context.req.parseBody({ all: true });
  } catch (cause) {
    throw new SvcError('body_invalid', 'the form cannot be read', { cause });
  }
}

/** A field of a form: its last value, as text. */
export async function readForm(context: ServerContext): Promise<(name: string) => string> {
  const field = await readFormLists(context);
  return (name) => field(name).at(-1) ?? '';
}

/** All values of each field of a form, as text. */
export async function readFormLists(context: ServerContext): Promise<(name: string) => string[]> {
  const body = await parseForm(context);
  return (name) =>
    [body[name] ?? []]
      .flat()
      .filter((value) => typeof value === 'string')
      .map(readText);
}

/** Which page of its list the address asks for. */
export const readPageWish = (context: ServerContext): PageWish => ({
  after: context.req.query('after'),
  before: context.req.query('before'),
});

/** A page of this server to go to, from outside; `/app` for anything else. */
export const readNextPage = (text: string): string =>
  /^\/(?![/\\])[\x21-\x7e]*$/.test(text) && text.length < 500 ? text : '/app';

/** What a page says after a change: the address carries the word, never the sentence. */
export function readSaid(context: ServerContext, sentences: Readonly<Record<string, string>>): string | null {
  const word = context.req.query('said') ?? '';
  return Object.hasOwn(sentences, word) ? (sentences[word] ?? null) : null;
}
