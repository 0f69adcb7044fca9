import { asSvcError } from '../../engine/core/base/errors.ts';
import { renderLogLine, toPrintable } from '../../engine/core/base/text.ts';
import { isAtLeast } from '../../engine/core/base/versions.ts';
import { agentPrograms, doctorChecks } from '../../engine/index.ts';
import {
  type CheckedWorkspace,
  type DoctorCheck,
  readErrorMessage,
  readOutput,
  reportFailure,
  reportPass,
  reportWarning,
} from './check.ts';

/** For `merge-tree --write-tree`, which computes a promotion without a checkout. */
const GIT_NEEDED = '2.38';
const NODE_NEEDED = '22.22';

export function checkNode(version = process.versions.node): DoctorCheck {
  if (isAtLeast(version, NODE_NEEDED)) return reportPass('node', version);
  return reportFailure('node', version, `install Node ${NODE_NEEDED} or later`);
}

export async function checkGit(env: NodeJS.ProcessEnv): Promise<DoctorCheck> {
  const remedy = `install git ${GIT_NEEDED} or later`;
  try {
    const version = /\d+(?:\.\d+)+/.exec(await readOutput('git', ['--version'], { env }))?.[0];
    if (version === undefined) return reportFailure('git', 'git prints no version', remedy);
    return isAtLeast(version, GIT_NEEDED)
      ? reportPass('git', version)
      : reportFailure('git', `${version}, too old`, remedy);
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return reportFailure(
      'git',
      isMissing ? 'not on the path' : readErrorMessage(error).split('\n')[0]!,
      remedy,
    );
  }
}

export async function checkSqlite(): Promise<DoctorCheck> {
  try {
    return reportPass('sqlite', await (await doctorChecks()).readSqliteVersion());
  } catch (error) {
    const found = readErrorMessage(error).split('\n')[0] ?? '';
    return reportFailure('sqlite', found, 'install svc again for this Node and this machine: npm install');
  }
}

/** Checks what guard.profile: strict needs; returns nothing for other profiles. */
export async function checkStrict(
  env: NodeJS.ProcessEnv,
  workspace: CheckedWorkspace | null,
): Promise<DoctorCheck[]> {
  if (workspace?.loaded.config.guard.profile !== 'strict') return [];
  const name = 'guard.profile';
  try {
    const { program, missing, abstractSockets } = await (await doctorChecks()).checkConfinement(env);
    return [
      reportPass(name, [`strict: tested, workers are confined by ${program}`, ...missing].join('; ')),
      ...(abstractSockets.length === 0 ? [] : [checkReachableSockets(name, abstractSockets)]),
    ];
  } catch (thrown) {
    const { message, hint } = asSvcError(thrown);
    return [reportFailure(name, message, String(hint ?? 'svc config set guard.profile lite'))];
  }
}

/** Sockets without a file belong to the network, which workers can reach. X11 lets any client read every key that is typed. */
function checkReachableSockets(name: string, sockets: readonly string[]): DoctorCheck {
  const named = sockets.slice(0, 3).map((each) => toPrintable(each).slice(0, 60));
  const more = sockets.length > 3 ? ` and ${sockets.length - 3} more` : '';
  const text = `strict workers can reach the listeners at ${named.join(', ')}${more}`;
  if (!sockets.some((each) => each.includes('.X11-unix'))) return reportPass(name, text);
  return reportWarning(
    name,
    `${text}: an X server is among them`,
    'start it with -nolisten local, or use Wayland without it',
  );
}

/** Requests to the receiver are written by others, and a worker that reads them can do what its person can. */
export function checkReceiverProfile(workspace: CheckedWorkspace): DoctorCheck[] {
  const { config, lookup } = workspace.loaded;
  const { webhook, guard } = config;
  const isOpen = workspace.configuration
    .listSecrets(webhook.secret_env)
    .some(({ names }) => names.some((name) => lookup(name) !== undefined));
  if (!isOpen || guard.profile === 'strict') return [];
  const profile = guard.profile || 'lite';
  return [
    reportWarning(
      'receiver',
      `open, and guard.profile is ${profile}: its tasks run unconfined once approved, except tasks from untrusted authors`,
      'svc config set guard.profile strict',
    ),
  ];
}

