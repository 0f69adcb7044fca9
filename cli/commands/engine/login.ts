import { SvcError } from '../../../engine/core/base/errors.ts';
import { formatLocalTime } from '../../../engine/core/base/text.ts';
import { isLoopback } from '../../../engine/core/base/values/address.ts';
import { openBrowser } from '../../../engine/core/platform/open-browser.ts';
import { linking, ownSeat } from '../../../engine/index.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { formatFacts } from '../../print.ts';

const login = defineCommand({
  name: 'login',
  about:
    'log this machine in to a server run by you or someone you trust; login status shows where it is logged in',
  args: [{ name: 'url', about: 'URL of the server, or status' }],
  flags: { noBrowser: { type: 'boolean', about: 'do not open a browser' } },
  examples: ['login https://svc.example.org', 'login status'],
  async run(context) {
    const { checkServerUrl, findLogin, logIn } = await linking();
    if (context.arg(0) === 'status') return showStatus(context);
    (await ownSeat()).refuseInsideRun('svc login', context.env);
    const server = checkServerUrl(context.arg(0));
    const before = findLogin(context.env);
    if (before !== null)
      throw new SvcError('conflict', `this machine is logged in to ${before.server} as ${before.person}`, {
        hint: 'svc logout first',
      });
    const drawAddress = await loadAddressDrawing(context);
    const state = await logIn(server, context.env, {
      signal: context.signal,
      show: ({ url, completeUrl, userCode, expiresAt }) => {
        context.stderr.write(
          `${drawAddress(completeUrl)}open ${url}\nand type in the code ${userCode}\nit expires at ${formatLocalTime(new Date(expiresAt).toISOString())}; Ctrl-C stops waiting\n`,
        );
        if (!context.flags.noBrowser) openBrowser(completeUrl, context.env);
      },
    }).catch((error: unknown) => {
      if (context.signal.aborted) throw new SvcError('login_refused', 'stopped waiting for the login');
      throw error;
    });
    context.result(state, ({ person, account, machine }) =>
      formatFacts([
        ['logged in', `as ${person}, account ${account}`],
        ['machine', machine.name],
        ['token', state.token_file],
      ]),
    );
    return 0;
  },
});

/** Returns what draws an address as a QR code, on a terminal that has room for it. */
async function loadAddressDrawing({
  stderr,
  json,
}: Pick<CommandContext, 'stderr' | 'json'>): Promise<(address: string) => string> {
  if (!stderr.isTTY || json) return () => '';
  const { renderUnicodeCompact } = await import('uqr');
  return (address) => {
    // A phone cannot open an address of this machine alone.
    if (isLoopback(new URL(address).hostname.replace(/^\[|\]$/g, ''))) return '';
    const drawn = renderUnicodeCompact(address, { border: 2 });
    return drawn.indexOf('\n') > stderr.columns ? '' : `${drawn}\nscan it with a phone, or\n`;
  };
}

const describeMode = (mode: string): string =>
  mode.endsWith('00') ? mode : `${mode}, so that others can open it: chmod 600`;

async function showStatus(context: Parameters<Command['run']>[0]): Promise<number> {
  const { askLoginState, findLogin } = await linking();
  const state = findLogin(context.env);
  if (state === null) {
    context.result(null, () => 'this machine is not logged in to a server; svc login URL logs it in');
    return 1;
  }
  const known = await askLoginState(context.env, state);
  const words = {
    known: 'it knows this machine',
    revoked: 'it no longer knows this machine; svc logout, then svc login',
    unreachable: 'it does not answer',
  };
  context.result({ ...state, state: known }, () =>
    formatFacts([
      ['server', `${state.server}: ${words[known]}`],
      ['person', `${state.person}, account ${state.account}`],
      ['machine', `${state.machine.name}, since ${formatLocalTime(state.logged_in_at)}`],
      ['token', `${state.token_file}, mode ${describeMode(state.token_mode)}`],
    ]),
  );
  return known === 'revoked' ? 1 : 0;
}

const logout = defineCommand({
  name: 'logout',
  about: 'log this machine out: on the server first, then here',
  examples: ['logout'],
  async run(context) {
    (await ownSeat()).refuseInsideRun('svc logout', context.env);
    const { logOut } = await linking();
    const { server, wasLoggedIn, isRevoked } = await logOut(context.env);
    context.result({ server, revoked: isRevoked }, () =>
      !wasLoggedIn
        ? 'this machine was not logged in'
        : server === null
          ? 'the remains of a login were removed'
          : `logged out of ${server}`,
    );
    if (wasLoggedIn && !isRevoked)
      context.note(
        `${server ?? 'its server is not known and'} could not be reached: revoke the machine there, since its token is still valid`,
      );
    return 0;
  },
});

export const loginCommands: readonly Command[] = [login, logout];
