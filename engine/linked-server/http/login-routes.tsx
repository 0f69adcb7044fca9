/** @jsxImportSource hono/jsx */
import { Hono } from 'hono';
import { isSameNetwork, networkOf } from '../client-address.ts';
import { EXPIRES_S } from '../login/device-requests.ts';
import { DeviceAnswerPage, DeviceCodePage } from '../pages/device.tsx';
import { CODE_RULE } from '../people/failures.ts';
import { normalizeTypedCode } from '../people/first-run.ts';
import { readHeader, type ServerContext, type ServerEnv, type ServerParts } from './context.ts';
import { readForm, requireSignedIn } from './guards.ts';
import { askToWait } from './refusals.ts';

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** The one client that this server knows: svc itself. Public, so it has no secret (RFC 8628, section 3.1). */
export const CLIENT_ID = 'svc';

const showCode = (text: string): string => normalizeTypedCode(text).replace(/^(.{4})(?=.)/, '$1-');

/** The page where people type in the code of a terminal. */
export function deviceRoutes(parts: ServerParts): Hono<ServerEnv> {
  const { devices, failures } = parts;
  const routes = new Hono<ServerEnv>();
  routes.use('*', requireSignedIn(parts));

  // Opening the page, with or without the code in its address, changes nothing.
  routes.get('/', (context) =>
    context.html(
      <DeviceCodePage
        signedIn={context.get('signedIn')}
        code={showCode(context.req.query('user_code') ?? '')}
      />,
    ),
  );
  const listKeys = (context: ServerContext): string[] => [
    `code ${context.get('signedIn').person.id}`,
    `code ${networkOf(context.get('address'))}`,
  ];
  const countTry = async (context: ServerContext): Promise<number> => {
    let longest = 0;
    for (const key of listKeys(context)) longest = Math.max(longest, await failures.begin(key, CODE_RULE));
    return longest;
  };
  routes.post('/', async (context) => {
    const signedIn = context.get('signedIn');
    const code = showCode((await readForm(context))('user_code'));
    const pause = await countTry(context);
    if (pause > 0) {
      const error = askToWait(context, 'Too many wrong codes', pause);
      return context.html(<DeviceCodePage signedIn={signedIn} error={error} />, 429);
    }
    const request = await devices.look(code, signedIn.person);
    if (request === null)
      return context.html(
        <DeviceCodePage
          signedIn={signedIn}
          code={code}
          error="No terminal is waiting with this code. It may have expired."
        />,
        404,
      );
    // Earlier wrong codes still count, or a person with a valid code could guess for ever.
    for (const key of listKeys(context)) await failures.takeBack(key);
    return context.html(
      <DeviceAnswerPage
        signedIn={signedIn}
        request={request}
        code={code}
        isOtherNetwork={!isSameNetwork(request.address, context.get('address'))}
      />,
    );
  });
  routes.post('/answer', async (context) => {
    const signedIn = context.get('signedIn');
    const field = await readForm(context);
    const isAllowed = field('answer') === 'allow';
    const isAnswered = await devices.answer(field('user_code'), signedIn.person, isAllowed);
    if (!isAnswered)
      return context.html(
        <DeviceCodePage signedIn={signedIn} error="This code can no longer be answered, or not by you." />,
        404,
      );
    const said = isAllowed
      ? 'The machine is logged in. Its terminal continues automatically.'
      : 'Refused. The terminal was notified.';
    return context.html(<DeviceCodePage signedIn={signedIn} said={said} />);
  });
  return routes;
}

const refuseLogin = (
  context: ServerContext,
  error: string,
  status: 400 | 401 | 429 = 400,
  about?: string,
) => {
  context.header('Cache-Control', 'no-store');
  return context.json({ error, ...(about === undefined ? {} : { error_description: about }) }, status);
};

