import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { SvcError } from '../../../../engine/core/base/errors.ts';
import { runProgram } from '../../../../engine/core/base/run-program.ts';
import { toPrintable } from '../../../../engine/core/base/text.ts';
import {
  agentPrograms,
  codeHosts,
  configuration,
  type EngineClient,
  findRemoteAddress,
  readWebPlace,
} from '../../../../engine/index.ts';
import { type Command, type CommandContext, defineCommand } from '../../../command.ts';
import { askForYes } from '../../../confirm.ts';
import { addSecrets } from '../../../keys-env.ts';
import { collectChecks } from '../doctor.ts';
import { listSetupChanges, SETUP_KEYS, TOPIC_VARIABLE } from './changes.ts';
import { SETUP_KINDS, type SetupKind, type SetupPlace } from './forge-kinds.ts';
import { askQuestions, questionFlags, type SetupChoice } from './questions.ts';
import { type SetupRecord, storeSetupRecord } from './record.ts';
import { writeSetupText } from './write-text.ts';

/** Options of kinds that people host themselves. */
const hostFlags = {
  ...questionFlags,
  host: {
    type: 'string',
    value: 'host',
    about: 'host of the repository (default: that of the remote origin)',
  },
} as const;

const tokenFlags = {
  ...hostFlags,
  'token-env': {
    type: 'string',
    value: 'name',
    about: 'variable or line of keys.env that holds an access token (default: your tea is logged in)',
  },
} as const;

type SetupContext = CommandContext<typeof tokenFlags>;

/** A repository as its code host reports it. */
interface SetupRepository extends SetupPlace {
  hasLabel(label: string): Promise<boolean>;
  createLabel(label: string): Promise<void>;
}

/** Finds the repository that is meant: the named one, or that of the remote `origin`. Throws `usage`. */
async function findPlace(
  { env, args, flags: { host: namedHost, 'token-env': tokenEnv } }: SetupContext,
  { kind, host, form, example, usualHost }: SetupKind,
  root: string,
): Promise<SetupPlace> {
  const { REPOSITORY_NAMES } = await codeHosts();
  const { stdout } = await runProgram('git', ['remote', 'get-url', 'origin'], { cwd: root, env });
  const isUsual = (name: string): boolean => name === usualHost || name === namedHost;
  const origin = readWebPlace(await findRemoteAddress(stdout.trim(), isUsual, env));
  const name = args[0] ?? origin?.path ?? '';
  const problem =
    stdout === ''
      ? 'this repository has no remote origin'
      : `the remote origin is not a repository of ${host}`;
  if (!REPOSITORY_NAMES[kind].test(name))
    throw args[0] === undefined
      ? new SvcError('usage', problem, { hint: `name it: svc setup ${kind} ${form}` })
      : new SvcError('usage', `${JSON.stringify(name)} is not the name of a repository`, {
          hint: `write it like ${example}`,
        });
  if (usualHost === undefined) return { name, host: null };
  const isOrigin = origin?.path.toLowerCase() === name.toLowerCase();
  const found = namedHost ?? (origin !== null && isOrigin ? new URL(origin.origin).host : usualHost);
  if (found !== null) return { name, host: found, tokenEnv };
  throw new SvcError('usage', `the host of ${name} is not known`, { hint: '--host names it' });
}

/** Finds the repository at its code host, as the person. Throws `tool_missing`, `program_failed`. */
async function readRepository(
  { env }: SetupContext,
  { kind }: SetupKind,
  { name: wanted, host, tokenEnv }: SetupPlace,
  lookup: (name: string) => string | undefined,
): Promise<SetupRepository> {
  const { createForgeAccess, openForge } = await codeHosts();
  const token = tokenEnv === undefined ? null : { variable: tokenEnv, value: lookup(tokenEnv) };
  const access = createForgeAccess({ env, now: Date.now, findToken: () => token });
  const forge = openForge(access, { kind, host });
  const name = await forge.readName(wanted);
  return {
    ...{ name, host, tokenEnv },
    hasLabel: (label) => forge.hasLabel(name, label),
    createLabel: (label) => forge.createLabel(name, label),
  };
}

