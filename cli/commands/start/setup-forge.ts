import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { runProgram } from '../../../engine/core/base/run-program.ts';
import { toPrintable } from '../../../engine/core/base/text.ts';
import {
  agentPrograms,
  codeHosts,
  configuration,
  type EngineClient,
  readWebPlace,
} from '../../../engine/index.ts';
import { actAsChair } from '../../chair-act.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { askForLine, askForYes } from '../../confirm.ts';
import { readConsentView } from '../configuration/trust.ts';
import { collectChecks } from './doctor.ts';

const PROMPT = 'Solve this issue. Run the tests of the project before you finish.';

const flags = {
  label: { type: 'string', value: 'name', about: 'label that makes an issue a task (svc)' },
  agent: { type: 'string', value: 'preset', about: 'agent that works on the issues' },
  'pull-request': {
    type: 'string',
    about: 'what happens with finished work: off, draft or ready (draft)',
    choices: ['off', 'draft', 'ready'],
  },
  yes: { type: 'boolean', short: 'y', about: 'ask nothing, and write it' },
  'dry-run': { type: 'boolean', about: 'show what would be written, and stop' },
} as const;

/** Options of kinds that people host themselves. */
const hostFlags = {
  ...flags,
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

type ForgeKind = keyof Awaited<ReturnType<typeof codeHosts>>['REPOSITORY_NAMES'];

/** A kind of code host that a setup is for. */
interface SetupKind {
  kind: ForgeKind;
  host: string;
  program: string;
  /** How a repository is written, and an example. */
  form: string;
  example: string;
  /** The host that is usually meant, which svc.yaml need not name; null for any, undefined if svc.yaml names none. */
  usualHost?: string | null;
  canUseToken?: boolean;
  /** The command of the person that sets a label. */
  addLabel(label: string): string;
}

const KINDS: readonly SetupKind[] = [
  {
    ...{ kind: 'github', host: 'GitHub', program: 'gh', form: 'owner/repo', example: 'acme/shop' },
    addLabel: (label) => `gh issue edit <number> --add-label ${label}`,
  },
  {
    ...{ kind: 'gitlab', host: 'GitLab', program: 'glab', form: 'group/project', example: 'acme/tools/shop' },
    usualHost: 'gitlab.com',
    addLabel: (label) => `glab issue update <number> --label ${label}`,
  },
  {
    ...{ kind: 'gitea', host: 'Gitea or Forgejo', program: 'tea', form: 'owner/repo', example: 'acme/shop' },
    ...{ usualHost: null, canUseToken: true },
    addLabel: (label) => `tea issues edit <number> --add-labels ${label}`,
  },
];

/** Where a repository is: its name, and its host; null for that of the person's program. */
interface SetupPlace {
  name: string;
  host: string | null;
  /** The variable that holds an access token; undefined if the program is logged in. */
  tokenEnv?: string | undefined;
}

/** A repository as its code host reports it. */
interface SetupRepository extends SetupPlace {
  hasLabel: boolean;
  createLabel(): Promise<void>;
}

/** The answers of a person, or of the options. */
interface SetupChoice {
  label: string;
  agent: string | null;
  pullRequest: 'off' | 'draft' | 'ready';
}

/** What `svc setup undo` needs: the values that were written, and those before. */
interface SetupRecord {
  seen: string;
  written: string;
  keys: { path: string[]; before: unknown; after: unknown }[];
}

/** Next to the consents: a worker in a sandbox writes neither. */
const RECORD = 'setups.json';

/** Reads the records of all workspaces, by the path of svc.yaml. */
function readRecords(home: string): Record<string, SetupRecord> {
  const path = join(home, RECORD);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, SetupRecord>) : {};
}

/** Finds the repository that is meant: the named one, or that of the remote `origin`. Throws `usage`. */
async function findPlace(
  { env, args, flags: { host: namedHost, 'token-env': tokenEnv } }: SetupContext,
  { kind, host, form, example, usualHost }: SetupKind,
  root: string,
): Promise<SetupPlace> {
  const { REPOSITORY_NAMES } = await codeHosts();
  const { stdout } = await runProgram('git', ['remote', 'get-url', 'origin'], { cwd: root, env });
  const origin = readWebPlace(stdout.trim());
  const name = args[0] ?? origin?.path ?? '';
  if (!REPOSITORY_NAMES[kind].test(name))
    throw args[0] === undefined
      ? new SvcError('usage', `the remote origin is not a repository of ${host}`, {
          hint: `name it: svc setup ${kind} ${form}`,
        })
      : new SvcError('usage', `${JSON.stringify(name)} is not the name of a repository`, {
          hint: `write it like ${example}`,
        });
  if (usualHost === undefined) return { name, host: null };
  const isOrigin = origin?.path.toLowerCase() === name.toLowerCase();
  const found = namedHost ?? (origin !== null && isOrigin ? new URL(origin.origin).host : usualHost);
  if (found !== null) return { name, host: found, tokenEnv };
  throw new SvcError('usage', `the host of ${name} is not known`, { hint: '--host names it' });
}

