/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import { SvcError } from '../../core/base/errors.ts';
import { PROBLEM_JSON, problemDetails } from '../../core/http/problem-details.ts';
import { toServerError } from '../database/errors.ts';
import { MessagePage } from '../pages/front.tsx';
import { ICON } from '../pages/icon.ts';
import { STYLE } from '../pages/style.ts';
import { hashToken } from '../secrets.ts';
import { accountRoutes } from './account-routes.tsx';
import { limitBody } from './body-limit.ts';
import { chatRequests } from './chat-requests.ts';
import { chatRoutes } from './chat-routes.tsx';
import { readHeader, type ServerEnv, type ServerParts, showPath } from './context.ts';
import { decisionRoutes } from './decision-routes.tsx';
import { frontRoutes } from './front-routes.tsx';
import {
  checkHost,
  checkSameOrigin,
  findAddress,
  findVisitor,
  refuseNul,
  requireSignedIn,
} from './guards.ts';
import { linkRoutes } from './link-routes.ts';
import { deviceRoutes, oauthRoutes } from './login-routes.tsx';
import { formatMetrics } from './metrics.ts';
import { operatorRoutes } from './operator-routes.tsx';
import { settingsRoutes } from './settings-routes.tsx';
import { signedRoutes } from './signed-routes.ts';
import { targetWorkspacesRoutes } from './target-workspaces-routes.tsx';
import { usageRoutes } from './usage-routes.tsx';

/** Paths for programs, which get problem details instead of pages. */
const FOR_PROGRAMS = /^\/(?:v1|oauth)\//;

const toSentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;

/** All routes of a linked server. */
export function makeServerApp(parts: ServerParts): Hono<ServerEnv> {
  const { origin, log, clock } = parts;
  const app = new Hono<ServerEnv>();
  const isOurHost = checkHost(origin);
  // One for all: separate ones would take as long as their work.
  app.use('*', async (context, next) => {
    const begin = clock.monotonic();
    // Programs on the same machine know only its address.
    const misdirected = context.req.path === '/healthz' ? null : isOurHost(context);
    const unread = misdirected ?? refuseNul(context);
    if (unread === null) context.set('address', findAddress(context, parts));
    const refused = unread ?? limitBody(context);
    if (refused === null) await next();
    else context.res = await refused;
    if (context.get('isUneventful')) return;
    log.info(
      {
        method: context.req.method,
        path: showPath(context),
        status: context.res.status,
        ms: clock.monotonic() - begin,
        // Detects a proxy that forwards another name.
        ...(misdirected === null ? {} : { host: readHeader(context, 'host') }),
      },
      'request',
    );
  });
  app.get('/healthz', async (context) => {
    await parts.db.selectFrom('meta').select('key').limit(1).execute();
    context.set('isUneventful', true);
    return context.json({ ok: true });
  });
  app.get('/metrics', async (context) => {
    const token = /^Bearer (\S+)$/i.exec(readHeader(context, 'authorization') ?? '')?.[1];
    const hash = await parts.metricsTokenHash();
    if (token === undefined || hash === null || hashToken(token) !== hash) {
      context.header('WWW-Authenticate', 'Bearer');
      return context.text('svc server token metrics creates a token for this page\n', 401);
    }
    return context.text(await formatMetrics(parts), 200, { 'Content-Type': 'text/plain; version=0.0.4' });
  });
  for (const [path, type, text] of [
    ['/style.css', 'text/css; charset=utf-8', STYLE],
    ['/icon.svg', 'image/svg+xml', ICON],
  ] as const)
    app.get(path, (context) =>
      context.body(text, 200, { 'Content-Type': type, 'Cache-Control': 'public, max-age=3600' }),
    );
  // Terminals send no cookie, and their requests need none.
  app.route('/', oauthRoutes(parts));
  app.route('/v1', linkRoutes(parts));
  app.route('/chats', chatRequests(parts));
  app.route('/v1/decisions', signedRoutes(parts));
  for (const path of ['/v1/*', '/oauth/*']) app.all(path, (context) => context.notFound());
  app.use('*', checkSameOrigin(origin));
  app.route('/', frontRoutes(parts));
  app.use('/app/*', requireSignedIn(parts));
  app.route('/app', decisionRoutes(parts));
  app.route('/app', settingsRoutes(parts));
  app.route('/app', targetWorkspacesRoutes(parts));
  app.route('/app', chatRoutes(parts));
  app.route('/app', accountRoutes(parts));
  app.route('/app', usageRoutes(parts));
  app.route('/device', deviceRoutes(parts));
  app.route('/operator', operatorRoutes(parts));
  app.notFound(async (context) => {
    if (FOR_PROGRAMS.test(context.req.path)) {
      const error = new SvcError('not_found', 'there is no such route here');
      return context.body(JSON.stringify(problemDetails(error)), 404, { 'Content-Type': PROBLEM_JSON });
    }
    return context.html(
      <MessagePage
        title="Page not found"
        text="The address is wrong, or you have no access to it."
        signedIn={await findVisitor(context, parts)}
      />,
      404,
    );
  });
  app.onError((thrown, context) => {
    const error = toServerError(thrown);
    const details = problemDetails(error);
    const isOurs = details.status >= 500;
    if (isOurs) log.error({ error: error.message, path: showPath(context) }, 'a request failed');
    if (FOR_PROGRAMS.test(context.req.path)) return context.json(details, details.status as 500);
    if (!isOurs)
      return context.html(
        <MessagePage title="This was not done" text={toSentence(error.message)} />,
        details.status as 400,
      );
    return context.html(
      <MessagePage title="This server failed" text="Nothing was changed. See its log." />,
      500,
    );
  });
  return app;
}