const formatValue = async (value: unknown): Promise<string> => {
  const { stringify } = await import('yaml');
  return stringify(value, { lineWidth: 0 }).trimEnd();
};

async function describePlan(
  keys: SetupRecord['keys'],
  { name }: SetupRepository,
  {
    label,
    hasLabel,
    isTopicNew,
    isChatNarrowed,
  }: { label: string; hasLabel: boolean; isTopicNew: boolean; isChatNarrowed: boolean },
): Promise<string[]> {
  const lines = await Promise.all(
    keys.map(async ({ path, after }) => {
      const text = await formatValue(after);
      return [`svc.yaml, ${path.join('.')}:`, ...text.split('\n').map((line) => `  ${line}`)];
    }),
  );
  const secret = isTopicNew ? [`keys.env: ${TOPIC_VARIABLE}, a new topic that no one can guess`] : [];
  const chat = isChatNarrowed
    ? ['policy.actors also applies to the chat: people who are not in it decide nothing there']
    : [];
  const newLabel = hasLabel ? [] : [`${name}: a new label ${label}`];
  return [...lines.flat(), ...secret, ...chat, ...newLabel].map((line) => toPrintable(line));
}

/** Asks the code host through the engine what a poll would find now. */
async function tryPoll(context: SetupContext, client: EngineClient, repository: string): Promise<void> {
  const [trial] = await client.call('source.test', { repository });
  const found = trial?.found ?? [];
  context.note(
    found.length === 0
      ? `${repository} was asked: no issue waits`
      : `${repository} was asked; these become tasks: ${found.map(({ ref }) => ref).join(', ')}`,
  );
}

/** Lists the commands that come next, and how messages reach a phone. */
function listNextSteps(
  forge: SetupKind,
  { label, notify }: SetupChoice,
  { topic, keysFile }: { topic: string | undefined; keysFile: string },
): string[] {
  const phone = {
    desktop: [],
    ntfy:
      topic === undefined ? [] : [`  subscribe to the topic ${topic} in the ntfy app, then: svc notify test`],
    telegram: [
      `  create a bot with @BotFather, write SVC_TELEGRAM_TOKEN=TOKEN into ${keysFile}, then: svc notify pair`,
    ],
  };
  return [
    'next:',
    `  ${forge.addLabel(label)}`,
    ...phone[notify],
    '  svc ls             lists the task once it waits for you; svc approve <task> starts it',
    '  svc setup undo     removes what was written to svc.yaml',
  ];
}