/** Checks the agents whose program is on the path, with their versions, and whether the default one is among them. */
export async function checkAgents(
  env: NodeJS.ProcessEnv,
  workspace: CheckedWorkspace | null,
): Promise<DoctorCheck[]> {
  const { detectAgents, HEADLESS } = await agentPrograms();
  const cmds = workspace?.loaded.config.agents.cmds ?? HEADLESS;
  const installed = detectAgents(cmds, env);
  const checks = await Promise.all(
    installed.map(async ({ preset, program, path }) => {
      // A user's own program may do anything when it is started, also with --version.
      const isKnown = cmds[preset] === HEADLESS[preset];
      const version = isKnown
        ? await readVersion(path, removeSecrets(env, workspace))
        : 'custom command (not checked)';
      return reportPass(`agent ${preset}`, `${program}: ${version}`);
    }),
  );
  if (installed.length === 0) {
    const remedy = `install one (${Object.keys(HEADLESS).join(', ')}), or set your own command in agents.cmds`;
    checks.push(reportWarning('agents', 'none found on the path', remedy));
  } else {
    const missing = Object.keys(cmds).filter((preset) => installed.every((agent) => agent.preset !== preset));
    if (missing.length > 0) checks.push(reportPass('agents', `not installed: ${missing.join(', ')}`));
  }
  if (workspace === null) return checks;

  const { default_cmd, default_preset } = workspace.loaded.config.agents;
  const name = 'default agent';
  if (default_cmd !== '') {
    const [found] = detectAgents({ default: default_cmd }, env);
    checks.push(
      found === undefined
        ? reportWarning(
            name,
            'the program of agents.default_cmd is not on the path',
            'install it, or correct the command',
          )
        : reportPass(name, `agents.default_cmd, ${found.program}`),
    );
  } else if (default_preset === '') {
    checks.push(reportPass(name, 'none: a task without an agent waits until it is assigned'));
  } else if (installed.some((agent) => agent.preset === default_preset)) {
    checks.push(reportPass(name, default_preset));
  } else {
    checks.push(
      reportWarning(
        name,
        `${default_preset} is not installed`,
        'install it, or svc config set agents.default_preset NAME',
      ),
    );
  }
  return checks;
}

async function readVersion(path: string, env: NodeJS.ProcessEnv): Promise<string> {
  try {
    const line = (await readOutput(path, ['--version'], { env })).trim().split('\n')[0] ?? '';
    return line === '' ? 'installed' : renderLogLine(line).slice(0, 80);
  } catch (error) {
    const { killed } = error as { killed?: boolean };
    return killed ? 'installed, printed no version within 5 s' : 'installed, printed no version';
  }
}

/** Returns the environment without the secrets of the receiver and the webhooks: no agent has to see them. */
function removeSecrets(env: NodeJS.ProcessEnv, workspace: CheckedWorkspace | null): NodeJS.ProcessEnv {
  const secrets = new Set(workspace === null ? [] : listSecretNames(workspace).flatMap(({ names }) => names));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secrets.has(name)));
}

/** Lists the keys that name variables with secrets, and these variables. */
export function listSecretNames({
  loaded,
  configuration,
}: CheckedWorkspace): { key: string; names: string[] }[] {
  const { webhook, notify } = loaded.config;
  return [
    ...configuration.listSecrets(webhook.secret_env),
    ...notify.webhooks.flatMap(({ secret_env }, at) =>
      secret_env
        ? [{ key: `notify.webhooks[${at}].secret_env`, names: configuration.parseVariableNames(secret_env) }]
        : [],
    ),
  ];
}

/** Lists what svc uses of the operating system, and what is different where that is missing. */
export async function checkPlatform(env: NodeJS.ProcessEnv): Promise<DoctorCheck> {
  const { checkConfinement, describeSystem, listCapabilities } = await doctorChecks();
  const sandbox = await checkConfinement(env).then(
    ({ program }) => ({ way: program, otherwise: '' }),
    (error) => ({ way: null, otherwise: `guard.profile strict is refused: ${asSvcError(error).message}` }),
  );
  const capabilities = [...(await listCapabilities(env)), { name: 'sandbox', ...sandbox }];
  const width = Math.max(...capabilities.map(({ name }) => name.length));
  const lines = capabilities.map(
    ({ name, way, otherwise }) => `${name.padEnd(width)}  ${way ?? `no: ${otherwise}`}`,
  );
  return reportPass('platform', [describeSystem(), ...lines].join('\n'));
}