async function readRepository(
  { env }: SetupContext,
  { kind }: SetupKind,
  { name: wanted, host, tokenEnv }: SetupPlace,
  lookup: (name: string) => string | undefined,
  label: string,
): Promise<SetupRepository> {
  const { createForgeAccess, openForge } = await codeHosts();
  const token = tokenEnv === undefined ? null : { variable: tokenEnv, value: lookup(tokenEnv) };
  const access = createForgeAccess({ env, now: Date.now, findToken: () => token });
  const forge = openForge(access, { kind, host });
  const name = await forge.readName(wanted);
  return {
    ...{ name, host, tokenEnv },
    hasLabel: await forge.hasLabel(name, label),
    createLabel: () => forge.createLabel(name, label),
  };
}

/** Asks what the options do not say; Enter takes the value in parentheses. */
async function readChoice(context: SetupContext, agents: readonly string[]): Promise<SetupChoice> {
  const { label, agent, 'pull-request': pullRequest, yes, 'dry-run': isDry } = context.flags;
  const isAsking = !yes && !isDry && context.stdin.isTTY && !context.json;
  const ask = async (question: string, usual: string): Promise<string> =>
    (isAsking ? await askForLine(context, `${question} (${usual})`) : '') || usual;
  const [first = null] = agents;
  const chosenAgent =
    agent ??
    (agents.length > 1
      ? await ask(`Which agent works on the issues: ${agents.join(', ')}?`, first ?? '')
      : first);
  const opening =
    pullRequest ?? (await ask('Open pull requests for finished work: off, draft or ready?', 'draft'));
  if (opening !== 'off' && opening !== 'draft' && opening !== 'ready')
    throw new SvcError('usage', `${JSON.stringify(opening)} is not off, draft or ready`);
  return {
    label: label ?? (await ask('Which label makes an issue a task?', 'svc')),
    agent: chosenAgent,
    pullRequest: opening,
  };
}

/** Lists the values of svc.yaml that differ from what is wanted. */
function listChanges(
  config: {
    sources: readonly { kind: string; repository: string; host?: string; label: string }[];
    webhook: { templates: Readonly<Record<string, object>> };
  },
  raw: { sources: unknown; template: unknown },
  { kind, usualHost }: SetupKind,
  { name: repository, host, tokenEnv }: SetupPlace,
  { label, agent, pullRequest }: SetupChoice,
): SetupRecord['keys'] {
  const isThere = config.sources.some(
    (each) =>
      each.kind === kind &&
      each.repository.toLowerCase() === repository.toLowerCase() &&
      (each.host ?? null) === host &&
      each.label === label,
  );
  const named = {
    ...(host === null || host === usualHost ? {} : { host }),
    ...(tokenEnv === undefined ? {} : { token_env: tokenEnv }),
  };
  const source = { kind, repository, ...named, ...(label === 'svc' ? {} : { label }) };
  const earlier = Array.isArray(raw.sources) ? raw.sources : [];
  const before = typeof raw.template === 'object' && raw.template !== null ? raw.template : undefined;
  const template = {
    ...(before ?? { prompt: PROMPT }),
    ...(agent === null ? {} : { agent }),
    ...(pullRequest === 'off' && before === undefined ? {} : { pull_request: pullRequest }),
  };
  return [
    ...(isThere ? [] : [{ path: ['sources'], before: raw.sources, after: [...earlier, source] }]),
    ...(JSON.stringify(before) === JSON.stringify(template)
      ? []
      : [{ path: ['webhook', 'templates', 'codehost'], before, after: template }]),
  ];
}

/** Replaces svc.yaml, by the engine if one runs: whoever has seen the change agrees to it. */
async function writeText(
  context: SetupContext | CommandContext,
  file: string,
  text: string,
  seen: string,
): Promise<void> {
  const { findActor, writeConfig } = await configuration();
  await actAsChair<unknown>(context, 'svc setup', {
    ask: (client) => client.call('config.write', { text, seen }),
    async alone() {
      writeConfig({ file, env: context.env, text, seen, actor: findActor(context.env) });
      return readConsentView(context);
    },
  });
}

const formatValue = async (value: unknown): Promise<string> => {
  const { stringify } = await import('yaml');
  return stringify(value, { lineWidth: 0 }).trimEnd();
};