async function runSetup(context: SetupContext, forge: SetupKind): Promise<number> {
  const { findWorkspace, getAt, listSecrets, loadConfig, readConfigText, setYamlValue } =
    await configuration();
  const { env, cwd } = context;
  const { file } = findWorkspace({ cwd, env });
  const { detectAgents, HEADLESS } = await agentPrograms();
  const { config, home, root, lookup } = loadConfig({ file, env });
  const place = await findPlace(context, forge, root);
  const repository = await readRepository(context, forge, place, lookup);
  const seen = readConfigText(file);
  const { parse } = await import('yaml');
  const tree = (parse(seen) ?? {}) as object;
  const installed = detectAgents(HEADLESS, env).map(({ preset }) => preset);
  const agents = [...new Set([...Object.keys(getAt(tree, ['agents', 'cmds']) ?? {}), ...installed])];
  const choice = await askQuestions(context, repository.name, agents, {
    isNotified: config.notify.push.length > 0,
  });
  const hasLabel = await repository.hasLabel(choice.label);
  const raw = {
    sources: getAt(tree, SETUP_KEYS.sources),
    template: getAt(tree, SETUP_KEYS.template),
    actors: getAt(tree, SETUP_KEYS.actors),
    push: getAt(tree, SETUP_KEYS.push),
  };
  const keys = listSetupChanges(config, raw, forge, repository, choice);
  const written = keys.reduce((text, { path, after }) => setYamlValue(text, path, after), seen);
  const isTopicUsed = keys.some(({ path }) => path === SETUP_KEYS.push);
  const isTopicNew = isTopicUsed && lookup(TOPIC_VARIABLE) === undefined;
  const isChatNarrowed =
    config.policy.actors.length === 0 &&
    listSecrets(config.webhook.secret_env).some(({ names }) =>
      names.some((each) => lookup(each) !== undefined),
    ) &&
    keys.some(({ path }) => path === SETUP_KEYS.actors);
  const plan = await describePlan(keys, repository, {
    label: choice.label,
    hasLabel,
    isTopicNew,
    isChatNarrowed,
  });
  const isDone = plan.length === 0;
  const report = { repository: repository.name, file, changed: !isDone, ...choice };
  if (context.flags['dry-run'] || isDone) {
    context.result(report, () => (isDone ? `${repository.name} is set up already` : plan.join('\n')));
    return 0;
  }
  // Every value is checked before anything is written.
  loadConfig({ file, env, text: written, believe: true });
  context.note(plan.join('\n'));
  if (!context.flags.yes) {
    if (!context.stdin.isTTY || context.json)
      throw new SvcError('usage', 'no terminal is available to ask on', {
        hint: '--yes writes it, --dry-run only shows it',
      });
    if (!(await askForYes(context, 'Write this?', { usual: 'yes' }))) {
      context.note('nothing was written');
      return 1;
    }
  }
  if (keys.length > 0) {
    await storeSetupRecord(home.path, file, { seen, written, keys });
    await writeSetupText(context, file, written, seen);
  }
  const keysFile = join(home.path, 'keys.env');
  const topic = isTopicNew ? `svc-${randomBytes(16).toString('hex')}` : lookup(TOPIC_VARIABLE);
  if (isTopicNew && topic !== undefined) await addSecrets(keysFile, { [TOPIC_VARIABLE]: topic });
  if (!hasLabel)
    await repository
      .createLabel(choice.label)
      .catch((error: SvcError) => context.note(`note: ${error.message}; create the label yourself`));
  if (choice.agent === null)
    context.note(
      'note: no agent is installed; a task waits until it has one: svc task assign <task> <agent>',
    );
  const client = await context.engine();
  await client.call('source.poll', { repository: repository.name });
  for (const { check, found, remedy } of (await collectChecks(context)).filter(
    ({ state }) => state === 'fail',
  ))
    context.note(toPrintable(`svc doctor: ${check}: ${found}${remedy === null ? '' : `; ${remedy}`}`));
  await tryPoll(context, client, repository.name);
  context.result(report, () =>
    [
      `${repository.name} is set up: an issue that gets the label ${choice.label} becomes a task`,
      ...listNextSteps(forge, choice, { topic: isTopicUsed ? topic : undefined, keysFile }),
    ].join('\n'),
  );
  return 0;
}

/** The commands that set a repository of each kind of code host up. */
export const setupForgeCommands: readonly Command[] = SETUP_KINDS.map((forge) => {
  const name = `setup ${forge.kind}`;
  return defineCommand({
    name,
    about: `turn labelled issues of a ${forge.host} repository into tasks, and finished work into pull requests, by your ${forge.program}`,
    args: [
      { name: 'repository', about: `${forge.form} (default: that of the remote origin)`, optional: true },
    ],
    flags: forge.canUseToken ? tokenFlags : forge.usualHost === undefined ? questionFlags : hostFlags,
    examples: [name, `${name} ${forge.example} --label svc --yes`, `${name} --dry-run`],
    run: (context) => runSetup(context as SetupContext, forge),
  });
});
