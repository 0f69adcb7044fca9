import { SvcError } from '../../../engine/core/base/errors.ts';
import { toPrintable, toPrintableJson } from '../../../engine/core/base/text.ts';
import {
  type AccessLogEntry,
  configuration,
  connectToEngine,
  dataFolders,
  findWorkspace,
  samples,
  type WireValue,
} from '../../../engine/index.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { formatFacts } from '../../print.ts';
import { hostHere } from './engine.ts';
import { webhookSecretCommand } from './webhook-secret.ts';

const formatAccess = (entry: WireValue<AccessLogEntry>): string =>
  toPrintable(
    [
      entry.at,
      entry.remote,
      entry.method,
      entry.path,
      entry.status,
      `${entry.ms.toFixed(1)}ms`,
      entry.code ?? entry.task_id ?? '',
    ]
      .join(' ')
      .trimEnd(),
  );

/** The workspace's configuration, with the functions that read its values. */
async function loadReceiverConfig({ cwd, env }: Pick<CommandContext, 'cwd' | 'env'>) {
  const {
    resolveDataPaths,
    isLoopback,
    loadConfig,
    parseAddress,
    listReceiverSecrets,
    consentMissingForStart,
  } = await configuration();
  const { root, file } = findWorkspace({ cwd, env });
  const loaded = loadConfig({ file, env });
  const { config, lookup, consent } = loaded;
  // Otherwise the file would seem to name no secret.
  if (consent.state === 'none') throw consentMissingForStart(file, consent.pending);
  return {
    isLoopback,
    /** The address of the receiver, running or not. */
    address: (flag: string | undefined) => parseAddress(flag ?? config.ui.addr),
    name: config.workspace.name,
    defaultAgent: config.agents.default_preset || undefined,
    /** The id of the data folder; null if there is none, and so no receiver. */
    async id() {
      const { inspectOwnDataFolder } = await dataFolders();
      const found = inspectOwnDataFolder({ root, data: resolveDataPaths(loaded).data }, env);
      return found.state === 'ours' ? found.id : null;
    },
    /** The shared secrets. Throws `secret_missing`. */
    secrets: () => listReceiverSecrets(config, lookup),
  };
}

const serve = defineCommand({
  name: 'webhook serve',
  about: 'open the receiver and print its access log; hosts the engine when none runs',
  flags: {
    addr: { type: 'string', value: 'host:port', about: 'where to listen (ui.addr)' },
    allowRemote: { type: 'boolean', about: 'allow an address that others can reach' },
  },
  examples: ['webhook serve', 'webhook serve --addr 127.0.0.1:9000'],
  async run(context) {
    const { addr, allowRemote } = context.flags;
    const workspace = await loadReceiverConfig(context);
    const secrets = workspace.secrets();
    const { host, port } = workspace.address(addr);
    if (!allowRemote && !workspace.isLoopback(host)) {
      throw new SvcError(
        'address_refused',
        `${addr ?? `${host}:${port}`} can be reached from other machines`,
        {
          hint: 'listen on 127.0.0.1:PORT or [::1]:PORT, or add --allow-remote',
        },
      );
    }
    const listen = { host, port, secrets };
    const announceAddress = (at: { host: string; port: number }, where: string): void =>
      context.note(
        `receiver on http://${at.host.includes(':') ? `[${at.host}]` : at.host}:${at.port} (${where})`,
      );
    const printEntry = (entry: WireValue<AccessLogEntry>): void => {
      context.stdout.write(`${context.json ? toPrintableJson(entry) : formatAccess(entry)}\n`);
    };

    const client = await connectToEngine({ cwd: context.cwd, env: context.env }).catch((error: unknown) => {
      if (error instanceof SvcError && error.code === 'engine_not_running') return null;
      throw error;
    });
    if (client === null) {
      await hostHere(context, { set: [], maxWorkers: undefined }, async (engine) => {
        const listener = await engine.listen({
          ...listen,
          allowRemote,
          onAccess: ({ taskId, ...entry }) => printEntry({ ...entry, task_id: taskId }),
        });
        announceAddress(listener.address, `engine hosted here, pid ${process.pid}`);
      });
      return;
    }
    try {
      const opened = await client.subscribe<{ subscription: number; host: string; port: number }>(
        'receiver.open',
        { ...listen, allow_remote: allowRemote },
        ({ method, params }) => {
          if (method === 'access') printEntry(params.entry as WireValue<AccessLogEntry>);
        },
      );
      announceAddress(opened, `in the engine, pid ${client.welcome.pid}`);
      await Promise.race([client.closed, waitForAbort(context.signal)]);
      if (context.signal.aborted) return;
      throw new SvcError('engine_unreachable', 'the engine stopped', { hint: 'svc webhook serve again' });
    } finally {
      client.close();
    }
  },
});

const waitForAbort = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Finds the first secret of a route; `approve` and `poll` use the secret of the decisions. */
function findRouteSecret(
  secrets: Readonly<Record<string, readonly string[] | undefined>>,
  route: string,
): string {
  const name = route === 'approve' || route === 'poll' ? 'decisions' : route;
  const [secret] = secrets[name] ?? [];
  if (secret !== undefined) return secret;
  throw new SvcError(
    'secret_missing',
    `webhook.secret_env has no variable for ${name}: that route is closed`,
    {
      hint: `svc config set webhook.secret_env.${name} SVC_${name.toUpperCase()}_SECRET`,
    },
  );
}

