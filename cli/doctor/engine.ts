import { connect as connectSocket } from 'node:net';
import { asSvcError } from '../../engine/core/base/errors.ts';
import { version } from '../../engine/core/base/own-package.ts';
import { toPrintable } from '../../engine/core/base/text.ts';
import { dataFolders, describeLink, isLinkTroubled, readDaemonRecord } from '../../engine/index.ts';
import type { CommandContext } from '../command.ts';
import {
  type CheckedWorkspace,
  type DoctorCheck,
  type RunningEngine,
  readErrorMessage,
  reportFailure,
  reportPass,
  reportWarning,
} from './check.ts';

const PATIENCE_MS = 5000;

/** Checks that the workspace's engine runs and answers, without starting one. */
export async function checkEngine(
  context: Pick<CommandContext, 'engine'>,
  { loaded: { root }, paths, env }: CheckedWorkspace,
): Promise<{ check: DoctorCheck; engine: RunningEngine | null }> {
  const failCheck = (check: DoctorCheck) => ({ check, engine: null });
  async function isOurs(): Promise<boolean> {
    const { inspectOwnDataFolder } = await dataFolders();
    try {
      return inspectOwnDataFolder({ root, data: paths.data }, env).state === 'ours';
    } catch {
      return false;
    }
  }
  // A foreign data folder is not trusted about its engine.
  const record = (await isOurs()) ? readDaemonRecord(paths.data) : null;
  if (record !== null && (await probeSocket(record.socket)) === 'silent') {
    return failCheck(
      reportFailure(
        'engine',
        `pid ${record.pid} does not answer within ${PATIENCE_MS / 1000} s`,
        'check .svc/log; workers are adopted when the engine restarts',
      ),
    );
  }
  try {
    const client = await context.engine({ start: false });
    const engine = await client.call('engine.status');
    const found = `runs, pid ${engine.pid}, version ${engine.version}`;
    const check =
      engine.version === version
        ? reportPass('engine', found)
        : reportWarning(
            'engine',
            `${found}; this is version ${version}`,
            'svc down, then svc up; workers keep running',
          );
    return { check, engine };
  } catch (thrown) {
    const error = asSvcError(thrown);
    // Reported once, by the check of the data folder.
    if (error.code === 'data_folder_unknown')
      return failCheck(
        reportWarning('engine', 'not checked: this machine does not know the data folder', null),
      );
    if (error.code === 'engine_not_running')
      return failCheck(reportPass('engine', 'not running; the next command starts it'));
    return failCheck(reportFailure('engine', error.message, String(error.hint ?? 'check .svc/log')));
  }
}

/** Checks what restarts the engine after a crash, and whether its receiver is open. */
export const checkSupervision = ({
  supervisor,
  receivers,
  receiver_problem,
}: RunningEngine): DoctorCheck[] => [
  reportPass(
    'supervisor',
    supervisor === null
      ? 'none: svc daemon or a service manager hosts the engine, or the supervisor was killed; after a crash the next command starts the engine'
      : `pid ${supervisor} starts the engine again after a crash`,
  ),
  receiver_problem === null || receivers.length > 0
    ? reportPass('receiver', receivers.length === 0 ? 'off: svc webhook serve opens it' : 'open')
    : reportWarning('receiver', `off: ${receiver_problem}`, 'fix this, then svc down and svc up'),
];

/** Checks the repositories that are polled, a line each. */
export const checkSources = ({ sources }: RunningEngine): DoctorCheck[] =>
  sources.map(({ repository, problem }) =>
    problem === null
      ? reportPass('source', `${repository} is polled`)
      : reportWarning('source', toPrintable(`${repository}: ${problem}`), 'svc source poll tries it again'),
  );

/** Reports the webhooks and phones that do not take events, a line each. */
export const checkDeliveries = ({ delivery_problems }: RunningEngine): DoctorCheck[] =>
  delivery_problems.map(({ target, problem }) =>
    reportWarning('notify', toPrintable(`${target}: ${problem}`), 'svc notify test tries it again'),
  );