/** Reads the parameters of a form, each of which may occur once (RFC 6749, section 3.2); returns a text for an error. */
async function readParameters(context: ServerContext): Promise<Map<string, string> | string> {
  const type = readHeader(context, 'content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded')
    return 'the body must be application/x-www-form-urlencoded';
  const found = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(await context.req.text())) {
    if (found.has(name)) return `${name} is given twice`;
    // A parameter without a value counts as missing.
    if (value !== '') found.set(name, value);
  }
  return found;
}

/** The protocol for terminals: RFC 8628, with metadata (RFC 8414) and revocation (RFC 7009). */
export function oauthRoutes({ devices, machines, origin }: ServerParts): Hono<ServerEnv> {
  const routes = new Hono<ServerEnv>();

  routes.get('/.well-known/oauth-authorization-server', (context) =>
    context.json({
      issuer: origin,
      device_authorization_endpoint: `${origin}/oauth/device_authorization`,
      token_endpoint: `${origin}/oauth/token`,
      revocation_endpoint: `${origin}/oauth/revoke`,
      grant_types_supported: [DEVICE_GRANT],
      response_types_supported: [],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
    }),
  );

  routes.post('/oauth/device_authorization', async (context) => {
    const given = await readParameters(context);
    if (typeof given === 'string') return refuseLogin(context, 'invalid_request', 400, given);
    if (given.get('client_id') !== CLIENT_ID) return refuseLogin(context, 'invalid_client', 401);
    const started = await devices.start(
      {
        machine: given.get('machine') ?? '',
        version: given.get('version') ?? '',
        system: given.get('system') ?? '',
      },
      context.get('address'),
    );
    if (started === null) {
      context.header('Retry-After', '60');
      return refuseLogin(context, 'slow_down', 429, 'too many codes from this address are waiting');
    }
    const { deviceCode, userCode, intervalS } = started;
    return context.json({
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: `${origin}/device`,
      verification_uri_complete: `${origin}/device?user_code=${userCode}`,
      expires_in: EXPIRES_S,
      interval: intervalS,
    });
  });

  routes.post('/oauth/token', async (context) => {
    const given = await readParameters(context);
    if (typeof given === 'string') return refuseLogin(context, 'invalid_request', 400, given);
    const grant = given.get('grant_type');
    if (grant === undefined) return refuseLogin(context, 'invalid_request', 400, 'grant_type is missing');
    if (grant !== DEVICE_GRANT) return refuseLogin(context, 'unsupported_grant_type');
    if (given.get('client_id') !== CLIENT_ID) return refuseLogin(context, 'invalid_client', 401);
    const deviceCode = given.get('device_code');
    if (deviceCode === undefined)
      return refuseLogin(context, 'invalid_request', 400, 'device_code is missing');
    const answer = await devices.poll(deviceCode);
    if ('error' in answer) return refuseLogin(context, answer.error);
    const { token, machine, person, account } = answer;
    return context.json({
      access_token: token,
      token_type: 'Bearer',
      machine: { id: machine.id, name: machine.name },
      person: person.name,
      account,
    });
  });

  routes.post('/oauth/revoke', async (context) => {
    const given = await readParameters(context);
    if (typeof given === 'string') return refuseLogin(context, 'invalid_request', 400, given);
    const token = given.get('token');
    if (token === undefined) return refuseLogin(context, 'invalid_request', 400, 'token is missing');
    // An unknown token is revoked as well: 200 either way (RFC 7009, section 2.2).
    await machines.revokeToken(token);
    return context.body(null, 200);
  });

  routes.get('/v1/machine', async (context) => {
    const token = /^Bearer (\S+)$/i.exec(readHeader(context, 'authorization') ?? '')?.[1];
    const found = token === undefined ? null : await machines.findByToken(token);
    if (found === null) {
      context.header('WWW-Authenticate', 'Bearer');
      return context.json({ error: 'invalid_token' }, 401);
    }
    const { machine, person, account } = found;
    return context.json({
      machine: { id: machine.id, name: machine.name, created_at: new Date(machine.created_at).toISOString() },
      person: person.name,
      account,
    });
  });
  return routes;
}