const test = defineCommand({
  name: 'webhook test',
  about: 'send a signed sample request to the receiver of this workspace',
  flags: {
    route: {
      type: 'string',
      about: 'which route (task)',
      choices: ['task', 'codehost', 'chat', 'approve', 'poll'],
    },
    agent: { type: 'string', short: 'a', about: 'agent preset, on the task route' },
    prompt: { type: 'string', short: 'p', about: 'prompt text' },
    template: { type: 'string', short: 't', about: 'entry of webhook.templates' },
    project: { type: 'string', about: 'project id, on the task route' },
    decision: { type: 'string', about: 'decision id, on the approve and poll routes' },
    dispatch: { type: 'boolean', about: 'request dispatch' },
    approve: { type: 'boolean', about: 'approve in advance' },
    addr: { type: 'string', value: 'host:port', about: 'where the receiver listens (ui.addr)' },
  },
  examples: [
    'webhook test --route task --agent claude --prompt "say hello" --dispatch',
    'webhook test --route approve --decision d-17',
  ],
  async run(context) {
    const { flags } = context;
    const workspace = await loadReceiverConfig(context);
    const route = (flags.route ?? 'task') as 'task';
    const agent = flags.agent ?? (flags.template === undefined ? workspace.defaultAgent : undefined);
    if (route === 'task' && flags.template === undefined) checkSample(agent, flags.prompt);
    const secret = findRouteSecret(workspace.secrets(), flags.route ?? 'task');
    const { buildSignedSample, WORKSPACE_HEADER, formatWorkspaceHeader, parseWorkspaceName } =
      await samples();
    const request = buildSignedSample({
      route,
      secret,
      workspace: formatWorkspaceHeader({ id: (await workspace.id()) ?? 'none', name: workspace.name }),
      now: Date.now(),
      dispatch: flags.dispatch,
      approve: flags.approve,
      ...(agent === undefined ? {} : { agent }),
      ...(flags.prompt === undefined ? {} : { prompt: flags.prompt }),
      ...(flags.template === undefined ? {} : { template: flags.template }),
      ...(flags.project === undefined ? {} : { project: flags.project }),
      ...(flags.decision === undefined ? {} : { decision: flags.decision }),
    });
    const { host, port } = await findReceiver(context, workspace.address(flags.addr));
    const base = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
    const response = await fetch(base + request.path, {
      method: request.method,
      headers: request.headers,
      ...(request.method === 'GET' ? {} : { body: request.body }),
      signal: context.signal,
    }).catch((error: unknown) => {
      throw new SvcError('engine_unreachable', `no receiver answers on ${base}`, {
        cause: error,
        hint: 'svc webhook serve opens one',
      });
    });
    const answer = (await response.json().catch(() => ({}))) as Record<string, unknown>;
    const answered = parseWorkspaceName(response.headers.get(WORKSPACE_HEADER));
    context.result({ status: response.status, workspace: answered, body: answer }, () =>
      formatFacts([
        ['http', response.status],
        ['workspace', answered],
        ...(response.ok
          ? Object.entries(answer).map(([name, value]) => [name, formatValue(value)] as const)
          : listProblemFacts(answer)),
      ]),
    );
    if (answered === null)
      context.note(
        `the receiver on ${base} does not know the secret of workspace ${workspace.name}; svc status shows where its receiver is`,
      );
    return response.ok ? 0 : 1;
  },
});

/** Throws `usage` for a sample of the task route that the receiver would refuse. */
function checkSample(agent: string | undefined, prompt: string | undefined): void {
  const missing = agent === undefined ? 'agent' : prompt === undefined ? 'prompt' : null;
  if (missing === null) return;
  throw new SvcError('usage', `a sample task needs --${missing}, or a --template`, {
    hint: `for example: svc webhook test --agent ${agent ?? 'claude'} --prompt "say hello" --dispatch`,
  });
}

/** Lists what a refusal says: its code, its sentence and its hint. */
const listProblemFacts = ({ code, detail, title, hint }: Record<string, unknown>) =>
  [
    ['error', formatValue(code ?? null)],
    ['detail', formatValue(detail ?? title ?? null)],
    ['hint', formatValue(hint ?? null)],
  ] as const;

/** Finds where the receiver listens: for port 0 only the engine knows the port that the system chose. */
async function findReceiver(
  { engine }: Pick<CommandContext, 'engine'>,
  wanted: { host: string; port: number },
): Promise<{ host: string; port: number }> {
  if (wanted.port !== 0) return wanted;
  const { receivers } = await (await engine({ start: false })).call('engine.status', {});
  const found = receivers.find(({ host }) => host === wanted.host) ?? receivers[0];
  if (found !== undefined) return found;
  throw new SvcError('engine_unreachable', 'no receiver is open, and port 0 is not an address', {
    hint: 'svc webhook serve opens one',
  });
}

export const webhookCommands: readonly Command[] = [serve, webhookSecretCommand, test];

/** Formats a value; objects and lists, such as the fields of a refusal, as JSON. */
const formatValue = (value: unknown): string | null =>
  value === null ? null : typeof value === 'object' ? JSON.stringify(value) : String(value);