/** Checks the state of the link to a server; returns nothing for a workspace that was never linked. */
export function checkLink({ link }: RunningEngine): DoctorCheck[] {
  const text = describeLink(link);
  if (text === null) return [];
  return isLinkTroubled(link)
    ? [reportWarning('link', text, 'work continues without it; svc link status shows more')]
    : [reportPass('link', text)];
}

/** Any line is an answer: this has to distinguish a hanging engine from one of another version. */
function probeSocket(socket: string): Promise<'yes' | 'silent' | 'absent'> {
  return new Promise((resolve) => {
    const connection = connectSocket(socket);
    const finishProbe = (what: 'yes' | 'silent' | 'absent') => () => {
      connection.destroy();
      resolve(what);
    };
    connection.setTimeout(PATIENCE_MS, finishProbe('silent'));
    connection.on('connect', () => connection.write('{"jsonrpc":"2.0","id":1,"method":"engine.status"}\n'));
    connection
      .on('data', finishProbe('yes'))
      .on('error', finishProbe('absent'))
      .on('close', finishProbe('absent'));
  });
}

/** Checks that the configured addresses can be listened on, unless our own engine does. */
export function checkAddresses(
  { loaded: { config }, configuration, env }: CheckedWorkspace,
  engine: RunningEngine | null,
): Promise<DoctorCheck[]> {
  const held = engine === null ? [] : [...engine.receivers, ...(engine.http === null ? [] : [engine.http])];
  const { findListenProblem, formatAddress, isLoopback, parseAddress } = configuration;

  async function checkAddress(
    key: string,
    text: string,
    inUse: (found: string) => DoctorCheck,
  ): Promise<DoctorCheck> {
    const address = parseAddress(text);
    if (address.port === 0) return reportPass(key, `${text}: any free port`);
    const isOurs = held.some(
      (own) => own.port === address.port && (own.host === address.host || isLoopback(own.host)),
    );
    if (isOurs) return reportPass(key, `${formatAddress(address)}, held by the engine`);
    const code = await findListenProblem(address);
    if (code !== null)
      return inUse(code === 'EADDRINUSE' ? `${text} is in use by another program` : `${text}: ${code}`);
    return key !== 'ui.addr' || isLoopback(address.host)
      ? reportPass(key, `${text} is free`)
      : reportWarning(
          key,
          `${text} is free, but can be reached from other machines`,
          'use 127.0.0.1, or --allow-remote if this is intended',
        );
  }

  /** Agents whose model calls are routed need a listener there; otherwise nothing may block it. */
  async function checkGateway(): Promise<DoctorCheck> {
    const { auth, gateway_route } = config.agents;
    const users = Object.keys(auth).filter((agent) => gateway_route !== false && auth[agent] === 'gateway');
    const { addr } = config.gateway;
    if (users.length === 0)
      return checkAddress('gateway.addr', addr, (found) =>
        reportWarning('gateway.addr', found, 'svc config set gateway.addr 127.0.0.1:PORT'),
      );
    const who = `${users.join(', ')} ${users.length === 1 ? 'goes' : 'go'} through it`;
    const isTaken = (await findListenProblem(parseAddress(addr))) === 'EADDRINUSE';
    if (isTaken) return reportPass('gateway.addr', `something listens on ${addr}; ${who}`);
    return env.SVC_SKIP_GATEWAY_AUTOSTART
      ? reportFailure(
          'gateway.addr',
          `nothing listens on ${addr}, SVC_SKIP_GATEWAY_AUTOSTART is set, and ${who}`,
          'svc gateway serve opens it; agents.auth account lets them use their own login',
        )
      : reportPass('gateway.addr', `${addr} is free: the engine opens it when a run needs it; ${who}`);
  }

  return Promise.all([
    checkAddress('ui.addr', config.ui.addr, (found) =>
      reportFailure(
        'ui.addr',
        found,
        'svc config set ui.addr 127.0.0.1:PORT, or svc webhook serve --addr 127.0.0.1:PORT',
      ),
    ),
    checkAddress('daemon.addr', config.daemon.addr, (found) =>
      reportFailure('daemon.addr', found, 'svc config set daemon.addr 127.0.0.1:0 takes any free port'),
    ),
    checkGateway(),
  ]).catch((error: unknown) => [reportWarning('addresses', readErrorMessage(error), null)]);
}
