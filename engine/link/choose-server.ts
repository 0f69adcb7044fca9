import { SvcError } from '../core/base/errors.ts';
import { checkServerUrl, readMachineLogin } from './machine-login.ts';

/**
 * Returns the server to link a workspace to, and the machine token: the given one, otherwise the token of `svc
 * login`. Throws `not_linked` if this machine is not logged in, `usage`, `conflict`, `address_refused`.
 */
export function chooseServer(
  { token: given, server: named }: { token?: string | undefined; server?: string | undefined },
  { env, configured }: { env: NodeJS.ProcessEnv; configured: string },
): { server: URL; token: string } {
  const login = given === undefined ? readMachineLogin(env) : null;
  const token = given ?? login?.token;
  if (token === undefined)
    throw new SvcError('not_linked', 'this machine is not logged in to a server', {
      hint: 'svc login URL first',
    });
  const url = named ?? login?.server ?? (configured || undefined);
  if (url === undefined)
    throw new SvcError('usage', 'the token alone does not identify its server', {
      hint: 'svc link --server https://svc.example.org --token -',
    });
  const server = checkServerUrl(url);
  if (login !== null && checkServerUrl(login.server).origin !== server.origin)
    throw new SvcError('conflict', `this machine is logged in to ${login.server}, not to ${server.origin}`, {
      hint: 'its token is only sent to that server; svc logout, then svc login',
    });
  return { server, token };
}