async function describePlan(
  keys: SetupRecord['keys'],
  repository: SetupRepository,
  label: string,
): Promise<string[]> {
  const lines = await Promise.all(
    keys.map(async ({ path, after }) => {
      const text = await formatValue(after);
      return [`svc.yaml, ${path.join('.')}:`, ...text.split('\n').map((line) => `  ${line}`)];
    }),
  );
  const own = repository.hasLabel ? [] : [`${repository.name}: a new label ${label}`];
  return [...lines.flat(), ...own].map((line) => toPrintable(line));
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

async function runSetup(context: SetupContext, forge: SetupKind): Promise<number> {
  const { findWorkspace, loadConfig, readConfigText, replaceFile, setYamlValue, getAt } =
    await configuration();
  const { env, cwd } = context;
  const { file } = findWorkspace({ cwd, env });
  const { detectAgents, HEADLESS } = await agentPrograms();
  const { config, home, root, lookup } = loadConfig({ file, env });
  const place = await findPlace(context, forge, root);
  const choice = await readChoice(
    context,
    detectAgents(HEADLESS, env).map(({ preset }) => preset),
  );
  const repository = await readRepository(context, forge, place, lookup, choice.label);
  const seen = readConfigText(file);
  const { parse } = await import('yaml');
  const tree = (parse(seen) ?? {}) as object;
  const raw = {
    sources: getAt(tree, ['sources']),
    template: getAt(tree, ['webhook', 'templates', 'codehost']),
  };
  const keys = listChanges(config, raw, forge, repository, choice);
  const written = keys.reduce((text, { path, after }) => setYamlValue(text, path, after), seen);
  const plan = await describePlan(keys, repository, choice.label);
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
  const record: SetupRecord = { seen, written, keys };
  if (keys.length > 0) {
    const records = { ...readRecords(home.path), [realpathSync(file)]: record };
    replaceFile(join(home.path, RECORD), JSON.stringify(records), { mode: 0o600 });
    await writeText(context, file, written, seen);
  }
  if (!repository.hasLabel)
    await repository
      .createLabel()
      .catch((error: SvcError) => context.note(`note: ${error.message}; create the label yourself`));
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
      'next:',
      `  ${forge.addLabel(choice.label)}`,
      '  svc ls             lists the task once it waits for you; svc approve <task> starts it',
      '  svc setup undo     removes what was written to svc.yaml',
    ].join('\n'),
  );
  return 0;
}

/** The commands that set a repository of each kind of code host up. */
export const setupCommands: readonly Command[] = KINDS.map((forge) => {
  const name = `setup ${forge.kind}`;
  return defineCommand({
    name,
    about: `turn labelled issues of a ${forge.host} repository into tasks, and finished work into pull requests, by your ${forge.program}`,
    args: [
      { name: 'repository', about: `${forge.form} (default: that of the remote origin)`, optional: true },
    ],
    flags: forge.canUseToken ? tokenFlags : forge.usualHost === undefined ? flags : hostFlags,
    examples: [name, `${name} ${forge.example} --label svc --yes`, `${name} --dry-run`],
    run: (context) => runSetup(context as SetupContext, forge),
  });
});

export const setupUndoCommand: Command = defineCommand({
  name: 'setup undo',
  about: 'remove from svc.yaml what the last setup has written; values that were changed since then stay',
  examples: ['setup undo'],
  async run(context) {
    const { findWorkspace, getAt, readConfigText, resolveMachineHome, setYamlValue } = await configuration();
    const { env, cwd } = context;
    const { file } = findWorkspace({ cwd, env });
    const record = readRecords(resolveMachineHome(env))[realpathSync(file)];
    if (record === undefined)
      throw new SvcError('not_found', 'nothing was written here by a setup', {
        hint: `svc setup ${KINDS.map(({ kind }) => kind).join(', svc setup ')}`,
      });
    const now = readConfigText(file);
    const { parse } = await import('yaml');
    const tree = (parse(now) ?? {}) as object;
    const isSame = (key: SetupRecord['keys'][number]): boolean =>
      JSON.stringify(getAt(tree, key.path)) === JSON.stringify(key.after);
    const left = record.keys.filter((key) => !isSame(key)).map((key) => key.path.join('.'));
    const text =
      now === record.written
        ? record.seen
        : record.keys
            .filter(isSame)
            .reduce((before, key) => setYamlValue(before, key.path, key.before ?? null), now);
    if (text !== now) await writeText(context, file, text, now);
    const removed = record.keys.filter(isSame).map((key) => key.path.join('.'));
    context.result({ file, removed, left }, () =>
      removed.length === 0 ? 'nothing was removed' : `removed from svc.yaml: ${removed.join(', ')}`,
    );
    if (left.length > 0) context.note(`note: changed since then, and left alone: ${left.join(', ')}`);
    return 0;
  },
});
